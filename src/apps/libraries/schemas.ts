import { type Static, Type } from '@sinclair/typebox'

import { mediaSchema, namedObject, oneOf } from '../../kernel/schema.ts'

const LibrarySchema = namedObject('Library', {
  name: Type.String({ description: 'npm name.' }),
  version: Type.String(),
  license: Type.String({ description: 'SPDX name, or "unknown".' }),
  source: oneOf(['embedded', 'added', 'fetched']),
  files: Type.Integer(),
  bytes: Type.Integer(),
})
export type LibraryBody = Static<typeof LibrarySchema>

export const LibraryListSchema = Type.Object({ libraries: Type.Array(LibrarySchema) })

export const LicenseQuerySchema = Type.Object({
  library: Type.String({ maxLength: 300, description: 'Name and version: "three@0.180.0".' }),
})

export const LicenseSchema = mediaSchema('text/plain', { description: 'The license texts.' })
