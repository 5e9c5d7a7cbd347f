import { type Static, Type } from '@sinclair/typebox'

import { wholeQuery } from '../../kernel/http/list-query.ts'
import { filePageMax, filesPerAccountMax } from '../../kernel/limits.ts'
import { namedObject, nullable, oneOf } from '../../kernel/schema.ts'
import { listSchema } from '../list.ts'
import { fileKinds } from './tables.ts'

/** A file in OpenAI's format, with properties of its content. */
export const FileSchema = namedObject('File', {
  id: Type.String(),
  file_id: Type.String({ description: 'The same as id, for chat requests.' }),
  object: Type.Literal('file'),
  bytes: Type.Integer(),
  created_at: Type.Integer({ description: 'Seconds since 1970.' }),
  expires_at: Type.Optional(
    Type.Integer({
      description: 'Seconds since 1970. A use moves it, unless expires_after set it.',
    }),
  ),
  filename: Type.String(),
  purpose: Type.String(),
  kind: oneOf(fileKinds),
  type: Type.String({ description: 'Media type, detected from the content.' }),
  words: nullable(Type.Integer({ description: 'Number of words; null when none were extracted.' })),
  pages: nullable(Type.Integer()),
  seconds: nullable(Type.Number()),
  status: oneOf(['processed', 'uploaded']),
})
export type FileResponse = Static<typeof FileSchema>

export const FileListSchema = listSchema(FileSchema)
export type FileListResponse = Static<typeof FileListSchema>

export const DeletedFileSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('file'),
  deleted: Type.Literal(true),
})

export const FileListQuerySchema = Type.Object(
  {
    limit: Type.Optional(wholeQuery(filePageMax, '1 to 10,000.')),
    after: Type.Optional(Type.String({ description: 'Last id of the previous page.' })),
    order: Type.Optional(oneOf(['asc', 'desc'])),
    purpose: Type.Optional(Type.String()),
  },
  {
    additionalProperties: true,
    description: `An account has at most ${filesPerAccountMax} files.`,
  },
)
export type FileListQuery = Static<typeof FileListQuerySchema>
