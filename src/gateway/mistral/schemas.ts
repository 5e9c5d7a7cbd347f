import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'

import { filePageMax } from '../../kernel/limits.ts'
import {
  anyObject,
  lenientObject,
  mediaSchema,
  namedObject,
  nullable,
  nullFields,
  oneOf,
} from '../../kernel/schema.ts'
import { ModelTypesSchema } from '../catalog/catalog.ts'
import { modelSchema } from '../request-schemas.ts'

const CapabilitiesSchema = Type.Object({
  completion_chat: Type.Boolean(),
  function_calling: Type.Boolean(),
  completion_fim: Type.Boolean(),
  fine_tuning: Type.Literal(false),
  vision: Type.Boolean(),
  ocr: Type.Literal(false),
  classification: Type.Literal(false),
  moderation: Type.Boolean(),
  audio: Type.Boolean(),
  audio_transcription: Type.Boolean(),
  audio_speech: Type.Boolean(),
})

/** The fields of which this server has no record, by their object. */
export const unrecorded = {
  model: nullFields('description deprecation default_model_temperature'),
  file: nullFields('num_lines signature'),
}

/** A model of Mistral's API. */
export const MistralModelSchema = namedObject('MistralModel', {
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Seconds since 1970; 0 when unknown.' }),
  owned_by: Type.String(),
  name: Type.String(),
  max_context_length: Type.Integer({ description: 'Tokens; 0 when unknown.' }),
  aliases: Type.Array(Type.String()),
  capabilities: CapabilitiesSchema,
  type: Type.Literal('base'),
  ...unrecorded.model.schemas,
})
export type MistralModel = Static<typeof MistralModelSchema>

export const MistralModelListSchema = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(MistralModelSchema),
})

export const ModelListQuerySchema = lenientObject({ type: ModelTypesSchema })

export const sampleTypes = ['pretrain', 'instruct', 'batch_request', 'batch_result'] as const
const sources = ['upload', 'mistral'] as const

const fileFields = {
  id: Type.String(),
  object: Type.Literal('file'),
  bytes: Type.Integer(),
  created_at: Type.Integer({ description: 'Seconds since 1970.' }),
  expires_at: nullable(Type.Integer({ description: 'Seconds since 1970.' })),
  filename: Type.String(),
  purpose: Type.String(),
  sample_type: oneOf(sampleTypes),
  mimetype: Type.String({ description: 'Detected from the content.' }),
  source: oneOf(sources),
  visibility: Type.Literal('workspace'),
  ...unrecorded.file.schemas,
}

export const MistralFileSchema = namedObject('MistralFile', fileFields)
export type MistralFile = Static<typeof MistralFileSchema>

/** A single file of Mistral's API. */
export const MistralOneFileSchema = Type.Object({ ...fileFields, deleted: Type.Literal(false) })

export const MistralFileListSchema = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(MistralFileSchema),
  total: nullable(Type.Integer()),
})
export type MistralFileList = Static<typeof MistralFileListSchema>

const someOf = (description: string) =>
  Type.Optional(Type.String({ description: `${description} It may be repeated.` }))

export const FileListQuerySchema = lenientObject({
  page: Type.Optional(t.Numeric({ minimum: 0, multipleOf: 1, description: 'From 0.' })),
  page_size: Type.Optional(
    t.Numeric({ minimum: 1, maximum: filePageMax, multipleOf: 1, description: 'Default 100.' }),
  ),
  include_total: Type.Optional(oneOf(['true', 'false'])),
  sample_type: someOf('Kinds of content.'),
  source: someOf('Origins.'),
  mimetypes: someOf('Media types.'),
  search: Type.Optional(Type.String({ description: 'Part of the file name.' })),
  purpose: Type.Optional(Type.String()),
})
export type FileListQuery = Static<typeof FileListQuerySchema>

export const DeletedFileSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('file'),
  deleted: Type.Literal(true),
})

/** The body of an upload, which `readUpload` parses. */
export const uploadSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  required: ['file'],
  properties: {
    file: { type: 'string', format: 'binary' },
    purpose: { type: 'string', default: 'user_data' },
    visibility: { type: 'string', enum: ['workspace'] },
  },
}

/** The body of a transcription, which transcriptions.ts parses. */
export const transcriptionRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model'],
  properties: {
    model: modelSchema('The id of a transcription model.'),
    file: { type: 'string', format: 'binary', minLength: 1 },
    file_id: { type: 'string', description: 'The id of an uploaded file, instead of `file`.' },
    language: { type: 'string', description: 'ISO 639 code, as a hint.' },
    stream: { type: 'boolean', description: 'Sends the text as events.' },
    context_bias: { type: 'array', items: { type: 'string' } },
    timestamp_granularities: { type: 'array', items: { type: 'string' } },
  },
}

/** A transcription of Mistral's API. */
export const MistralTranscriptionSchema = namedObject('MistralTranscription', {
  model: Type.String(),
  text: Type.String(),
  language: nullable(Type.String()),
  segments: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  usage: lenientObject({ cost: Type.Number({ description: 'USD' }) }),
})

export const TranscriptionEventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: transcription.text.delta events, then transcription.done.',
})
