import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { versionNoteCharsMax } from '../../kernel/limits.ts'
import { lineSchema, mediaSchema, nullable, oneOf, TimeSchema } from '../../kernel/schema.ts'
import { AppSchema, oneSource, ScanResultSchema, sourceProperties } from '../schemas.ts'

/** The number of a version in a path or query. */
export const VersionNumber = t.Numeric({ minimum: 1, maximum: 1_000_000, multipleOf: 1 })

/** A version of an item. */
export const VersionSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    created: TimeSchema,
    bytes: Type.Integer(),
    sha256: Type.String(),
    via: oneOf(['html', 'files', 'build', 'remix', 'restore']),
    note: Type.String(),
  },
  { title: 'Version' },
)
export type VersionBody = Static<typeof VersionSchema>

/** POST /apps/{id}/versions. */
export const PublishVersionSchema = Type.Object(
  {
    ...sourceProperties,
    note: Type.Optional(
      lineSchema(versionNoteCharsMax, {
        description:
          'Changes in this version. Explore shows the note of an html version, not of a build.',
      }),
    ),
  },
  {
    additionalProperties: false,
    ...oneSource,
    examples: [{ html: '<!doctype html><title>Hello</title><h1>Hello again</h1>' }],
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
export const RestoreVersionResponseSchema = Type.Object({ app: AppSchema, note: Type.String() })
export const HtmlSchema = Type.String({
  contentMediaType: 'text/html',
  description: 'The published page.',
})
export const ZipSchema = mediaSchema('application/zip', {
  description:
    'versions/<n>/version.json, index.html, assets/<name> and cover.webp, if it was captured, of every version, or the folder of a pack.',
})
