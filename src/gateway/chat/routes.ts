import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { keyOperation } from '../operation.ts'
import { complete, type TranscriberFactory } from './chat.ts'
import * as schemas from './schemas.ts'

/** Chat (document 2, POST /chat/completions). */
export const chatRoutes = (ctx: AppContext, listener: TranscriberFactory) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/chat/completions',
    ({ spender, body, request }) => complete(ctx, spender, body, callOf(request), listener),
    keyOperation(
      {
        id: 'create_chat_completion',
        tag: 'Chat',
        summary: 'Answer a conversation, whole or as a stream.',
        more:
          "OpenAI's chat completions. The worst case is held before the model runs; what was used " +
          'is charged: usage.cost and X-Service-Cost tell it, in USD; of a stream the usage chunk ' +
          'does, which comes with stream_options.include_usage.',
        takes: { 'application/json': { schema: schemas.chatRequestSchema } },
      },
      { 200: Type.Unsafe<Response>(Type.Union([schemas.CompletionSchema, schemas.ChunksSchema])) },
      schemas.chatErrors,
    ),
  )
