import { isRecord, type Json, pickFields, recordOf } from '../../kernel/schema.ts'
import { countBytesBeside, type EventConverter, type NativeChat } from '../chat/native-chat.ts'
import { asString, parseRecord, recordsIn } from '../providers/response.ts'
import { ignoredFields, type ResponsesRequest } from './request.ts'
import { isSearch } from './tools.ts'

/** Fields that upstreams with the Responses API receive: they cost nothing beside the tokens. */
const freeFields = new Set([
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
])

/** Fields of this gateway, and one that it sets itself. */
const ownFields = ['model', 'models', 'provider', 'web_search', 'store', 'previous_response_id']
const knownFields = new Set([...freeFields, ...ownFields])

/** Options of reasoning; the mode `pro` is not among them, because it has a price of its own. */
const reasoningFields = new Set(['context', 'effort', 'generate_summary', 'summary'])

/**
 * Returns a Responses request for upstreams with the Responses API: unchanged, except for what
 * would cost more than the hold covers. Nothing is stored there. Undefined for a request that this
 * gateway stores or continues, or that refers to uploads of this server.
 */
export function toNativeChat(
  raw: unknown,
  { input, isStored }: Pick<ResponsesRequest, 'input' | 'isStored'>,
): (NativeChat & { ignored: string[] }) | undefined {
  const sent = recordOf(raw)
  if (isStored || sent.previous_response_id || input.some(hasUpload)) return undefined
  const { tools, reasoning } = sent
  const items = typeof sent.input === 'string' ? sent.input : toNativeItems(input)
  const body = {
    ...pickFields(sent, freeFields),
    input: items,
    ...(Array.isArray(tools) && { tools: tools.filter((tool) => !isSearch(tool)) }),
    ...(isRecord(reasoning) && { reasoning: pickFields(reasoning, reasoningFields) }),
    store: false,
  }
  return {
    kind: 'responses',
    request: {
      build: (model, limit) => ({
        path: '/responses',
        body: { ...body, model, ...(limit !== undefined && { max_output_tokens: limit }) },
      }),
    },
    usageName: 'usage',
    ignored: ignoredFields(sent, knownFields),
    hasFallback: true,
    countBytes: () => countBytesBeside(imagesOf(input), body),
    toCompletion,
    createConverter,
  }
}

const partsOf = ({ content, output }: Json): Json[] => [...recordsIn(content), ...recordsIn(output)]

const hasUpload = (item: Json): boolean =>
  partsOf(item).some(({ file_id }) => typeof file_id === 'string')

/** The ids of items that this gateway made. Upstreams reject some of them, and need none. */
const ownId = /^[a-z]+_[0-9a-f]{32}\d{1,4}$/

const isReasoning = ({ type }: Json): boolean => type === 'reasoning'

/**
 * Returns items as they were sent, without reasoning that the upstream could not read. OpenAI
 * requires that reasoning beside items with its ids, so they have none then.
 */
function toNativeItems(input: Json[]): Json[] {
  const items = input.filter((item) => !isReasoning(item) || Boolean(item.encrypted_content))
  const hasAll = items.length === input.length
  return items.map((item) => {
    const { id, ...rest } = item
    const isKept = hasAll && !ownId.test(asString(id))
    return isReasoning(item) || isKept ? item : rest
  })
}

const imagesOf = (input: Json[]): unknown[] =>
  input.flatMap(partsOf).map(({ image_url }) => image_url)

function toCompletion({ output, usage, status, incomplete_details, error }: Json): Json {
  const items = recordsIn(output)
  const texts = items.filter(({ type }) => type === 'message').flatMap(partsOf)
  const join = (list: Json[], field: string) => list.map((one) => asString(one[field])).join('')
  const thoughts = items.flatMap(({ type, summary, content }) =>
    type === 'reasoning' ? [...recordsIn(summary), ...recordsIn(content)] : [],
  )
  const message = {
    content: join(texts, 'text'),
    refusal: join(texts, 'refusal'),
    reasoning_content: join(thoughts, 'text'),
    tool_calls: items.flatMap(toCalls),
  }
  const finish_reason = finishOf(status, incomplete_details)
  return { choices: [{ index: 0, message, finish_reason }], usage, error }
}

const toCall = (name: unknown, text: unknown): Json => ({ function: { name, arguments: text } })

/** Returns the calls of an item: one, unless it is a message or reasoning. */
function toCalls({ type, name, arguments: args, input }: Json): Json[] {
  if (type === 'message' || type === 'reasoning') return []
  const text = args ?? input ?? ''
  return [toCall(name ?? type, typeof text === 'string' ? text : JSON.stringify(text))]
}

function finishOf(status: unknown, details: unknown): string {
  if (status !== 'incomplete') return 'stop'
  return recordOf(details).reason === 'content_filter' ? 'content_filter' : 'length'
}

const toChunk = (chunk: Json): string => JSON.stringify(chunk)
const toDelta = (delta: Json): string => toChunk({ choices: [{ index: 0, delta }] })

/** Events that end a response. */
export const lastTypes = ['response.completed', 'response.incomplete']

/** Creates the converter of one stream. The usage is in the last event. */
const createConverter = (): EventConverter => ({ read })

function read(data: string): string | undefined {
  const event = parseRecord(data)
  // Text that is no JSON breaks the stream off.
  if (!event) return data
  const { type, delta, item } = event
  if (typeof delta === 'string') return delta === '' ? undefined : toDelta(readDelta(type, delta))
  if (type === 'response.output_item.added') return toStart(recordOf(item))
  if (type === 'response.output_item.done') return toWhole(recordOf(item))
  if (type === 'error') return toChunk({ error: event.error ?? withoutType(event) })
  const { status, incomplete_details, error, usage } = recordOf(event.response)
  if (type === 'response.failed') return toChunk({ error: error ?? {}, usage })
  if (!lastTypes.includes(String(type))) return undefined
  const finish_reason = finishOf(status, incomplete_details)
  return toChunk({ choices: [{ index: 0, delta: {}, finish_reason }], usage, isLast: true })
}

const withoutType = ({ type: _, ...error }: Json): Json => error

function readDelta(type: unknown, delta: string): Json {
  const name = String(type)
  if (name.includes('output_text')) return { content: delta }
  if (name.includes('refusal')) return { refusal: delta }
  if (name.includes('reasoning')) return { reasoning_content: delta }
  return { tool_calls: [toCall(undefined, delta)] }
}

/** Returns the name of a call. The text of the item follows. */
const toStart = ({ name }: Json): string | undefined =>
  typeof name === 'string' ? toDelta({ tool_calls: [toCall(name, '')] }) : undefined

/** Item types whose text has arrived in deltas. */
const streamedTypes = ['message', 'reasoning', 'function_call', 'custom_tool_call']

const toWhole = (item: Json): string | undefined =>
  streamedTypes.includes(String(item.type)) ? undefined : toDelta({ tool_calls: toCalls(item) })
