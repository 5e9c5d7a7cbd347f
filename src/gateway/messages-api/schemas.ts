import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { searchesPerRequestMax } from '../../kernel/limits.ts'
import { anyObject, mediaSchema, namedObject, nullable } from '../../kernel/schema.ts'
import { knownFields, maxTokensSchema, modelSchema, typedSchema } from '../request-schemas.ts'
import { ignoredFields, sharedFields } from './decode.ts'

const textSchema = typedSchema('text', { text: { type: 'string' } })

const string: OpenAPIV3.SchemaObject = { type: 'string' }
const base64 = typedSchema('base64', { media_type: string, data: string })
const address = typedSchema('url', { url: string })
const upload = typedSchema('file', { file_id: string })
const textsSchema: OpenAPIV3.SchemaObject = {
  oneOf: [string, { type: 'array', items: textSchema }],
}

/** The blocks that content.ts reads: what a user, a tool and a document may have. */
const contentBlocks = [
  textSchema,
  typedSchema('image', { source: { oneOf: [base64, address, upload] } }),
  typedSchema('document', {
    source: {
      oneOf: [
        base64,
        address,
        upload,
        typedSchema('text', { data: string }),
        typedSchema('content', { content: textsSchema }),
      ],
    },
  }),
  typedSchema('search_result', { title: string, source: string, content: textsSchema }),
]
const blocksOf = (items: OpenAPIV3.SchemaObject[]): OpenAPIV3.SchemaObject => ({
  oneOf: [string, { type: 'array', items: { oneOf: items } }],
})

const resultSchema = typedSchema('tool_result', { tool_use_id: string })
const toolResultSchema: OpenAPIV3.SchemaObject = {
  ...resultSchema,
  properties: {
    ...resultSchema.properties,
    content: { ...blocksOf(contentBlocks), nullable: true },
  },
}

const messageOf = (role: string, content: OpenAPIV3.SchemaObject): OpenAPIV3.SchemaObject => ({
  ...anyObject,
  required: ['role', 'content'],
  properties: { role: { type: 'string', enum: [role] }, content },
})

/** A message of each role. input.ts reads them. */
const messageSchema: OpenAPIV3.SchemaObject = {
  oneOf: [
    messageOf('user', blocksOf([...contentBlocks, toolResultSchema])),
    messageOf(
      'assistant',
      blocksOf([
        textSchema,
        typedSchema('thinking', { thinking: string }),
        typedSchema('redacted_thinking', { data: string }),
        typedSchema('tool_use', { id: string, name: string, input: anyObject }),
      ]),
    ),
    messageOf('system', textsSchema),
  ],
}

const properties: OpenAPIV3.SchemaObject['properties'] = {
  ...knownFields([...sharedFields, ...ignoredFields, 'context_management']),
  model: modelSchema('An id from GET /v1/models, optionally with :floor or :nitro.'),
  messages: { type: 'array', minItems: 1, items: messageSchema },
  system: textsSchema,
  tools: {
    type: 'array',
    items: {
      anyOf: [
        {
          ...anyObject,
          required: ['name', 'input_schema'],
          properties: {
            type: { type: 'string', enum: ['custom'] },
            name: { type: 'string', minLength: 1 },
            input_schema: anyObject,
          },
        },
        {
          type: 'object',
          additionalProperties: false,
          required: ['type', 'name'],
          properties: {
            type: { type: 'string', pattern: '^web_search_\\d+$' },
            name: { type: 'string' },
            max_uses: { type: 'integer', minimum: searchesPerRequestMax },
          },
        },
      ],
    },
    description: 'Tools with a name and an input_schema, or web_search.',
  },
  tool_choice: {
    description: 'The type: auto, any, tool or none.',
    oneOf: [
      ...['auto', 'any', 'none'].map((type) => typedSchema(type)),
      typedSchema('tool', { name: { type: 'string' } }),
    ],
  },
  thinking: {
    description: 'The type: adaptive, enabled or disabled.',
    oneOf: [
      ...['adaptive', 'disabled', 'between_tools'].map((type) => typedSchema(type)),
      typedSchema('enabled', { budget_tokens: { type: 'number' } }),
    ],
  },
  output_config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      effort: { type: 'string' },
      format: typedSchema('json_schema', { schema: anyObject }),
    },
    description: 'The effort, and the format json_schema.',
  },
}

/** The documented request. The body is parsed by hand. */
export const messagesRequestSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'messages', 'max_tokens'],
  properties: {
    ...properties,
    max_tokens: maxTokensSchema,
    stop_sequences: { type: 'array', items: { type: 'string' } },
    stream: { type: 'boolean' },
  },
}

export const countRequestSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'messages'],
  properties,
}

export const MessageSchema = namedObject('Message', {
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: nullable(Type.String()),
  content: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description: 'Blocks: text, thinking, redacted_thinking, tool_use.',
  }),
  stop_reason: nullable(
    Type.String({ description: 'end_turn, max_tokens, stop_sequence, tool_use or `refusal`.' }),
  ),
  stop_sequence: nullable(Type.String()),
  stop_details: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
  container: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
  usage: Type.Object({
    input_tokens: Type.Integer({ description: 'Without the tokens of the cache.' }),
    cache_creation_input_tokens: Type.Integer(),
    cache_read_input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    output_tokens_details: Type.Optional(Type.Object({ thinking_tokens: Type.Integer() })),
    server_tool_use: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
    cost: Type.Number({ description: 'USD' }),
  }),
})

export const EventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: events from message_start to message_stop.',
})

export const TokenCountSchema = namedObject('MessageTokensCount', {
  input_tokens: Type.Integer({ description: 'An estimate.' }),
})
