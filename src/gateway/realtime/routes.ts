import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation, paidErrors, upstreamErrors } from '../operation.ts'
import { openRealtime } from './handshake.ts'

const QuerySchema = Type.Object({
  model: Type.Optional(Type.String({ description: 'The id of a model of the type realtime.' })),
})

export const realtimeRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .get('/realtime', ({ spender, request }) => openRealtime(ctx, spender, request), {
      query: QuerySchema,
      ...keyOperation(
        {
          id: 'open_realtime',
          tag: 'Chat',
          mcp: 'hidden',
          limits: ['holds_limit'],
          summary: 'Open a realtime session over a WebSocket.',
          description:
            "Events have OpenAI's format. Each response is held before it can begin and charged by its usage. Browsers send the key as the protocol openai-insecure-api-key.<key>.",
        },
        {
          101: Type.Unsafe<Response>(Type.Null({ description: 'The connection is a WebSocket.' })),
        },
        [
          'needs_websocket',
          'bad_request',
          'no_price',
          'not_enough_credits',
          'no_model',
          'daily_cap',
          'budget_exceeded',
          'model_not_allowed',
          ...upstreamErrors,
          ...paidErrors,
        ],
      ),
    })
