import { isRecord, type Json, recordOf } from '../../core/schema.ts'
import { recordsIn } from '../../providers/response.ts'

/** The kinds of output parts, with OpenAI's names of their fields and events. */
export const partKinds = {
  text: {
    item: 'message',
    type: 'output_text',
    field: 'text',
    part: 'response.content_part',
    piece: 'response.output_text',
    index: 'content_index',
  },
  refusal: {
    item: 'message',
    type: 'refusal',
    field: 'refusal',
    part: 'response.content_part',
    piece: 'response.refusal',
    index: 'content_index',
  },
  // Clients of the Responses API read a model's reasoning from its summary.
  reasoning: {
    item: 'reasoning',
    type: 'summary_text',
    field: 'text',
    part: 'response.reasoning_summary_part',
    piece: 'response.reasoning_summary_text',
    index: 'summary_index',
  },
} as const

export type PartKind = keyof typeof partKinds

interface Part {
  kind: PartKind
  text: string
  annotations: Json[]
  logprobs: Json[]
}

type Status = 'in_progress' | 'completed' | 'incomplete'

export interface TextItem {
  type: 'message' | 'reasoning'
  id: string
  at: number
  status: Status
  parts: Part[]
}

/** A call of a function. */
export interface FunctionCallItem {
  type: 'function_call'
  id: string
  at: number
  status: Status
  /** Its index among the calls of the chat message. */
  index: number
  /** Empty until the chat sends one. */
  callId: string
  name: string
  namespace?: string
  args: string
}

export type Item = TextItem | FunctionCallItem

export const isTextItem = (item: Item | undefined): item is TextItem =>
  item !== undefined && item.type !== 'function_call'

export const presentPart = ({ kind, text, annotations, logprobs }: Part): Json => {
  const { type, field } = partKinds[kind]
  return { type, [field]: text, ...(kind === 'text' && { annotations, logprobs }) }
}

export const logprobsField = (kind: PartKind, logprobs: Json[]): Json =>
  kind === 'text' ? { logprobs } : {}

/** Returns an item of `output` in its current state. */
export function presentItem(item: Item): Json {
  const { type, id, status } = item
  if (type === 'function_call') {
    const { callId, name, namespace, args: sent } = item
    const call_id = callId || id.replace('fc_', 'call_')
    const called = { id, type, status, call_id, name, arguments: sent }
    return namespace === undefined ? called : { ...called, namespace }
  }
  const parts = item.parts.map(presentPart)
  return type === 'message'
    ? { id, type, status, role: 'assistant', content: parts }
    : { id, type, status, summary: parts }
}

/** Yields the texts of a chat message or delta, in the order of their events. */
export function* readTexts(message: Json): Generator<[PartKind, string]> {
  yield ['reasoning', textOf(message.reasoning_content ?? message.reasoning)]
  yield ['text', textOf(message.content)]
  yield ['refusal', textOf(message.refusal)]
}

export const annotationsOf = ({ annotations }: Json): Json[] =>
  recordsIn(annotations).flatMap((one) =>
    isRecord(one.url_citation) ? [{ type: 'url_citation', ...one.url_citation }] : [],
  )

export const logprobsOf = ({ logprobs }: Json): Json[] =>
  recordsIn(recordOf(logprobs).content).map(({ top_logprobs, ...token }) => ({
    ...logprobOf(token),
    top_logprobs: recordsIn(top_logprobs).map(logprobOf),
  }))

const logprobOf = ({ token, bytes, logprob }: Json): Json => ({
  token,
  bytes: bytes ?? [],
  logprob,
})

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => textOf(recordOf(part).text)).join('')
}

/** Returns a chat's usage in the fields of Responses, with its cost if known. */
export function presentUsage(usage: Json): Json {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  const [input, output] = [countOf(usage.prompt_tokens), countOf(usage.completion_tokens)]
  const { cached_tokens, cache_write_tokens } = recordOf(prompt)
  const { reasoning_tokens } = recordOf(completion)
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: countOf(cached_tokens),
      cache_write_tokens: countOf(cache_write_tokens),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: countOf(reasoning_tokens) },
    total_tokens: input + output,
    ...(typeof usage.cost === 'number' && { cost: usage.cost }),
  }
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
