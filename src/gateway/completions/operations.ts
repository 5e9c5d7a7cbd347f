import { Type } from '@sinclair/typebox'

import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatErrors, ChunksSchema, CompletionSchema } from '../openai-chat/schemas.ts'
import { operation } from '../operation.ts'
import * as completions from './completions.ts'
import * as schemas from './schemas.ts'

const createCompletion = operation({
  id: 'create_completion',
  route: 'POST /completions',
  tag: 'Chat',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Complete a text, or fill a gap in it, whole or as a stream.',
  description: 'A chat model writes the completion. Charged like the same chat completion.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.completionRequestSchema } } },
  output: {
    200: Type.Unsafe<Response>(
      Type.Union([schemas.TextCompletionSchema, schemas.TextChunksSchema]),
    ),
  },
  errors: chatErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    completions.createCompletion(ctx, spender, body, callOf(call)),
})

const createFimCompletion = operation({
  id: 'create_fim_completion',
  route: 'POST /fim/completions',
  tag: 'Chat',
  idempotent: true,
  limits: ['holds_limit'],
  summary: "Fill the gap before a suffix with Mistral's API, whole or as a stream.",
  description: 'A chat model writes the text. Charged like the same chat completion.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.fimRequestSchema } } },
  output: { 200: Type.Unsafe<Response>(Type.Union([CompletionSchema, ChunksSchema])) },
  errors: chatErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    completions.createFimCompletion(ctx, spender, body, callOf(call)),
})

/** Routes of completions of texts, which editors call. */
export const completionOperations = [createCompletion, createFimCompletion]
