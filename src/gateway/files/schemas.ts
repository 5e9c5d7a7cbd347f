import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { oneOf, orNull } from '../../core/schema.ts'
import { filesPerAccountMax } from '../../limits.ts'
import { fileKinds } from './tables.ts'

/** A file as OpenAI's clients know it, with what was found in it. */
export const FileSchema = Type.Object(
  {
    id: Type.String(),
    file_id: Type.String({ description: 'The same as id; what a chat request names.' }),
    object: Type.Literal('file'),
    bytes: Type.Integer(),
    created_at: Type.Integer({ description: 'Seconds since 1970.' }),
    expires_at: Type.Optional(Type.Integer({ description: 'Where expires_after was sent.' })),
    filename: Type.String(),
    purpose: Type.String(),
    kind: oneOf(fileKinds),
    type: Type.String({ description: 'Media type, told by the content.' }),
    words: orNull(Type.Integer({ description: 'Words in it; null where none were read.' })),
    pages: orNull(Type.Integer()),
    seconds: orNull(Type.Number()),
    status: oneOf(['processed', 'uploaded']),
  },
  { title: 'File' },
)
export type FileResponse = Static<typeof FileSchema>

export const FileListSchema = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(FileSchema),
  first_id: orNull(Type.String()),
  last_id: orNull(Type.String()),
  has_more: Type.Boolean(),
})
export type FileListResponse = Static<typeof FileListSchema>

export const DeletedFileSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('file'),
  deleted: Type.Literal(true),
})

export const FileListQuerySchema = Type.Object(
  {
    limit: Type.Optional(t.Numeric({ description: '1 to 10,000.' })),
    after: Type.Optional(Type.String({ description: 'The last id of the page before.' })),
    order: Type.Optional(oneOf(['asc', 'desc'])),
    purpose: Type.Optional(Type.String()),
  },
  { additionalProperties: true, description: `At most ${filesPerAccountMax} files are kept.` },
)
export type FileListQuery = Static<typeof FileListQuerySchema>
