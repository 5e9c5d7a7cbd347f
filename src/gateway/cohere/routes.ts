import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatOperation, ChunksSchema } from '../chat/schemas.ts'
import { keyOperationWith, mediaErrors } from '../operation.ts'
import { rerankRequestSchema } from '../rerank/schemas.ts'
import { cohereRerank, createCohereChat } from './chat.ts'
import { CohereErrorSchema, coherePrefix } from './error-response.ts'
import * as schemas from './schemas.ts'

const operation = keyOperationWith(CohereErrorSchema)

/** Routes of Cohere's API (docs/spec/gateway-decisions.md, "Cohere"). */
export const cohereRoutes = (ctx: AppContext) =>
  new Elysia({ prefix: coherePrefix })
    .use(keyAuth(ctx))
    .post(
      '/chat',
      ({ spender, body: raw, request }) => createCohereChat(ctx, spender, raw, callOf(request)),
      chatOperation(
        operation,
        {
          id: 'create_cohere_chat',
          summary: "Create a chat with Cohere's API, whole or as a stream.",
          requestBodies: { 'application/json': { schema: schemas.cohereChatRequestSchema } },
        },
        { 200: Type.Union([schemas.CohereChatSchema, ChunksSchema]) },
      ),
    )
    .post(
      '/rerank',
      ({ spender, body: raw, request }) => cohereRerank(ctx, spender, raw, callOf(request)),
      operation(
        {
          id: 'cohere_rerank',
          tag: 'Media',
          idempotent: true,
          limits: ['holds_limit'],
          summary: "Sort documents by their relevance with Cohere's API.",
          requestBodies: { 'application/json': { schema: rerankRequestSchema } },
        },
        { 200: Type.Unsafe<Response>(schemas.CohereRerankSchema) },
        mediaErrors,
      ),
    )
