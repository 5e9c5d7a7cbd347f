import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { callOf } from '../call.ts'
import type { Listener } from '../chat/chat.ts'
import { refusals } from '../chat/schemas.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import { create } from './responses.ts'
import * as schemas from './schemas.ts'

/** OpenAI's Responses over our own chat (gateway-completed, Answers): nothing is stored. */
export const responseRoutes = (ctx: AppContext, listener: Listener) =>
  new Elysia().use(withKey(ctx)).post(
    '/responses',
    ({ spender, body, request }) => create(ctx, spender, body, callOf(request), listener),
    operation(
      {
        id: 'create_response',
        tag: 'Chat',
        summary: "Answer in the shape of OpenAI's Responses, whole or as a stream.",
        more:
          'Paid and refused as the same chat is. Stateless: no conversation is stored, so send ' +
          'the whole of it, or for an hour the ids of its items; tools are functions of yours.',
        takes: { 'application/json': { schema: schemas.responseWanted } },
      },
      { 200: Type.Unsafe<Response>(Type.Union([schemas.Answered, schemas.Events])) },
      refusals,
    ),
  )
