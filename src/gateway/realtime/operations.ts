import { Type } from '@sinclair/typebox'

import { key } from '../authentication.ts'
import { requestOf } from '../call.ts'
import { operationsOf, paidErrors, spendingErrors, upstreamErrors } from '../operation.ts'
import * as handshake from './handshake.ts'

const QuerySchema = Type.Object({
  model: Type.Optional(Type.String({ description: 'The id of a model of the type realtime.' })),
})

const openRealtime = operationsOf('Chat')({
  id: 'open_realtime',
  route: 'GET /realtime',
  mcp: 'hidden',
  limits: ['holds_limit'],
  summary: 'Open a realtime session over a WebSocket.',
  description:
    "Events have OpenAI's format. Each response is held before it can begin and charged by its usage. Browsers send the key as the protocol openai-insecure-api-key.<key>.",
  access: key,
  input: { query: QuerySchema, read: async (sent) => requestOf(sent) },
  output: {
    101: Type.Null({ description: 'The connection is a WebSocket.' }),
  },
  errors: [
    'needs_websocket',
    'bad_request',
    'no_price',
    ...spendingErrors,
    ...upstreamErrors,
    ...paidErrors,
  ],
  run: (ctx, { caller: spender, body }) => handshake.openRealtime(ctx, spender, body),
})

export const realtimeOperations = [openRealtime]
