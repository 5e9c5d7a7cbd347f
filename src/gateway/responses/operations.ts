import { Type } from '@sinclair/typebox'

import type { Json } from '../../kernel/schema.ts'
import { key } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import { chatErrors } from '../openai-chat/schemas.ts'
import { operationsOf, paidOperation } from '../operation.ts'
import * as responses from './responses.ts'
import * as schemas from './schemas.ts'
import * as stored from './stored-responses.ts'

const operation = operationsOf('Chat')

const createResponse = paidOperation({
  id: 'create_response',
  route: 'POST /responses',
  tag: 'Chat',
  limits: ['holds_limit', 'searches_limit'],
  summary: "Create a response with OpenAI's Responses API, whole or as a stream.",
  description:
    'Charged like the same chat completion. A server with RESPONSES_KEPT_DAYS stores it for ' +
    '`previous_response_id`; on others send all items, or ids of items of the last hour. ' +
    'Tools are functions that the client runs.',
  input: schemas.responsesRequestSchema,
  output: [schemas.ResponseSchema, schemas.EventsSchema],
  errors: chatErrors,
  run: responses.createResponse,
})

const countInputTokens = operation({
  id: 'count_input_tokens',
  route: 'POST /responses/input_tokens',
  summary: 'Estimate the input tokens of a response.',
  description: 'Calls no model and costs nothing.',
  onFullDisk: 'allow',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.responsesRequestSchema } } },
  output: { 200: schemas.InputTokensSchema },
  errors: ['no_model', 'no_usable_messages', 'bad_request', 'too_large'],
  run: (ctx, { caller: spender, body }) => responses.countInputTokens(ctx, spender, body),
})

const getResponse = operation({
  id: 'get_response',
  route: 'GET /responses/:id',
  summary: 'Get a stored response.',
  access: key,
  input: { query: schemas.GetResponseQuerySchema },
  output: { 200: Type.Unsafe<Json>(schemas.ResponseSchema) },
  errors: ['bad_request', 'not_found'],
  async run(ctx, { caller: spender, params, query }) {
    if (query.stream === 'true') {
      throw invalidField('stream', 'Stored responses are not streamed. Remove stream.')
    }
    return stored.get(ctx, spender.account, params.id)
  },
})

const listInputItems = operation({
  id: 'list_input_items',
  route: 'GET /responses/:id/input_items',
  summary: 'List the items that a stored response was created from.',
  access: key,
  input: { query: schemas.InputItemsQuerySchema },
  output: { 200: schemas.InputItemsSchema },
  errors: ['bad_request', 'not_found'],
  run: (ctx, { caller: spender, params, query }) =>
    stored.listInput(ctx, spender.account, params.id, query),
})

const deleteResponse = operation({
  id: 'delete_response',
  route: 'DELETE /responses/:id',
  summary: 'Delete a stored response.',
  access: key,
  output: { 200: schemas.DeletedResponseSchema },
  errors: ['bad_request', 'too_large', 'not_found', 'try_again'],
  async run(ctx, { caller: spender, params }) {
    await stored.remove(ctx, spender.account, params.id)
    return { id: params.id, object: 'response' as const, deleted: true as const }
  },
})

/** Routes of the Responses API (docs/spec/gateway-decisions.md, "Responses"). */
export const responseOperations = [
  createResponse,
  countInputTokens,
  getResponse,
  listInputItems,
  deleteResponse,
]
