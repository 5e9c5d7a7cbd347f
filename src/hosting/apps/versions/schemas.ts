import { type Static, Type } from '@sinclair/typebox'

import { Media, oneOf, orNull, Time, Words } from '../../../core/schema.ts'
import { versionNoteCharsMax } from '../../../limits.ts'
import { App, ScanResult, source } from '../schemas.ts'

/** A version as lists show it. */
export const Version = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    created: Time,
    bytes: Type.Integer(),
    sha256: Type.String(),
    via: oneOf(['html', 'build', 'remix', 'restore']),
    note: Type.String(),
  },
  { title: 'Version' },
)
export type VersionShape = Static<typeof Version>

/** POST /apps/{id}/versions. */
export const NewVersion = Type.Object(
  {
    ...source,
    note: Type.Optional(
      Words(versionNoteCharsMax, {
        description: 'What is new. Explore shows that of an html version, not of a build.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ html: '<!doctype html><title>Hello</title><h1>Hello again</h1>' }],
  },
)
export type NewVersionShape = Static<typeof NewVersion>

export const VersionMade = Type.Object({ app: App, scan: ScanResult, note: Type.String() })
export const VersionList = Type.Object({
  versions: Type.Array(Version),
  next: orNull(Type.String()),
})
export const Restored = Type.Object({ app: App, note: Type.String() })
export const Html = Type.String({
  contentMediaType: 'text/html',
  description: 'The page as it was published.',
})
export const Zip = Media('application/zip', {
  description: 'versions/<n>/version.json, index.html and assets/<name> of every version.',
})
