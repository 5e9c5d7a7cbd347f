import { isRecord, recordOf } from '../../core/schema.ts'
import { recordsIn } from '../../providers/response.ts'

type Json = Record<string, unknown>

/** What a part of an answer is, and how OpenAI names its fields and events. */
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
  // Chats hand a model's thoughts on as they are; this is where clients of Responses look for them.
  thought: {
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
  /** The pages that it stands on. */
  annotations: Json[]
  /** How likely its tokens were, where that was asked for. */
  logprobs: Json[]
}

type Status = 'in_progress' | 'completed' | 'incomplete'

/** A message or the thoughts before one. */
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
  /** Its place among the calls of the chat's message. */
  index: number
  /** Empty until the chat tells one. */
  callId: string
  name: string
  namespace?: string
  sent: string
}

export type Item = TextItem | FunctionCallItem

export const isSpoken = (item: Item | undefined): item is TextItem =>
  item !== undefined && item.type !== 'function_call'

export const presentPart = ({ kind, text, annotations, logprobs }: Part): Json => {
  const { type, field } = partKinds[kind]
  return { type, [field]: text, ...(kind === 'text' && { annotations, logprobs }) }
}

/** How likely tokens are is told of a text alone, and of each: clients look for the list. */
export const besideText = (kind: PartKind, logprobs: Json[]): Json =>
  kind === 'text' ? { logprobs } : {}

/** An item of `output`, as far as it has come. */
export function presentItem(item: Item): Json {
  const { type, id, status } = item
  if (type === 'function_call') {
    const { callId, name, namespace, sent } = item
    const call_id = callId || id.replace('fc_', 'call_')
    const called = { id, type, status, call_id, name, arguments: sent }
    return namespace === undefined ? called : { ...called, namespace }
  }
  const parts = item.parts.map(presentPart)
  return type === 'message'
    ? { id, type, status, role: 'assistant', content: parts }
    : { id, type, status, summary: parts }
}

/** The pieces of a chat's message, or of one delta of it, in the order they are told. */
export function* piecesOf(held: Json): Generator<[PartKind, string]> {
  yield ['thought', textOf(held.reasoning_content ?? held.reasoning)]
  yield ['text', textOf(held.content)]
  yield ['refusal', textOf(held.refusal)]
}

/** The pages that a chat's message, or a delta of it, names, each as Responses has it. */
export const annotationsOf = ({ annotations }: Json): Json[] =>
  recordsIn(annotations).flatMap((one) =>
    isRecord(one.url_citation) ? [{ type: 'url_citation', ...one.url_citation }] : [],
  )

/** How likely the tokens of a chat's choice were, or of one delta of it. */
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
