import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject, mediaSchema, nullable } from '../../core/schema.ts'

const properties: OpenAPIV3.SchemaObject['properties'] = {
  model: {
    type: 'string',
    description: 'An id from GET /v1/models, optionally with :floor or :nitro.',
  },
  messages: {
    type: 'array',
    minItems: 1,
    items: {
      ...anyObject,
      required: ['role', 'content'],
      properties: {
        role: { type: 'string', enum: ['user', 'assistant', 'system'] },
        content: { oneOf: [{ type: 'string' }, { type: 'array', items: anyObject }] },
      },
    },
  },
  system: { oneOf: [{ type: 'string' }, { type: 'array', items: anyObject }] },
  tools: {
    type: 'array',
    items: anyObject,
    description: 'Tools with a name and an input_schema, or web_search.',
  },
  tool_choice: { ...anyObject, description: 'The type: auto, any, tool or none.' },
  thinking: { ...anyObject, description: 'The type: adaptive, enabled or disabled.' },
  output_config: { ...anyObject, description: 'The effort, and the format json_schema.' },
}

/** The documented request. The body is parsed by hand. */
export const messagesRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'messages', 'max_tokens'],
  properties: {
    ...properties,
    max_tokens: { type: 'integer', minimum: 1, description: 'A lower value holds fewer credits.' },
    stop_sequences: { type: 'array', items: { type: 'string' } },
    stream: { type: 'boolean' },
  },
}

export const countRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'messages'],
  properties,
}

export const MessageSchema = Type.Object(
  {
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
  },
  { title: 'Message' },
)

export const EventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: events from message_start to message_stop.',
})

export const TokenCountSchema = Type.Object(
  { input_tokens: Type.Integer({ description: 'An estimate.' }) },
  { title: 'MessageTokensCount' },
)
