import type { AppContext } from '../../kernel/context.ts'
import { sha256 } from '../../kernel/ids.ts'
import { key, type Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { createChat } from '../chat/chat.ts'
import { countPromptTokens, estimatePrompt } from '../chat/max-cost.ts'
import { chatErrors } from '../openai-chat/schemas.ts'
import { operationsOf, paidOperation } from '../operation.ts'
import { AnthropicErrorSchema } from './client-api.ts'
import { decodeMessages, fieldNames } from './decode.ts'
import * as schemas from './schemas.ts'
import { createMessagesClient } from './write.ts'

/**
 * Creates a message of Anthropic's Messages API, which is held, served and charged as a chat.
 * Upstreams of Anthropic get the request itself, and their response is passed on. Throws
 * `bad_request` and the errors of the chat.
 */
function completeMessages(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  { headers }: { headers: Headers },
): Promise<CallOutcome> {
  const { requestId, idempotencyKey } = call
  // A replay under the same Idempotency-Key has the same ids.
  const name = sha256(`${spender.account} ${idempotencyKey ?? requestId}`).slice(0, 32)
  return createChat(ctx, spender, call, {
    api: 'messages',
    raw,
    names: fieldNames(raw),
    open() {
      const { showsThinking, stopSequences, ...decoded } = decodeMessages(raw, headers)
      const options = { name, requestId, showsThinking, stopSequences }
      return {
        ...decoded,
        codec: (model) =>
          createMessagesClient({
            ...options,
            model,
            // Only a stream that is written here needs it.
            get inputTokens() {
              return estimatePrompt(ctx, model, decoded.request)
            },
          }),
      }
    },
  })
}

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
  run: completeMessages,
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
  run: (ctx, { body }) => ({ input_tokens: countPromptTokens(ctx, decodeMessages(body)) }),
})

/** Routes of Anthropic's Messages API (docs/spec/gateway-decisions.md, "Anthropic Messages"). */
export const messageOperations = [createMessage, countMessageTokens]
