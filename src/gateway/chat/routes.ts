import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { callOf } from '../call.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import { complete, type Listener } from './chat.ts'
import * as schemas from './schemas.ts'

/** Chat (document 2, POST /chat/completions). */
export const chatRoutes = (ctx: AppContext, listener: Listener) =>
  new Elysia().use(withKey(ctx)).post(
    '/chat/completions',
    ({ spender, body, request }) => complete(ctx, spender, body, callOf(request), listener),
    operation(
      {
        id: 'create_chat_completion',
        tag: 'Chat',
        summary: 'Answer a conversation, whole or as a stream.',
        more:
          "OpenAI's chat completions. The worst case is held before the model runs; what was used " +
          'is charged: usage.cost and X-Service-Cost tell it, in USD; of a stream the usage chunk ' +
          'does, which comes with stream_options.include_usage.',
        takes: { 'application/json': { schema: schemas.chatWanted } },
      },
      { 200: Type.Unsafe<Response>(Type.Union([schemas.Completion, schemas.Chunks])) },
      schemas.refusals,
    ),
  )
