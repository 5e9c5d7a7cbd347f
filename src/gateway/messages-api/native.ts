import { isRecord, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import { countBytesBeside, type EventConverter, type NativeChat } from '../chat/native-chat.ts'
import { limitOutput } from '../providers/ai-sdk/provider-kinds.ts'
import { asString, parseRecord, recordsIn } from '../providers/response.ts'

/** Fields of this gateway, and a tier whose price may be higher. Betas are in a header. */
const gatewayFields = ['models', 'provider', 'web_search', 'service_tier', 'betas']

/** Betas that cost nothing beside the tokens. Anthropic rejects the fields of those not sent. */
const freeBetas =
  /^(claude-code|context-management|effort|fine-grained-tool-streaming|interleaved-thinking|mid-conversation-system|output-128k|pdfs|prompt-caching|prompt-caching-scope|structured-outputs|thinking-token-count|token-efficient-tools)-\d{4}-\d\d-\d\d$/

/**
 * Returns a request of the Messages API for upstreams of Anthropic: unchanged, except for what
 * would cost more than the hold covers. Undefined without an output limit, which is required.
 */
export function toNativeChat(raw: unknown, headers: Headers): NativeChat | undefined {
  const body = recordOf(raw)
  if (typeof body.max_tokens !== 'number') return undefined
  const fields = Object.fromEntries(
    Object.entries(body).filter(([name]) => !gatewayFields.includes(name)),
  )
  const own = withoutTtl({
    ...fields,
    ...(body.system !== undefined && { system: mapRecords(body.system, withoutTtl) }),
    ...(body.tools !== undefined && { tools: mapRecords(body.tools, withoutTtl) }),
    messages: mapRecords(body.messages, toNativeMessage),
  })
  return {
    kind: 'anthropic',
    request: {
      build: (model, limit) => ({ path: '/messages', body: build(own, model, limit) }),
      headers: nativeHeaders(headers),
    },
    usageName: 'usage',
    countBytes: () => countBytesBeside(mediaOf(own), own),
    toCompletion,
    createConverter,
  }
}

/** Returns the data of images and PDF documents. Those of text are a part of the prompt. */
function mediaOf({ messages }: Json): unknown[] {
  const blocks = recordsIn(messages).flatMap(({ content }) => recordsIn(content))
  return [...blocks, ...blocks.flatMap(({ content }) => recordsIn(content))]
    .map(({ source }) => recordOf(source))
    .filter(({ type }) => type === 'base64')
    .map(({ data }) => data)
}

function build(own: Json, model: string, limit: number | undefined): Json {
  const { thinking } = own
  // The output limit changes both objects.
  const body = { ...own, model, ...(isRecord(thinking) && { thinking: { ...thinking } }) }
  if (limit !== undefined) limitOutput(body, limit)
  return body
}

const mapRecords = (list: unknown, change: (item: Json) => Json): unknown =>
  Array.isArray(list) ? recordsIn(list).map(change) : list

/** Removes `ttl` from a cache mark: an hour in the cache costs more than the price covers. */
const withoutTtl = (value: Json): Json =>
  isRecord(value.cache_control)
    ? { ...value, cache_control: { ...value.cache_control, ttl: undefined } }
    : value

function toNativeMessage(message: Json): Json {
  if (!Array.isArray(message.content)) return message
  const blocks = recordsIn(message.content).filter((block) => !isUnsigned(block))
  return { ...message, content: blocks.map(toNativeBlock) }
}

/** Removes `ttl` from a block and from the blocks in it: results and documents contain blocks. */
function toNativeBlock(block: Json): Json {
  const { content, source } = block
  return withoutTtl({
    ...block,
    ...(Array.isArray(content) && { content: mapRecords(content, toNativeBlock) }),
    ...(isRecord(source) &&
      Array.isArray(source.content) && {
        source: { ...source, content: mapRecords(source.content, toNativeBlock) },
      }),
  })
}

/** Returns whether a block is the reasoning of another model, which Anthropic rejects. */
const isUnsigned = ({ type, signature }: Json): boolean => type === 'thinking' && !signature

function nativeHeaders(headers: Headers): Record<string, string> {
  const betas = (headers.get('anthropic-beta') ?? '').split(',').map((beta) => beta.trim())
  const free = betas.filter((beta) => freeBetas.test(beta)).join(',')
  return {
    'anthropic-version': headers.get('anthropic-version') ?? '2023-06-01',
    ...(free && { 'anthropic-beta': free }),
  }
}

const finishReasons: Record<string, string> = { max_tokens: 'length', refusal: 'content_filter' }

const finishOf = (reason: unknown): string => lookUp(finishReasons, reason) ?? 'stop'

function toCompletion({ content, stop_reason, usage }: Json): Json {
  const blocks = recordsIn(content)
  const join = (field: string) => blocks.map((block) => asString(block[field])).join('')
  const calls = blocks.filter(({ type }) => type === 'tool_use')
  const message = {
    content: join('text'),
    reasoning_content: join('thinking'),
    tool_calls: calls.map(({ name, input }) => toCall(name, JSON.stringify(input ?? {}))),
  }
  const choices = [{ index: 0, message, finish_reason: finishOf(stop_reason) }]
  return { choices, usage: toChatUsage(recordOf(usage)) }
}

const toCall = (name: unknown, text: unknown): Json => ({ function: { name, arguments: text } })

/** Converts a usage; undefined without counts, so that the gateway counts itself. */
function toChatUsage(usage: Json): Json | undefined {
  const { input_tokens: input, output_tokens: output } = usage
  if (typeof input !== 'number' || typeof output !== 'number') return undefined
  const read = Number(usage.cache_read_input_tokens ?? 0)
  const written = Number(usage.cache_creation_input_tokens ?? 0)
  const prompt = input + read + written
  const { thinking_tokens } = recordOf(usage.output_tokens_details)
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: thinking_tokens ?? 0 },
  }
}

/** Creates the converter of one stream. Anthropic reports its usage in two events. */
function createConverter(): EventConverter {
  let usage: Json = {}
  const read = (data: string): string | undefined => {
    const event = parseRecord(data)
    // Text that is no JSON breaks the stream off.
    if (!event) return data
    if (event.type === 'message_start') {
      usage = recordOf(recordOf(event.message).usage)
      const prompt = toChatUsage({ ...usage, output_tokens: 0 })
      return prompt && toChunk([], prompt)
    }
    if (event.type === 'message_delta') {
      const reported = Object.entries(recordOf(event.usage)).filter(([, value]) => value !== null)
      usage = { ...usage, ...Object.fromEntries(reported) }
      const finish_reason = finishOf(recordOf(event.delta).stop_reason)
      return toChunk([{ index: 0, delta: {}, finish_reason }], toChatUsage(usage))
    }
    if (event.type === 'message_stop') return '[DONE]'
    if (event.type === 'error') return JSON.stringify({ error: event.error ?? {} })
    const delta = deltaOf(event)
    return delta && toChunk([{ index: 0, delta }])
  }
  return { read }
}

const toChunk = (choices: Json[], usage?: Json): string => JSON.stringify({ choices, usage })

/** Returns the content of an event; undefined for one without content. */
function deltaOf({ type, delta: raw, content_block }: Json): Json | undefined {
  if (type === 'content_block_start') {
    const { type: kind, name } = recordOf(content_block)
    return kind === 'tool_use' ? { tool_calls: [toCall(name, '')] } : undefined
  }
  if (type !== 'content_block_delta') return undefined
  const { text, thinking, partial_json } = recordOf(raw)
  if (text) return { content: text }
  if (thinking) return { reasoning_content: thinking }
  return partial_json ? { tool_calls: [toCall(undefined, partial_json)] } : undefined
}
