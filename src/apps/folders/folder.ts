import { type Static, type TObject, Type } from '@sinclair/typebox'

import { base64Pattern, exactlyOne, strictObject } from '../../kernel/schema.ts'

/** A file of a pack. `sha256` is that of its bytes, in hex. */
export interface FolderFile {
  path: string
  bytes: number
  sha256: string
}

/** A numbered step of a framework. `done` says how one knows that it is done. */
export interface Step {
  id: string
  title: string
  done: string
}

/** The profit share that a framework asks for, paid from agent to maker. */
export interface Share {
  percent: number
  of: 'profit' | 'revenue'
  payTo: string
  network: string
  asset: string
}

/** The frontmatter of SKILL.md beside the name (https://agentskills.io/specification). */
export interface Frontmatter {
  description: string
  license?: string
  compatibility?: string
  metadata?: Record<string, string>
  allowedTools?: string
}

/** A version of a pack beside its content: everything that was read from the folder. */
export interface Folder extends Frontmatter {
  /** SKILL.md first, then by path. The content of the version has this order. */
  files: FolderFile[]
  /** SHA-256 of the gzip archive, in hex. */
  archive: string
  steps?: Step[]
  share?: Share
}

const base64 = {
  described: { pattern: `^${base64Pattern}$`, contentEncoding: 'base64' },
}

/** A file of a folder in JSON. */
export const FileFieldSchema = strictObject(
  {
    path: Type.String(),
    text: Type.Optional(Type.String()),
    base64: Type.Optional(Type.String(base64)),
  },
  exactlyOne('text', 'base64'),
)
export type FileField = Static<typeof FileFieldSchema>

/** Returns the bodies of a request with a folder, for the description: JSON, or a zip. */
export const folderBodies = (schema: TObject) => ({
  'application/json': {
    schema: { ...schema, required: schema.required ?? [], additionalProperties: false },
  },
  'application/zip': { schema: { type: 'string', format: 'binary' } as const },
})
