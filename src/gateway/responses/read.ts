import { asString, isRecord, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import {
  type ChatEvent,
  citationEvents,
  startEvent,
  usageEvents,
} from '../conversation/chat-event.ts'
import { JsonReader } from '../conversation/json-reader.ts'
import { parseSeal } from '../conversation/sealed-thought.ts'
import { callIdOf } from '../conversation/tools.ts'
import { type ReportedUsage, reportOf } from '../models/usage.ts'

/** Upstreams have one completion in this API. */
const choice = 0

/** The state of an item of a stream. */
interface ReadItem {
  id: string
  index: unknown
  /** The number of the call; undefined for text and reasoning. */
  call?: number
  /** True if some of its text has arrived. */
  hasText: boolean
}

export function readWhole(response: Json): ChatEvent[] {
  const reader = new ResponsesReader()
  return [
    startEvent(response.id, response.created_at),
    ...reader.readOutput(response),
    ...reader.readEnd(response),
  ]
}

/** Reads the events of one stream. The usage is in the last event. */
export class ResponsesReader extends JsonReader {
  private readonly items: ReadItem[] = []
  private calls = 0

  readJson(event: Json): ChatEvent[] | undefined {
    const { type, error, response } = event
    if (type === 'error' || (type === undefined && isRecord(error))) return [readError(event)]
    if (typeof type !== 'string') return undefined
    switch (type) {
      case 'response.created': {
        const { id, created_at } = recordOf(response)
        return [startEvent(id, created_at)]
      }
      case 'response.output_item.added':
        return this.open(event)
      case 'response.output_item.done':
        return this.readItem(recordOf(event.item), event.output_index)
      case 'response.reasoning_summary_part.added':
        return this.separate(event)
      case 'response.output_text.annotation.added':
        return citationsOf([recordOf(event.annotation)])
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.finish(type, recordOf(response))
      default:
        return typeof event.delta === 'string' ? this.readDelta(type, event, event.delta) : []
    }
  }

  readOutput({ output }: Json): ChatEvent[] {
    return recordsIn(output).flatMap((item, at) => this.readItem(item, at))
  }

  /** Reads the end of a response: its reason or its error, and its usage. */
  readEnd({ status, incomplete_details, error, usage }: Json): ChatEvent[] {
    const used = usageEvents(reportedBy(usage))
    if (status === 'failed' || isRecord(error)) return [readError({ error }), ...used]
    const { reason: why } = recordOf(incomplete_details)
    const finished = this.calls > 0 ? 'calls' : 'stop'
    const cut = why === 'content_filter' ? 'filtered' : 'length'
    const reason = status === 'incomplete' ? cut : finished
    return [{ type: 'end', choice, reason }, ...used, { type: 'done' }]
  }

  private finish(type: string, response: Json): ChatEvent[] {
    // Some upstreams have the output in their last event only.
    const missed = this.items.length === 0 ? this.readOutput(response) : []
    return [...missed, ...this.readEnd({ ...response, status: type.slice('response.'.length) })]
  }

  private open({ item, output_index }: Json): ChatEvent[] {
    const opened = recordOf(item)
    const read = this.add(opened.id, output_index)
    return streamedCalls.has(String(opened.type)) ? this.startCall(read, opened) : []
  }

  private add(id: unknown, index: unknown): ReadItem {
    const item = { id: asString(id), index, hasText: false }
    this.items.push(item)
    return item
  }

  /** Returns the steps of a finished item that no delta had. */
  private readItem(item: Json, index: unknown): ChatEvent[] {
    const { id, type } = item
    const read = this.find({ item_id: id, output_index: index }) ?? this.add(id, index)
    const { hasText } = read
    read.hasText = true
    if (type === 'message') return hasText ? [] : recordsIn(item.content).flatMap(readPart)
    if (type === 'reasoning') return [...(hasText ? [] : readThought(item)), ...signatureOf(item)]
    const started = read.call === undefined ? this.startCall(read, item) : []
    const { call } = read
    const text = hasText ? '' : argumentsOf(item)
    if (call === undefined || text === '') return started
    return [...started, { type: 'arguments', choice, call, text }]
  }

  /** Starts a call. Items without an id of their call ran at the upstream. */
  private startCall(read: ReadItem, { type, id, call_id, name }: Json): ChatEvent[] {
    if (!streamedCalls.has(String(type)) && typeof call_id !== 'string') return []
    const call = this.calls
    this.calls += 1
    read.call = call
    return [
      {
        type: 'call',
        choice,
        call,
        id: callIdOf(call_id, id),
        name: asString(name) || String(type).replace(/_call$/, ''),
        ...(type === 'custom_tool_call' && { isCustom: true }),
      },
    ]
  }

  /**
   * Returns the item of an event. Some upstreams change ids, and others leave indexes out. An item
   * without either has all events.
   */
  private find({ item_id, output_index }: Json): ReadItem | undefined {
    return (
      this.items.findLast(({ id }) => id !== '' && id === item_id) ??
      this.items.findLast(({ index }) => index !== undefined && index === output_index) ??
      this.items.findLast(({ id, index }) => id === '' && index === undefined)
    )
  }

  /** Separates a further part of a summary from the one before it. */
  private separate({ summary_index }: Json): ChatEvent[] {
    const isFurther = typeof summary_index === 'number' && summary_index > 0
    return isFurther ? [{ type: 'thinking', choice, text: '\n\n' }] : []
  }

  private readDelta(type: string, event: Json, text: string): ChatEvent[] {
    if (text === '') return []
    const item = this.find(event) ?? this.add(event.item_id, event.output_index)
    const read = deltaOf(type, text, event, item.call)
    if (read) item.hasText = true
    return read ? [read] : []
  }
}

function deltaOf(
  type: string,
  text: string,
  event: Json,
  call: number | undefined,
): ChatEvent | undefined {
  if (type.includes('output_text')) {
    const logprobs = recordsIn(event.logprobs)
    return { type: 'text', choice, text, ...(logprobs.length > 0 && { logprobs }) }
  }
  if (type.includes('refusal')) return { type: 'refusal', choice, text }
  if (type.includes('reasoning')) return { type: 'thinking', choice, text }
  if (type.includes('audio')) return { type: 'audio', choice, text }
  // The finished item has the arguments of a call that has not started.
  return call === undefined ? undefined : { type: 'arguments', choice, call, text }
}

/** Item types whose text arrives in deltas. */
const streamedCalls = new Set(['function_call', 'custom_tool_call'])

/** Returns the usage without its own fields: they are those of this API alone. */
function reportedBy(usage: unknown): ReportedUsage | undefined {
  const report = reportOf(usage)
  if (!report) return undefined
  const { own: _, ...counts } = report
  return counts
}

/** Reads an error: that of an event, or its fields beside the type. */
function readError({ type: _type, sequence_number: _number, error, ...beside }: Json): ChatEvent {
  const fields = isRecord(error) ? error : beside
  return { type: 'error', error: { type: 'server_error', ...fields } }
}

/** Reads a part of a whole message. */
function readPart({ type, text, refusal, logprobs, annotations }: Json): ChatEvent[] {
  if (type === 'refusal') {
    const words = asString(refusal)
    return words === '' ? [] : [{ type, choice, text: words }]
  }
  const written = asString(text)
  if (written === '') return []
  const likely = recordsIn(logprobs)
  return [
    { type: 'text', choice, text: written, ...(likely.length > 0 && { logprobs: likely }) },
    ...citationsOf(recordsIn(annotations)),
  ]
}

/** Returns the text of a reasoning item; '' where the API hides it. */
export function thoughtText({ summary, content }: Json): string {
  const texts = [...recordsIn(summary), ...recordsIn(content)].map(({ text }) => asString(text))
  return texts.filter((text) => text !== '').join('\n\n')
}

function readThought(item: Json): ChatEvent[] {
  const text = thoughtText(item)
  return text === '' ? [] : [{ type: 'thinking', choice, text }]
}

function signatureOf({ id, encrypted_content }: Json): ChatEvent[] {
  const signature = asString(encrypted_content)
  // Another server of this kind seals a thought without a signature.
  if (parseSeal(signature, 'responses').signature === '') return []
  const named = typeof id === 'string' ? { id } : {}
  return [
    { type: 'signature', choice, signature, isEncrypted: true, origin: 'responses', ...named },
  ]
}

/** Returns the text of a call: arguments, or the input of a custom tool. */
function argumentsOf({ type, arguments: args, input }: Json): string {
  const text = args ?? input ?? ''
  if (typeof text !== 'string') return JSON.stringify(text)
  return text === '' && type === 'function_call' ? '{}' : text
}

const citationsOf = (annotations: Json[]): ChatEvent[] =>
  annotations.flatMap(({ type, url, title, start_index: start, end_index: end }) =>
    type === 'url_citation' ? citationEvents(choice, { url, title, start, end }) : [],
  )
