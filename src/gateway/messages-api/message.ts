import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { countOf, reasoningOf, textOf } from '../chat/completion.ts'
import { asString, parseRecord, recordsIn } from '../providers/response.ts'

/** The parts of a message that do not come from the chat. */
export interface MessageOptions {
  /** The unique base of all ids. */
  name: string
  showsThinking: boolean
  stopSequences: string[]
}

/** The end of a chat, as far as `stop_reason` depends on it. */
export interface ChatEnd {
  finish: unknown
  /** The stop sequence that vLLM and others report. */
  stop: unknown
  hasCalls: boolean
  /** The text of the field `refusal`; '' for none. */
  refusal: string
}

/** Converts a whole chat completion to a message of Anthropic's Messages API. */
export function toMessage(completion: Json, options: MessageOptions): Json {
  const choice = recordOf(itemsOf(completion.choices)[0])
  const message = recordOf(choice.message)
  const calls = recordsIn(message.tool_calls)
  const refusal = asString(message.refusal)
  const end = {
    finish: choice.finish_reason,
    stop: choice.stop_reason,
    hasCalls: calls.length > 0,
    refusal,
  }
  return {
    ...messageHead(completion.model, options),
    content: [
      ...thinkingBlocks(message, options),
      ...textBlocks(message, refusal),
      ...calls.map((call, index) => toToolUse(call, toolUseId(call.id, options, index))),
    ],
    ...readEnd(end, options),
    usage: toUsage(recordOf(completion.usage)),
  }
}

/** Returns the fields of a message before its content. */
export const messageHead = (model: unknown, { name }: MessageOptions): Json => ({
  id: `msg_${name}`,
  type: 'message',
  role: 'assistant',
  model: model ?? null,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
})

export const toolUseId = (id: unknown, { name }: MessageOptions, index: number): string =>
  asString(id) || `toolu_${name.slice(0, 22)}${index}`

/** The signature of reasoning, or encrypted reasoning, for the model's next turn. */
export interface ReasoningDetail {
  signature: string
  data: string
}

export const reasoningDetailsOf = (message: Json): ReasoningDetail[] =>
  recordsIn(message.reasoning_details).map(({ signature, data }) => ({
    signature: asString(signature),
    data: asString(data),
  }))

export const citationsOf = (message: Json): Json[] =>
  recordsIn(message.annotations).flatMap(({ url_citation: page }) =>
    isRecord(page)
      ? [
          {
            type: 'web_search_result_location',
            url: asString(page.url),
            title: asString(page.title),
            cited_text: asString(page.content),
            encrypted_index: '',
          },
        ]
      : [],
  )

function thinkingBlocks(message: Json, { showsThinking }: MessageOptions): Json[] {
  const text = reasoningOf(message)
  const details = reasoningDetailsOf(message)
  const signature = details.map((detail) => detail.signature).find((mark) => mark !== '') ?? ''
  const thinking = showsThinking ? text : ''
  return [
    ...(text || signature ? [{ type: 'thinking', thinking, signature }] : []),
    ...details.flatMap(({ data }) => (data ? [{ type: 'redacted_thinking', data }] : [])),
  ]
}

function textBlocks(message: Json, refusal: string): Json[] {
  const text = textOf(message.content) + refusal
  const citations = citationsOf(message)
  return text ? [{ type: 'text', text, citations: citations.length > 0 ? citations : null }] : []
}

function toToolUse({ function: called }: Json, id: string): Json {
  const { name, arguments: text } = recordOf(called)
  const json = asString(text)
  // A model may write arguments that are no JSON. The client then sees what it wrote.
  const input = json === '' ? {} : (parseRecord(json) ?? { arguments: json })
  return { type: 'tool_use', id, name: asString(name), input }
}

/** Returns the fields that say why a message ended. */
export function readEnd(
  { finish, stop, hasCalls, refusal }: ChatEnd,
  options: MessageOptions,
): Json {
  if (refusal) {
    const stop_details = { type: 'refusal', category: null, explanation: refusal }
    return { stop_reason: 'refusal', stop_sequence: null, stop_details }
  }
  const stop_sequence = options.stopSequences.find((mark) => mark === stop) ?? null
  return { stop_reason: stopReasonOf(finish, hasCalls, stop_sequence), stop_sequence }
}

function stopReasonOf(finish: unknown, hasCalls: boolean, sequence: string | null): string {
  if (finish === 'length') return 'max_tokens'
  if (finish === 'content_filter') return 'refusal'
  if (hasCalls) return 'tool_use'
  return sequence === null ? 'end_turn' : 'stop_sequence'
}

/**
 * Converts a chat's usage, with its cost in USD if known. Anthropic's input_tokens exclude the
 * cache, OpenAI's prompt_tokens include it.
 */
export function toUsage(usage: Json): Json {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  const read = countOf(recordOf(prompt).cached_tokens)
  const written = countOf(recordOf(prompt).cache_write_tokens)
  return {
    input_tokens: Math.max(0, countOf(usage.prompt_tokens) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: countOf(usage.completion_tokens),
    output_tokens_details: { thinking_tokens: countOf(recordOf(completion).reasoning_tokens) },
    server_tool_use: null,
    ...(typeof usage.cost === 'number' && { cost: usage.cost }),
  }
}
