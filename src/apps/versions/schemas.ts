import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { patchCharsMax, patchEditsMax, versionNoteCharsMax } from '../../kernel/limits.ts'
import {
  exactlyOne,
  lineSchema,
  mediaSchema,
  namedObject,
  nullable,
  oneOf,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { AppSchema, ScanResultSchema, sourceProperties } from '../schemas.ts'

/** The number of a version in a path or query. */
export const VersionNumber = t.Numeric({ minimum: 1, maximum: 1_000_000, multipleOf: 1 })

/** A version of an item. */
export const VersionSchema = namedObject('Version', {
  version: Type.Integer({ minimum: 1 }),
  created: TimeSchema,
  bytes: Type.Integer(),
  sha256: Type.String(),
  via: oneOf(['html', 'files', 'build', 'remix', 'restore']),
  note: Type.String(),
})
export type VersionBody = Static<typeof VersionSchema>

/** A change of the newest version, in a few lines. */
const PatchSchema = strictObject(
  {
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The version that you read. If a newer one exists, nothing is changed.',
      }),
    ),
    edits: Type.Optional(
      Type.Array(
        strictObject({
          file: Type.Optional(
            Type.String({
              maxLength: 240,
              description: 'Path in the folder. Default: the page.',
            }),
          ),
          search: Type.String({
            minLength: 1,
            maxLength: patchCharsMax,
            description: 'Text that occurs exactly once in the file.',
          }),
          replace: Type.String({ maxLength: patchCharsMax }),
        }),
        { minItems: 1, maxItems: patchEditsMax },
      ),
    ),
    diff: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: patchCharsMax,
        description: 'A unified diff of the page and text files of the folder, without new files.',
      }),
    ),
  },
  {
    description: 'Changes a few lines of the newest version: edits, or a unified diff.',
    ...exactlyOne('edits', 'diff'),
  },
)
export type PatchRequest = Static<typeof PatchSchema>

/** POST /apps/{id}/versions. */
export const PublishVersionSchema = strictObject(
  {
    ...sourceProperties,
    patch: Type.Optional(PatchSchema),
    note: Type.Optional(
      lineSchema(versionNoteCharsMax, {
        description:
          'Changes in this version. Explore shows the note of an html version, not of a build.',
      }),
    ),
  },
  {
    ...exactlyOne('html', 'files', 'prompt', 'patch'),
    examples: [
      { html: '<!doctype html><title>Hello</title><h1>Hello again</h1>' },
      { patch: { version: 1, edits: [{ search: 'Hello', replace: 'Good morning' }] } },
    ],
  },
)
export type PublishVersionRequest = Static<typeof PublishVersionSchema>

export const PublishVersionResponseSchema = Type.Object({
  app: AppSchema,
  scan: ScanResultSchema,
  note: Type.String(),
})
export const VersionListSchema = Type.Object({
  versions: Type.Array(VersionSchema),
  next: nullable(Type.String()),
})

/** A file that differs between two versions. */
const FileDiffSchema = namedObject('FileDiff', {
  path: Type.String({ description: 'index.html for a page that came alone.' }),
  change: oneOf(['added', 'removed', 'changed']),
  before: Type.Integer({ description: 'Bytes.' }),
  after: Type.Integer({ description: 'Bytes.' }),
  added: nullable(Type.Integer({ description: 'Lines.' })),
  removed: nullable(Type.Integer({ description: 'Lines.' })),
  diff: nullable(
    Type.String({
      description: 'A unified diff. null: no text, too different, or beyond 1 MB in all.',
    }),
  ),
})
export type FileDiffBody = Static<typeof FileDiffSchema>

export const VersionDiffSchema = Type.Object({
  base: Type.Integer({ description: 'The older version, or any other.' }),
  version: Type.Integer(),
  files: Type.Array(FileDiffSchema),
})
export const RestoreVersionResponseSchema = Type.Object({ app: AppSchema, note: Type.String() })
export const HtmlSchema = Type.String({
  contentMediaType: 'text/html',
  description: 'The published page.',
})
export const ZipSchema = mediaSchema('application/zip', {
  description:
    'versions/<n>/version.json, index.html, assets/<name> and cover.webp, if it was captured, of every version, or the folder of a pack.',
})
