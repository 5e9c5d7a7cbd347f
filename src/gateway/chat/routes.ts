import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { House } from '../../house.ts'
import { callOf } from '../call.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import { complete, type Listener } from './chat.ts'
import * as shapes from './shapes.ts'

/** Chat (document 2, POST /chat/completions). */
export const chatRoutes = (house: House, listener: Listener) =>
  new Elysia().use(withKey(house)).post(
    '/chat/completions',
    ({ spender, body, request }) => complete(house, spender, body, callOf(request), listener),
    operation(
      {
        id: 'create_chat_completion',
        tag: 'Chat',
        summary: 'Answer a conversation, whole or as a stream.',
        more:
          "OpenAI's chat completions. The worst case is held before the model runs; what was used " +
          'is charged: usage.cost and X-Service-Cost tell it, in USD; of a stream the usage chunk ' +
          'does, which comes with stream_options.include_usage.',
        takes: { 'application/json': { schema: shapes.chatWanted } },
      },
      { 200: Type.Unsafe<Response>(Type.Union([shapes.Completion, shapes.Chunks])) },
      shapes.refusals,
    ),
  )
