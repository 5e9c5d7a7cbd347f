import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { GatewayErrorName } from '../../kernel/errors.ts'
import {
  anyObject,
  lenientObject,
  mediaSchema,
  namedObject,
  nullable,
} from '../../kernel/schema.ts'
import { ttlSecondsMax } from '../chat/response-cache.ts'
import { paidErrors, spendingErrors, upstreamErrors } from '../operation.ts'
import {
  fallbacksSchema,
  maxTokensSchema,
  modelSchema,
  providerSchema,
  typedSchema,
} from '../request-schemas.ts'

/** A part of a message: a text, or a file in the part or among the uploads. */
const partSchema: OpenAPIV3.SchemaObject = {
  anyOf: [
    typedSchema('text', { text: { type: 'string' } }),
    ...(['image_url', 'file', 'input_audio', 'video_url'] as const).flatMap((type) => [
      typedSchema(type, { [type]: anyObject }),
      typedSchema(type, { file_id: { type: 'string' } }),
    ]),
  ],
}

/** The documented chat request. The body is parsed by hand, in the order of section 7. */
export const chatRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'messages'],
  properties: {
    model: modelSchema('An id from GET /v1/models, optionally with :floor or :nitro.'),
    models: fallbacksSchema,
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        ...anyObject,
        required: ['role'],
        properties: {
          role: { type: 'string', enum: ['system', 'user', 'assistant', 'tool'] },
          content: {
            nullable: true,
            oneOf: [{ type: 'string' }, { type: 'array', items: partSchema }],
          },
        },
      },
    },
    max_tokens: maxTokensSchema,
    stream: { type: 'boolean' },
    web_search: { type: 'boolean' },
    cache: {
      ...anyObject,
      required: ['ttl'],
      properties: { ttl: { type: 'integer', minimum: 1, maximum: ttlSecondsMax } },
      description: '{ ttl }: seconds for which the same request gets the same response for free.',
    },
    file_id: {
      type: 'string',
      description: 'The id of an uploaded file to add to the last user message.',
    },
    provider: providerSchema,
  },
}

/** OpenAI's chat.completion with its cost. */
export const CompletionSchema = namedObject('ChatCompletion', {
  id: Type.Optional(Type.String()),
  object: Type.Optional(Type.String()),
  created: Type.Optional(Type.Number()),
  model: Type.Optional(Type.String()),
  choices: Type.Array(
    lenientObject({
      index: Type.Optional(Type.Integer()),
      message: lenientObject({
        role: Type.Optional(Type.String()),
        content: Type.Optional(nullable(Type.String())),
        tool_calls: Type.Optional(nullable(Type.Array(Type.Record(Type.String(), Type.Unknown())))),
      }),
      finish_reason: Type.Optional(nullable(Type.String())),
    }),
  ),
  usage: Type.Object({
    prompt_tokens: Type.Optional(Type.Number()),
    completion_tokens: Type.Optional(Type.Number()),
    total_tokens: Type.Optional(Type.Number()),
    cost: Type.Number({ description: 'USD' }),
  }),
})

export const ChunksSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: chat.completion.chunk events, then [DONE].',
})

/** The errors of a chat request, in the order of section 7. */
export const chatErrors: readonly GatewayErrorName[] = [
  'no_messages',
  'bad_role',
  'no_usable_messages',
  'conversation_too_long',
  'no_price',
  ...spendingErrors,
  'search_off',
  'model_cannot_search',
  'no_image_input',
  'no_file_input',
  'bad_part',
  'no_file',
  'too_many_pdfs',
  'window_exceeded',
  'bad_media',
  ...upstreamErrors,
  'bad_request',
  ...paidErrors,
]
