import type { AppContext } from '../../kernel/context.ts'
import { sha256 } from '../../kernel/ids.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { createChat } from '../chat/chat.ts'
import { countPromptTokens, estimatePrompt } from '../chat/max-cost.ts'
import { decodeMessages, fieldNames } from './decode.ts'
import { createMessagesClient } from './write.ts'

/**
 * Creates a message of Anthropic's Messages API, which is held, served and charged as a chat.
 * Upstreams of Anthropic get the request itself, and their response is passed on. Throws
 * `bad_request` and the errors of the chat.
 */
export function createMessage(
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

/**
 * Estimates the input tokens of a request of Anthropic's Messages API. It calls no model and costs
 * nothing. Throws `no_model`, `bad_request`.
 */
export const countTokens = (ctx: AppContext, raw: unknown): { input_tokens: number } => ({
  input_tokens: countPromptTokens(ctx, decodeMessages(raw)),
})
