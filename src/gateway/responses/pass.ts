import { asString, isRecord, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { FinalUsage } from '../conversation/codec.ts'
import { jsonOf } from '../conversation/json-reader.ts'
import { callIdOf } from '../conversation/tools.ts'
import { bytesOf, encodeNamedEvents, eventOf, noBytes, type StreamEvent } from '../events.ts'
import { chargedUsage } from '../models/usage.ts'

export interface ResponseError {
  code: string
  message: string
}

export interface PassOptions {
  /** The model's id as the client asked for it. */
  model: string
  /** Receives every finished item. */
  onItem(item: Json): void
  /** Runs before the response ends. */
  onFinish?: () => Promise<void>
}

/** Events that end a response. */
const lastTypes: unknown[] = ['response.completed', 'response.incomplete']

/** Returns a whole response with the charge, which it does not have, and the client's model. */
export async function passWhole(
  response: Json,
  { cost }: FinalUsage,
  { model, onItem, onFinish }: PassOptions,
): Promise<Json> {
  const complete = completeOutput(response, callIdOf())
  for (const item of recordsIn(complete.output)) if (typeof item.id === 'string') onItem(item)
  await onFinish?.()
  return { ...complete, model, usage: chargedUsage(response.usage, cost) }
}

/** Returns a response whose calls have ids, and their arguments as text. */
function completeOutput(response: Json, base: string): Json {
  const items = recordsIn(response.output)
  const complete = items.map((item, at) => completeCall(item, `${base}_${at}`))
  return complete.some((item, at) => item !== items[at])
    ? { ...response, output: complete }
    : response
}

/**
 * Returns a call with an id, and with its arguments as text; any other item as it is. `ownId`: the
 * id of a call that the upstream sent without one.
 */
function completeCall(item: Json, ownId?: string): Json {
  const { type, id, call_id, arguments: args } = item
  const isWhole = asString(call_id) !== '' && !isRecord(args)
  if (isWhole || (type !== 'function_call' && type !== 'custom_tool_call')) return item
  const text = isRecord(args) ? { arguments: JSON.stringify(args) } : {}
  return { ...item, call_id: callIdOf(call_id, id, ownId), ...text }
}

/** The events of an upstream with this API, which are passed on as they are. */
export class PassedEvents {
  private first: Json | undefined
  private previous: Json | undefined
  /** The event that ends the response. It waits until its items are stored. */
  private last: { event: StreamEvent; data: Json } | undefined
  /** The start of ids for calls without one. The index of a call in the output follows. */
  private readonly base = callIdOf()

  constructor(private readonly options: PassOptions) {}

  get hasEvents(): boolean {
    return this.first !== undefined
  }

  /** Returns the event for the client; undefined for the last one, which `end` returns. */
  pass(event: StreamEvent, events: readonly ChatEvent[]): StreamEvent | undefined {
    const data = jsonOf(event, events)
    if (!data) return event
    this.first ??= data
    this.previous = data
    const { type, item, output_index: at } = data
    const isDone = type === 'response.output_item.done' && isRecord(item)
    if (isDone && typeof item.id === 'string') this.options.onItem(this.complete(item, at))
    if (!lastTypes.includes(type)) return this.rewrite(event, data)
    this.last = { event, data }
    return undefined
  }

  /** Returns the event that ends the response. */
  async end(): Promise<Uint8Array> {
    await this.options.onFinish?.()
    return this.last ? bytesOf([this.rewrite(this.last.event, this.last.data)]) : noBytes
  }

  /** Returns the events of an error of this gateway after those of the upstream. */
  fail({ code, message }: ResponseError): Uint8Array {
    const { first, previous } = this
    const { model } = this.options
    const sent = [previous, first].map((data) => data?.sequence_number)
    const number = sent.find((one) => typeof one === 'number') ?? -1
    const failed = { ...recordOf(first?.response), model, status: 'failed' }
    return encodeNamedEvents([
      { type: 'error', sequence_number: number + 1, code, message, param: null },
      {
        type: 'response.failed',
        sequence_number: number + 2,
        response: { ...failed, error: { code, message } },
      },
    ])
  }

  /** Returns an item of an event, at an index of the output, with the id of its call. */
  private complete(item: Json, at: unknown): Json {
    return completeCall(item, typeof at === 'number' ? `${this.base}_${at}` : undefined)
  }

  /** Returns an event with the client's model and without the operator's cost; else itself. */
  private rewrite(event: StreamEvent, data: Json): StreamEvent {
    const { item, output_index: at } = data
    if (isRecord(item)) {
      const complete = this.complete(item, at)
      return complete === item ? event : eventOf(encodeNamedEvents([{ ...data, item: complete }]))
    }
    if (!isRecord(data.response)) return event
    const response = completeOutput(data.response, this.base)
    const { usage } = response
    const isNamed = typeof response.model === 'string' && response.model !== this.options.model
    const hasCost = isRecord(usage) && usage.cost !== undefined
    if (!isNamed && !hasCost && response === data.response) return event
    const changed = {
      ...response,
      ...(isNamed && { model: this.options.model }),
      ...(isRecord(usage) && { usage: chargedUsage(usage) }),
    }
    return eventOf(encodeNamedEvents([{ ...data, response: changed }]))
  }
}
