import { type Json, parseRecord } from '../../kernel/schema.ts'
import { type ClientTool, customInput } from './tools.ts'

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
  /** The `encrypted_content` of reasoning. */
  sealed?: string
}

/** A call of a tool that the client runs. */
export interface CallItem {
  type: 'call'
  id: string
  at: number
  status: Status
  /** Its index among the calls of the chat message. */
  index: number
  callId: string
  tool: ClientTool
  args: string
}

export type Item = TextItem | CallItem

export const isTextItem = (item: Item | undefined): item is TextItem =>
  item !== undefined && item.type !== 'call'

export const presentPart = ({ kind, text, annotations, logprobs }: Part): Json => {
  const { type, field } = partKinds[kind]
  return { type, [field]: text, ...(kind === 'text' && { annotations, logprobs }) }
}

export const logprobsField = (kind: PartKind, logprobs: Json[]): Json =>
  kind === 'text' ? { logprobs } : {}

/** Returns an item of `output` in its current state. */
export function presentItem(item: Item): Json {
  if (item.type === 'call') return presentCall(item)
  const { type, id, status, sealed } = item
  const parts = item.parts.map(presentPart)
  if (type === 'message') return { id, type, status, role: 'assistant', content: parts }
  const encrypted = sealed !== undefined && { encrypted_content: sealed }
  return { id, type, status, summary: parts, ...encrypted }
}

/** Returns a call as an item of its kind of tool. */
function presentCall({ id, status, callId: call_id, tool, args }: CallItem): Json {
  switch (tool.type) {
    case 'custom': {
      const { name } = tool
      return { id, type: 'custom_tool_call', status, call_id, name, input: customInput(args) }
    }
    case 'tool_search': {
      const { execution } = tool
      const query = parseRecord(args) ?? {}
      return { id, type: 'tool_search_call', status, call_id, execution, arguments: query }
    }
    case 'function': {
      const { name, namespace } = tool
      const called = { id, type: 'function_call', status, call_id, name, arguments: args }
      return namespace === undefined ? called : { ...called, namespace }
    }
  }
}

/** Returns the last events of a call. The text of a custom tool is known when its JSON is whole. */
export function lastCallEvents({ id, at, tool, args }: CallItem): [name: string, fields: Json][] {
  const location = { item_id: id, output_index: at }
  if (tool.type === 'tool_search') return []
  if (tool.type === 'function') {
    const done = { ...location, name: tool.name, arguments: args }
    return [['response.function_call_arguments.done', done]]
  }
  const input = customInput(args)
  return [
    ['response.custom_tool_call_input.delta', { ...location, delta: input }],
    ['response.custom_tool_call_input.done', { ...location, input }],
  ]
}
