import { key } from '../authentication.ts'
import { chatErrors } from '../openai-chat/schemas.ts'
import { operationsOf, paidOperation } from '../operation.ts'
import { AnthropicErrorSchema } from './error-response.ts'
import * as messages from './messages.ts'
import * as schemas from './schemas.ts'

const createMessage = paidOperation({
  id: 'create_message',
  route: 'POST /messages',
  tag: 'Chat',
  limits: ['holds_limit', 'searches_limit'],
  summary: "Create a message with Anthropic's Messages API, whole or as a stream.",
  description:
    'Works with every chat model and is charged like the same chat completion. The key may ' +
    'be in X-API-Key. Errors have the envelope of Anthropic.',
  input: schemas.messagesRequestSchema,
  output: [schemas.MessageSchema, schemas.EventsSchema],
  envelope: AnthropicErrorSchema,
  errors: chatErrors,
  run: messages.createMessage,
})

const countMessageTokens = operationsOf(
  'Chat',
  AnthropicErrorSchema,
)({
  id: 'count_message_tokens',
  route: 'POST /messages/count_tokens',
  summary: 'Estimate the input tokens of a message.',
  description: 'Calls no model and costs nothing.',
  onFullDisk: 'allow',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.countRequestSchema } } },
  output: { 200: schemas.TokenCountSchema },
  errors: ['no_messages', 'no_model', 'bad_request', 'too_large'],
  run: (ctx, { body }) => messages.countTokens(ctx, body),
})

/** Routes of Anthropic's Messages API (docs/spec/gateway-decisions.md, "Anthropic Messages"). */
export const messageOperations = [createMessage, countMessageTokens]
