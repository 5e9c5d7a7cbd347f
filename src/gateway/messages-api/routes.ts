import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatOperation } from '../chat/schemas.ts'
import { keyOperationWith } from '../operation.ts'
import { AnthropicErrorSchema } from './error-response.ts'
import { countTokens, createMessage } from './messages.ts'
import * as schemas from './schemas.ts'

const operation = keyOperationWith(AnthropicErrorSchema)

/** Routes of Anthropic's Messages API (docs/spec/gateway-decisions.md, "Anthropic Messages"). */
export const messageRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/messages',
      ({ spender, body, request }) =>
        createMessage(ctx, spender, body, request.headers, callOf(request)),
      chatOperation(
        operation,
        {
          id: 'create_message',
          summary: "Create a message with Anthropic's Messages API, whole or as a stream.",
          description:
            'Works with every chat model and is charged like the same chat completion. The key may ' +
            'be in X-API-Key. Errors have the envelope of Anthropic.',
          requestBodies: { 'application/json': { schema: schemas.messagesRequestSchema } },
        },
        { 200: Type.Union([schemas.MessageSchema, schemas.EventsSchema]) },
      ),
    )
    .post(
      '/messages/count_tokens',
      ({ body }) => countTokens(ctx, body),
      operation(
        {
          id: 'count_message_tokens',
          tag: 'Chat',
          summary: 'Estimate the input tokens of a message.',
          description: 'Calls no model and costs nothing.',
          onFullDisk: 'allow',
          requestBodies: { 'application/json': { schema: schemas.countRequestSchema } },
        },
        { 200: schemas.TokenCountSchema },
        ['no_messages', 'no_model', 'bad_request', 'too_large'],
      ),
    )
