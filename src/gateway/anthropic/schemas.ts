import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { wholeQuery } from '../../kernel/http/list-query.ts'
import { fileKeptSecondsMax, fileKeptSecondsMin, listedModelsMax } from '../../kernel/limits.ts'
import {
  lenientObject,
  namedObject,
  nullable,
  nullFields,
  TimeSchema,
} from '../../kernel/schema.ts'
import { ModelTypesSchema } from '../catalog/schemas.ts'

/** The fields of a model of which this server has no record. */
export const unrecorded = nullFields('capabilities line deprecated_at retires_at')

/** A model of Anthropic's API. */
export const AnthropicModelSchema = namedObject('AnthropicModel', {
  type: Type.Literal('model'),
  id: Type.String(),
  display_name: Type.String(),
  created_at: Type.String({
    format: 'date-time',
    description: 'The start of 1970: the release date is unknown.',
  }),
  max_input_tokens: nullable(Type.Integer()),
  max_tokens: nullable(Type.Integer({ description: 'Output tokens at most.' })),
  lifecycle: Type.Literal('active'),
  ...unrecorded.schemas,
})
export type AnthropicModel = Static<typeof AnthropicModelSchema>

const cursors = {
  after_id: Type.Optional(Type.String({ description: 'Last id of the page before.' })),
  before_id: Type.Optional(Type.String({ description: 'First id of the page behind.' })),
}

export const ModelListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(listedModelsMax, '1 to 1,000, by default 20.')),
  ...cursors,
  type: ModelTypesSchema,
})
export type ModelListQuery = Static<typeof ModelListQuerySchema>

const pageFields = {
  first_id: nullable(Type.String()),
  last_id: nullable(Type.String()),
  has_more: Type.Boolean(),
}

export const AnthropicModelListSchema = Type.Object({
  data: Type.Array(AnthropicModelSchema),
  ...pageFields,
})
export type AnthropicModelList = Static<typeof AnthropicModelListSchema>

/** A file of Anthropic's API. */
export const AnthropicFileSchema = namedObject('AnthropicFile', {
  type: Type.Literal('file'),
  id: Type.String(),
  filename: Type.String(),
  mime_type: Type.String({ description: 'Detected from the content.' }),
  size_bytes: Type.Integer(),
  created_at: TimeSchema,
  expires_at: nullable(TimeSchema),
  downloadable: Type.Boolean(),
})
export type AnthropicFile = Static<typeof AnthropicFileSchema>

export const AnthropicFileListSchema = Type.Object({
  data: Type.Array(AnthropicFileSchema),
  ...pageFields,
  next_page: nullable(Type.String({ description: 'The value of `page` for the next page.' })),
})

export const FileListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(listedModelsMax, '1 to 1,000, by default 20.')),
  ...cursors,
  'ids[]': Type.Optional(
    Type.String({
      description: 'An id of a file to list. It may be repeated, 100 times at most.',
    }),
  ),
  page: Type.Optional(Type.String({ description: '`next_page` of the page before.' })),
})
export type FileListQuery = Static<typeof FileListQuerySchema>
export type AnthropicFileList = Static<typeof AnthropicFileListSchema>

export const AnthropicDeletedFileSchema = Type.Object({
  id: Type.String(),
  type: Type.Literal('file_deleted'),
})

/** The body of an upload, which `readUpload` parses. */
export const uploadSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  required: ['file'],
  properties: {
    file: { type: 'string', format: 'binary' },
    expires_in_seconds: {
      type: 'integer',
      minimum: fileKeptSecondsMin,
      maximum: fileKeptSecondsMax,
    },
  },
}
