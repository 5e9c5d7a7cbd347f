import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatOperation } from '../chat/schemas.ts'
import { invalidField } from '../fields.ts'
import { keyOperation } from '../operation.ts'
import { createResponse } from './responses.ts'
import * as schemas from './schemas.ts'
import * as stored from './stored-responses.ts'

/** Routes of the Responses API (docs/spec/gateway-decisions.md, "Responses"). */
export const responseRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/responses',
      ({ spender, body, request }) => createResponse(ctx, spender, body, callOf(request)),
      chatOperation(
        keyOperation,
        {
          id: 'create_response',
          summary: "Create a response with OpenAI's Responses API, whole or as a stream.",
          description:
            'Charged like the same chat completion. A server with RESPONSES_KEPT_DAYS stores it for ' +
            '`previous_response_id`; on others send all items, or ids of items of the last hour. ' +
            'Tools are functions that the client runs.',
          requestBodies: { 'application/json': { schema: schemas.responsesRequestSchema } },
        },
        { 200: Type.Union([schemas.ResponseSchema, schemas.EventsSchema]) },
      ),
    )
    .get(
      '/responses/:id',
      async ({ spender, params, query }) => {
        if (query.stream === 'true') {
          throw invalidField('stream', 'Stored responses are not streamed. Remove stream.')
        }
        return Response.json(await stored.get(ctx, spender.account, params.id))
      },
      {
        query: schemas.GetResponseQuerySchema,
        ...keyOperation(
          { id: 'get_response', tag: 'Chat', summary: 'Get a stored response.' },
          { 200: Type.Unsafe<Response>(schemas.ResponseSchema) },
          ['bad_request', 'not_found'],
        ),
      },
    )
    .get(
      '/responses/:id/input_items',
      ({ spender, params, query }) => stored.listInput(ctx, spender.account, params.id, query),
      {
        query: schemas.InputItemsQuerySchema,
        ...keyOperation(
          {
            id: 'list_input_items',
            tag: 'Chat',
            summary: 'List the items that a stored response was created from.',
          },
          { 200: schemas.InputItemsSchema },
          ['bad_request', 'not_found'],
        ),
      },
    )
    .delete(
      '/responses/:id',
      async ({ spender, params }) => {
        await stored.remove(ctx, spender.account, params.id)
        return { id: params.id, object: 'response' as const, deleted: true as const }
      },
      keyOperation(
        { id: 'delete_response', tag: 'Chat', summary: 'Delete a stored response.' },
        { 200: schemas.DeletedResponseSchema },
        ['bad_request', 'too_large', 'not_found', 'try_again'],
      ),
    )
