import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { House } from '../../house.ts'
import { callOf } from '../call.ts'
import type { Listener } from '../chat/chat.ts'
import { refusals } from '../chat/shapes.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import { create } from './responses.ts'
import * as shapes from './shapes.ts'

/** OpenAI's Responses over our own chat (gateway-completed, Answers): nothing is stored. */
export const responseRoutes = (house: House, listener: Listener) =>
  new Elysia().use(withKey(house)).post(
    '/responses',
    ({ spender, body, request }) => create(house, spender, body, callOf(request), listener),
    operation(
      {
        id: 'create_response',
        tag: 'Chat',
        summary: "Answer in the shape of OpenAI's Responses, whole or as a stream.",
        more:
          'Paid and refused as the same chat is. Stateless: no conversation is stored, so send ' +
          'the whole of it, or for an hour the ids of its items; tools are functions of yours.',
        takes: { 'application/json': { schema: shapes.responseWanted } },
      },
      { 200: Type.Unsafe<Response>(Type.Union([shapes.Answered, shapes.Events])) },
      refusals,
    ),
  )
