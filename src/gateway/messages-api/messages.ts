import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import type { Json } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import type { ChatConverter } from '../chat/convert-stream.ts'
import { createTranslatedChat } from '../chat/translated-chat.ts'
import { encodeNamedEvents } from '../events.ts'
import { readModels } from '../fields.ts'
import { estimatePromptTokens } from '../models/tokens.ts'
import { toAnthropicError } from './error-response.ts'
import { EventWriter } from './event-writer.ts'
import { toMessage } from './message.ts'
import { toNativeChat } from './native.ts'
import { fieldNames, parseMessagesRequest } from './request.ts'

/**
 * Creates a message of Anthropic's Messages API from a chat completion, which is held, served and
 * charged as such. Upstreams of Anthropic receive the request itself, and their response is
 * relayed. Throws `bad_request` and the errors of the chat.
 */
export function createMessage(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  headers: Headers,
  call: Call,
): Promise<Response> {
  const { chat, isStream, showsThinking, stopSequences } = parseMessagesRequest(raw)
  // A replay under the same Idempotency-Key has the same ids.
  const name = sha256(`${spender.account} ${call.idempotencyKey ?? call.requestId}`).slice(0, 32)
  const options = { name, showsThinking, stopSequences }
  return createTranslatedChat(ctx, spender, call, {
    chat,
    isStream,
    native: toNativeChat(raw, headers),
    names: fieldNames(raw),
    createConverter: () =>
      messageConverter(new EventWriter(options, countPrompt(ctx, chat)), call.requestId),
    convert: (completion) => toMessage(completion, options),
  })
}

/**
 * Estimates the input tokens of a request of Anthropic's Messages API. It calls no model and costs
 * nothing. Throws `no_model`, `bad_request`.
 */
export function countTokens(ctx: AppContext, raw: unknown): { input_tokens: number } {
  const { chat } = parseMessagesRequest(raw)
  const [id = ''] = readModels(chat.model, chat.models)
  if (ctx.catalog.find(id)?.model.type !== 'chat') throw new ApiError('no_model', { model: id })
  return { input_tokens: countPrompt(ctx, chat) }
}

function countPrompt({ catalog }: AppContext, chat: Json): number {
  const found = typeof chat.model === 'string' ? catalog.find(chat.model) : undefined
  return estimatePromptTokens(chat, found?.model.imageTokens ?? 0)
}

/** Converts a chat stream of this gateway into the events of Anthropic's Messages API. */
const messageConverter = (writer: EventWriter, requestId: string): ChatConverter => ({
  read(chunk) {
    if (!chunk.error) writer.read(chunk)
    const error = chunk.error ? [toAnthropicError(chunk, 502, requestId)] : []
    return encodeNamedEvents([...writer.takeAll(), ...error])
  },
  end() {
    writer.end()
    return encodeNamedEvents(writer.takeAll())
  },
  beat: () => encodeNamedEvents([{ type: 'ping' }]),
})
