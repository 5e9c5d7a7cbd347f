import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { mediaSchema, namedObject, nullable } from '../../kernel/schema.ts'
import { chatErrors, ChunksSchema, CompletionSchema } from '../openai-chat/schemas.ts'
import { paidOperation } from '../operation.ts'
import { knownFields, maxTokensSchema, modelSchema } from '../request-schemas.ts'
import * as completions from './completions.ts'
import { sharedFields } from './completions.ts'

/** The documented request. The body is parsed by hand. */
const completionRequestSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'prompt'],
  properties: {
    ...knownFields(sharedFields),
    model: modelSchema('An id of a chat model from GET /v1/models.'),
    prompt: {
      description: 'The text before the completion.',
      oneOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', minItems: 1, maxItems: 1, items: { type: 'string', minLength: 1 } },
      ],
    },
    suffix: { type: 'string', nullable: true, description: 'The text after the completion.' },
    echo: { type: 'boolean', description: 'Repeats the prompt before the completion.' },
    max_tokens: maxTokensSchema,
    stream: { type: 'boolean', nullable: true },
    best_of: { type: 'integer', enum: [1] },
    logprobs: { type: 'integer', enum: [0] },
  },
}

/** The documented request of Mistral's API. The body is parsed by hand. */
const fimRequestSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'prompt'],
  properties: {
    model: modelSchema('An id of a chat model from GET /v1/models.'),
    prompt: { type: 'string', minLength: 1, description: 'The text before the gap.' },
    suffix: { type: 'string', nullable: true, description: 'The text after the gap.' },
    ...knownFields(['temperature', 'top_p', 'stop']),
    max_tokens: maxTokensSchema,
    random_seed: { type: 'integer', nullable: true },
    min_tokens: { type: 'integer', enum: [0] },
    stream: { type: 'boolean', nullable: true },
  },
}

const TextCompletionSchema = namedObject('TextCompletion', {
  id: Type.String(),
  object: Type.Literal('text_completion'),
  created: Type.Integer(),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      text: Type.String(),
      index: Type.Integer(),
      logprobs: nullable(Type.Object({})),
      finish_reason: nullable(Type.String()),
    }),
  ),
  usage: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

const TextChunksSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: parts of the completion, and [DONE].',
})

const createCompletion = paidOperation({
  id: 'create_completion',
  route: 'POST /completions',
  tag: 'Chat',
  summary: 'Complete a text, or fill a gap in it, whole or as a stream.',
  description: 'A chat model writes the completion. Charged like the same chat completion.',
  input: completionRequestSchema,
  output: [TextCompletionSchema, TextChunksSchema],
  errors: chatErrors,
  run: completions.createCompletion,
})

const createFimCompletion = paidOperation({
  id: 'create_fim_completion',
  route: 'POST /fim/completions',
  tag: 'Chat',
  summary: "Fill the gap before a suffix with Mistral's API, whole or as a stream.",
  description: 'A chat model writes the text. Charged like the same chat completion.',
  input: fimRequestSchema,
  output: [CompletionSchema, ChunksSchema],
  errors: chatErrors,
  run: completions.createFimCompletion,
})

/** Routes of completions of texts, which editors call. */
export const completionOperations = [createCompletion, createFimCompletion]
