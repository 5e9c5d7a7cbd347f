import { asString, isRecord, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import {
  type ChatEvent,
  citationEvents,
  type EndReason,
  startEvent,
  usageEvents,
} from '../conversation/chat-event.ts'
import { JsonReader } from '../conversation/json-reader.ts'
import { callIdOf } from '../conversation/tools.ts'
import { CountReader, type ReportedUsage } from '../models/usage.ts'
import { textOf } from '../openai-chat/thinking.ts'

/** Cohere gives one choice. */
const choice = 0
const done: ChatEvent = { type: 'done' }

/** Reads a whole response of Cohere's chat API, as the events that a stream has of it. */
export function readWhole({ id, message, logprobs, ...ending }: Json): ChatEvent[] {
  const { content, tool_plan, tool_calls, citations } = recordOf(message)
  const parts = typeof content === 'string' ? [{ text: content }] : recordsIn(content)
  const thinking = parts.map((part) => asString(part.thinking)).join('')
  const spoken = { thinking, text: asString(tool_plan) + textOf(parts) }
  const calls = recordsIn(tool_calls).flatMap((call, index) => [
    { type: 'tool-call-start', index, delta: { message: { tool_calls: call } } },
    { type: 'tool-call-end', index },
  ])
  const reader = new CohereReader()
  const events: Json[] = [
    { type: 'message-start', id },
    { type: 'content-delta', delta: { message: { content: spoken, citations } }, logprobs },
    ...calls,
    { type: 'message-end', delta: ending },
  ]
  return [...events.flatMap((event) => reader.readJson(event)), ...reader.end()]
}

/** Reads the events of one stream. It ends after `message-end`, with or without `[DONE]`. */
export class CohereReader extends JsonReader {
  /** By call: whether arguments were sent. */
  private readonly calls: boolean[] = []
  /** By the index of an event: the call. */
  private readonly indexes = new Map<unknown, number>()
  private state: 'open' | 'ended' | 'over' = 'open'

  readJson(event: Json): ChatEvent[] {
    if (this.state === 'over') return []
    if (event.type === 'message-start') {
      return [startEvent(event.id)]
    }
    if (event.type === 'message-end') return this.readEnd(recordOf(event.delta))
    // An error of the provider's HTTP API has only an id and a message.
    if (event.type === undefined && typeof event.message === 'string') {
      return this.fail(undefined, event.message)
    }
    return this.readContent(event)
  }

  override end(): ChatEvent[] {
    return this.state === 'ended' ? this.readDone() : []
  }

  protected override readDone(): ChatEvent[] {
    if (this.state === 'over') return []
    this.state = 'over'
    return [done]
  }

  private fail(reason: unknown, error: unknown): ChatEvent[] {
    this.state = 'over'
    return [failure(reason, error)]
  }

  private readContent({ type, index, delta, logprobs }: Json): ChatEvent[] {
    if (type === 'tool-call-end') return this.endCall(this.indexes.get(index))
    const { content, tool_plan, tool_calls, citations } = recordOf(recordOf(delta).message)
    const { text, thinking } = recordOf(content)
    const call = isRecord(tool_calls) ? tool_calls : recordsIn(tool_calls)[0]
    return [
      ...thinkingEvents(asString(thinking)),
      ...textEvents(asString(text) + asString(tool_plan), logprobs),
      ...readCitations(citations),
      ...(call ? this.readCall(type === 'tool-call-start', index, call) : []),
    ]
  }

  private readCall(isStart: boolean, index: unknown, { id, function: fn }: Json): ChatEvent[] {
    const { name, arguments: args } = recordOf(fn)
    const started: ChatEvent[] = []
    if (isStart) {
      this.indexes.set(index, this.calls.length)
      started.push(startCall(id, name, this.calls.length))
      this.calls.push(false)
    }
    const call = this.indexes.get(index) ?? this.calls.length - 1
    const text = isRecord(args) ? JSON.stringify(args) : asString(args)
    const isEmpty = text === '' || (text === 'null' && this.calls[call] === false)
    if (isEmpty || call < 0) return started
    this.calls[call] = true
    return [...started, argumentsEvent(call, text)]
  }

  /** Completes a call without arguments: every client expects an object. */
  private endCall(call: number | undefined): ChatEvent[] {
    if (call === undefined || this.calls[call] !== false) return []
    this.calls[call] = true
    return [argumentsEvent(call, '{}')]
  }

  private readEnd({ finish_reason: reason, error, usage }: Json): ChatEvent[] {
    const used = usageEvents(readUsage(usage))
    if (failures.has(reason) || typeof error === 'string')
      return [...used, ...this.fail(reason, error)]
    this.state = 'ended'
    const completed = this.calls.flatMap((_, call) => this.endCall(call))
    return [...completed, endEvent(reason, this.calls.length > 0), ...used]
  }
}

const failures = new Set<unknown>(['ERROR', 'TIMEOUT'])

const failure = (reason: unknown, error: unknown): ChatEvent => {
  const message = asString(error) || `The provider ended the response: ${asString(reason)}.`
  return { type: 'error', error: { message, type: 'api_error', param: null, code: null } }
}

function endEvent(finish: unknown, hasCalls: boolean): ChatEvent {
  const isCall = finish === 'TOOL_CALL' || hasCalls
  const reason: EndReason = finish === 'MAX_TOKENS' ? 'length' : isCall ? 'calls' : 'stop'
  // Cohere does not say which one.
  return { type: 'end', choice, reason, ...(finish === 'STOP_SEQUENCE' && { stop: '' }) }
}

const thinkingEvents = (text: string): ChatEvent[] =>
  text === '' ? [] : [{ type: 'thinking', choice, text }]

function textEvents(text: string, logprobs: unknown): ChatEvent[] {
  if (text === '') return []
  const items = (isRecord(logprobs) ? [logprobs] : recordsIn(logprobs)).map(readLogprob)
  return [{ type: 'text', choice, text, ...(items.length > 0 && { logprobs: items }) }]
}

/** Converts the probability of a text to OpenAI's format. That of its tokens is their product. */
function readLogprob({ text, logprobs }: Json): Json {
  const token = asString(text)
  const values = [logprobs].flat().filter((value) => typeof value === 'number')
  const logprob = values.reduce((sum, value) => sum + value, 0)
  return { token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] }
}

/** Returns the citations of web pages. Others refer to documents that the client has. */
function readCitations(raw: unknown): ChatEvent[] {
  const citations = isRecord(raw) ? [raw] : recordsIn(raw)
  return citations.flatMap(({ start, end, sources }) =>
    recordsIn(sources).flatMap(({ document, tool_output }) => {
      const { url, title, text, snippet } = recordOf(document ?? tool_output)
      return citationEvents(choice, { url, title, content: text ?? snippet, start, end })
    }),
  )
}

const startCall = (id: unknown, name: unknown, call: number): ChatEvent => ({
  type: 'call',
  choice,
  call,
  id: callIdOf(id),
  name: asString(name),
})

const argumentsEvent = (call: number, text: string): ChatEvent => ({
  type: 'arguments',
  choice,
  call,
  text,
})

/**
 * Reads the tokens that Cohere bills: it bills none that its own template adds. Those are at the
 * start of the prompt, so they are the first in the cache.
 */
function readUsage(usage: unknown): ReportedUsage | undefined {
  const { billed_units, tokens: all, cached_tokens } = recordOf(usage)
  const [billed, counted] = [recordOf(billed_units), recordOf(all)]
  const reader = new CountReader()
  const prompt = reader.count(billed.input_tokens, counted.input_tokens)
  const completion = reader.count(billed.output_tokens, counted.output_tokens)
  const cached = reader.count(cached_tokens)
  const unbilled = Math.max((reader.count(counted.input_tokens) ?? 0) - (prompt ?? 0), 0)
  if (prompt === undefined && completion === undefined && !reader.isCorrected) return undefined
  return {
    prompt,
    completion,
    ...(cached !== undefined && { cached: Math.max(cached - unbilled, 0) }),
    isCorrected: reader.isCorrected,
  }
}
