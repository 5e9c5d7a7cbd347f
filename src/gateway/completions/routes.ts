import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatOperation } from '../chat/schemas.ts'
import { keyOperation } from '../operation.ts'
import { createCompletion } from './completions.ts'
import * as schemas from './schemas.ts'

/** Route of OpenAI's completions of texts, which editors call. */
export const completionRoutes = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/completions',
    ({ spender, body, request }) => createCompletion(ctx, spender, body, callOf(request)),
    chatOperation(
      keyOperation,
      {
        id: 'create_completion',
        limits: ['holds_limit'],
        summary: 'Complete a text, or fill a gap in it, whole or as a stream.',
        description: 'A chat model writes the completion. Charged like the same chat completion.',
        requestBodies: { 'application/json': { schema: schemas.completionRequestSchema } },
      },
      { 200: Type.Union([schemas.TextCompletionSchema, schemas.TextChunksSchema]) },
    ),
  )
