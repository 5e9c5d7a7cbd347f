import { type Static, type TObject, Type } from '@sinclair/typebox'

import { base64Pattern, exactlyOne, strictObject } from '../../kernel/schema.ts'

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
