import { Type } from '@sinclair/typebox'

import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatErrors, ChunksSchema } from '../chat/schemas.ts'
import { mediaErrors, operationWith } from '../operation.ts'
import { rerankRequestSchema } from '../rerank/schemas.ts'
import * as chat from './chat.ts'
import { CohereErrorSchema } from './error-response.ts'
import * as schemas from './schemas.ts'

const operation = operationWith(CohereErrorSchema)

const createCohereChat = operation({
  id: 'create_cohere_chat',
  route: 'POST /chat',
  tag: 'Chat',
  idempotent: true,
  limits: ['holds_limit', 'searches_limit'],
  summary: "Create a chat with Cohere's API, whole or as a stream.",
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.cohereChatRequestSchema } } },
  output: { 200: Type.Unsafe<Response>(Type.Union([schemas.CohereChatSchema, ChunksSchema])) },
  errors: chatErrors,
  run: (ctx, { caller: spender, body: raw, ...call }) =>
    chat.createCohereChat(ctx, spender, raw, callOf(call)),
})

const cohereRerank = operation({
  id: 'cohere_rerank',
  route: 'POST /rerank',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: "Sort documents by their relevance with Cohere's API.",
  access: key,
  input: { bodies: { 'application/json': { schema: rerankRequestSchema } } },
  output: { 200: Type.Unsafe<Response>(schemas.CohereRerankSchema) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body: raw, ...call }) =>
    chat.cohereRerank(ctx, spender, raw, callOf(call)),
})

/** Routes of Cohere's API (docs/spec/gateway-decisions.md, "Cohere"). */
export const cohereOperations = [createCohereChat, cohereRerank]
