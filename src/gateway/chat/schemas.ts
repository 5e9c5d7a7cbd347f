import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anything, Lenient, Media, orNull } from '../../core/schema.ts'
import type { GatewayErrorName } from '../../errors.ts'
import { ofPaying, ofServing } from '../operation.ts'

/** A chat request, for its description: the body is read by hand, in the order of section 7. */
export const chatWanted: OpenAPIV3.SchemaObject = {
  ...anything,
  required: ['model', 'messages'],
  properties: {
    model: { type: 'string', description: 'An id of GET /v1/models, with :floor or :nitro.' },
    models: { type: 'array', items: { type: 'string' }, description: 'Fallbacks, in order.' },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        ...anything,
        required: ['role'],
        properties: {
          role: { type: 'string', enum: ['system', 'user', 'assistant', 'tool'] },
          content: {
            nullable: true,
            oneOf: [{ type: 'string' }, { type: 'array', items: anything }],
          },
        },
      },
    },
    max_tokens: { type: 'integer', minimum: 1, description: 'Lowers the credits that are held.' },
    stream: { type: 'boolean' },
    web_search: { type: 'boolean' },
    file_id: {
      type: 'string',
      description: 'A file of POST /v1/files, for the last user message.',
    },
    provider: {
      ...anything,
      description: 'order, only, ignore, allow_fallbacks, sort, max_price.',
    },
  },
}

/** OpenAI's chat.completion, with what it cost. */
export const Completion = Type.Object(
  {
    id: Type.Optional(Type.String()),
    object: Type.Optional(Type.String()),
    created: Type.Optional(Type.Number()),
    model: Type.Optional(Type.String()),
    choices: Type.Array(
      Lenient({
        index: Type.Optional(Type.Integer()),
        message: Lenient({
          role: Type.Optional(Type.String()),
          content: Type.Optional(orNull(Type.String())),
          tool_calls: Type.Optional(orNull(Type.Array(Type.Record(Type.String(), Type.Unknown())))),
        }),
        finish_reason: Type.Optional(orNull(Type.String())),
      }),
    ),
    usage: Type.Object({
      prompt_tokens: Type.Optional(Type.Number()),
      completion_tokens: Type.Optional(Type.Number()),
      total_tokens: Type.Optional(Type.Number()),
      cost: Type.Number({ description: 'USD' }),
    }),
  },
  { title: 'ChatCompletion' },
)

/** The same with `stream`. */
export const Chunks = Media('text/event-stream', {
  description: 'With stream: chat.completion.chunk events, then [DONE].',
})

/** What a chat request can be refused with, in the order of section 7. */
export const refusals: GatewayErrorName[] = [
  'no_messages',
  'bad_role',
  'no_usable_messages',
  'conversation_too_long',
  'no_rate',
  'not_enough_credits',
  'no_model',
  'daily_cap',
  'search_off',
  'model_cannot_search',
  'searches_limit',
  'no_picture_input',
  'no_file_input',
  'bad_part',
  'no_file',
  'too_many_pdfs',
  'window_exceeded',
  'bad_media',
  ...ofServing,
  'bad_request',
  ...ofPaying,
]
