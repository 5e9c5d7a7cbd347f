import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { keyOperation } from '../operation.ts'
import { createChatCompletion } from './chat.ts'
import * as schemas from './schemas.ts'
import { readsWholeCalls, withWholeCalls } from './whole-calls.ts'

export const chatRoutes = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/chat/completions',
    async ({ spender, body, request }) => {
      const call = callOf(request)
      const response = await createChatCompletion(ctx, spender, body, call)
      return readsWholeCalls(request.headers) ? withWholeCalls(response) : response
    },
    schemas.chatOperation(
      keyOperation,
      {
        id: 'create_chat_completion',
        summary: 'Create a chat completion, whole or as a stream.',
        description:
          "Compatible with OpenAI's chat completions. The maximum cost is held before the model runs, " +
          'and the actual usage is charged. `usage.cost` and the header X-Service-Cost have the cost ' +
          'in USD. A stream has it in its usage chunk, with `stream_options.include_usage`.',
        requestBodies: { 'application/json': { schema: schemas.chatRequestSchema } },
      },
      { 200: Type.Union([schemas.CompletionSchema, schemas.ChunksSchema]) },
    ),
  )
