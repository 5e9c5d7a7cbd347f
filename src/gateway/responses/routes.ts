import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import type { TranscriberFactory } from '../chat/chat.ts'
import { chatErrors } from '../chat/schemas.ts'
import { keyOperation } from '../operation.ts'
import { createResponse } from './responses.ts'
import * as schemas from './schemas.ts'

/** OpenAI's Responses over our own chat (docs/spec/gateway-decisions.md, "Responses"): nothing is stored. */
export const responseRoutes = (ctx: AppContext, listener: TranscriberFactory) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/responses',
    ({ spender, body, request }) => createResponse(ctx, spender, body, callOf(request), listener),
    keyOperation(
      {
        id: 'create_response',
        tag: 'Chat',
        summary: "Answer in the shape of OpenAI's Responses, whole or as a stream.",
        more:
          'Paid and refused as the same chat is. Stateless: no conversation is stored, so send ' +
          'the whole of it, or for an hour the ids of its items; tools are functions of yours.',
        takes: { 'application/json': { schema: schemas.responsesRequestSchema } },
      },
      { 200: Type.Unsafe<Response>(Type.Union([schemas.ResponseSchema, schemas.EventsSchema])) },
      chatErrors,
    ),
  )
