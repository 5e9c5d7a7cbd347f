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

/** Routes of the Responses API (docs/spec/gateway-decisions.md, "Responses"). */
export const responseRoutes = (ctx: AppContext, createTranscriber: TranscriberFactory) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/responses',
    ({ spender, body, request }) =>
      createResponse(ctx, spender, body, callOf(request), createTranscriber),
    keyOperation(
      {
        id: 'create_response',
        tag: 'Chat',
        idempotent: true,
        limits: ['holds_limit', 'searches_limit'],
        summary: "Create a response with OpenAI's Responses API, whole or as a stream.",
        description:
          'Charged like the same chat completion. Conversations are not stored: send all items, or ' +
          'ids of items of the last hour. Tools are functions that the client runs.',
        requestBodies: { 'application/json': { schema: schemas.responsesRequestSchema } },
      },
      { 200: Type.Unsafe<Response>(Type.Union([schemas.ResponseSchema, schemas.EventsSchema])) },
      chatErrors,
    ),
  )
