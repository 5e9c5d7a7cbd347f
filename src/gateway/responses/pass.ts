import { isRecord, type Json, parseRecord, recordOf, recordsIn } from '../../kernel/schema.ts'
import type { FinalUsage } from '../conversation/codec.ts'
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
const lastTypes = ['response.completed', 'response.incomplete']

/** Finds the events that are read here. Quotes in texts have a backslash before them. */
const isRead =
  /"type":\s*"response\.(created|queued|in_progress|output_item\.done|completed|incomplete)"/

/** Returns a whole response with the charge, which it does not have, and the client's model. */
export async function passWhole(
  response: Json,
  { cost }: FinalUsage,
  { model, onItem, onFinish }: PassOptions,
): Promise<Json> {
  for (const item of recordsIn(response.output)) if (typeof item.id === 'string') onItem(item)
  await onFinish?.()
  return { ...response, model, usage: chargedUsage(response.usage, cost) }
}

/** The events of an upstream with this API, which are passed on as they are. */
export class PassedEvents {
  private first: StreamEvent | undefined
  private previous: StreamEvent | undefined
  /** The event that ends the response. It waits until its items are stored. */
  private last: { event: StreamEvent; data: Json } | undefined

  constructor(private readonly options: PassOptions) {}

  get hasEvents(): boolean {
    return this.first !== undefined
  }

  /** Returns the event for the client; undefined for the last one, which `end` returns. */
  pass(event: StreamEvent): StreamEvent | undefined {
    const { data = '' } = event
    this.first ??= event
    this.previous = event
    const read = isRead.test(data) ? parseRecord(data) : undefined
    if (!read) return event
    const { type, item } = read
    if (isRecord(item) && typeof item.id === 'string') this.options.onItem(item)
    if (!lastTypes.includes(String(type))) return this.rewrite(event, read)
    this.last = { event, data: read }
    return undefined
  }

  /** Returns the event that ends the response. */
  async end(): Promise<Uint8Array> {
    await this.options.onFinish?.()
    return this.last ? bytesOf([this.rewrite(this.last.event, this.last.data)]) : noBytes
  }

  /** Returns the events of an error of this gateway after those of the upstream. */
  fail({ code, message }: ResponseError): Uint8Array {
    const { model } = this.options
    const [first, previous] = [this.first, this.previous].map(
      (event) => parseRecord(event?.data ?? '') ?? {},
    )
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

  /** Returns an event with the client's model and without the operator's cost; else itself. */
  private rewrite(event: StreamEvent, data: Json): StreamEvent {
    const response = recordOf(data.response)
    const { usage } = response
    const isNamed = typeof response.model === 'string' && response.model !== this.options.model
    const hasCost = isRecord(usage) && usage.cost !== undefined
    if (!isNamed && !hasCost) return event
    const changed = {
      ...response,
      ...(isNamed && { model: this.options.model }),
      ...(isRecord(usage) && { usage: chargedUsage(usage) }),
    }
    return eventOf(encodeNamedEvents([{ ...data, response: changed }]))
  }
}
