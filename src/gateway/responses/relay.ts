import { eventBytesMax } from '../../kernel/limits.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { bytesOf, encodeNamedEvents, EventReader, type StreamEvent } from '../events.ts'
import { parseRecord, recordsIn } from '../providers/response.ts'
import type { ResponseError, ResponseOptions } from './events.ts'
import { lastTypes } from './native.ts'

/** Receives the parts of a relayed response that this gateway keeps. */
export type NativeReader = Required<Pick<ResponseOptions, 'onItem' | 'onFinish'>>

/** Reads the items of a whole response, and returns it unchanged. */
export async function readNative(response: Json, reader: NativeReader): Promise<Json> {
  for (const item of recordsIn(response.output)) readItem(item, reader)
  await reader.onFinish()
  return response
}

/** Clients never send reasoning back by its id. */
function readItem(item: Json, { onItem }: NativeReader): void {
  if (typeof item.id === 'string' && item.type !== 'reasoning') onItem(item)
}

/** Parts of the bytes of the events that are read here. Nearly all events have none of them. */
const marks = ['response.output_item.done', ...lastTypes]

/** The events of an upstream with the Responses API, which are passed on as they are. */
export class RelayedEvents {
  private first: Uint8Array | undefined
  private previous: Uint8Array | undefined

  constructor(private readonly reader: NativeReader) {}

  get hasEvents(): boolean {
    return this.first !== undefined
  }

  /** Reads whole events, and returns them for the client. */
  async pass(bytes: Uint8Array): Promise<Uint8Array> {
    this.first ??= bytes
    this.previous = bytes
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (!marks.some((mark) => buffer.includes(mark))) return bytes
    const passed: Uint8Array[] = []
    for (const event of eventsOf(bytes)) {
      const data = dataOf(event)
      const type = String(data.type)
      if (type === 'response.output_item.done') readItem(recordOf(data.item), this.reader)
      if (lastTypes.includes(type)) await this.reader.onFinish()
      passed.push(withoutCost(event, data))
    }
    return Buffer.concat(passed)
  }

  /** Returns the events of an error of this gateway after those of the upstream. */
  fail({ code, message }: ResponseError): Uint8Array {
    const { first, previous } = this
    const all = [first, previous].flatMap((bytes) => (bytes ? eventsOf(bytes).map(dataOf) : []))
    const last = all.findLast(({ sequence_number: number }) => typeof number === 'number')
    const number = Number(last?.sequence_number ?? -1)
    const response = recordOf(all.find((event) => isRecord(event.response))?.response)
    const failed = { ...response, status: 'failed', error: { code, message } }
    return encodeNamedEvents([
      { type: 'error', sequence_number: number + 1, code, message, param: null },
      { type: 'response.failed', sequence_number: number + 2, response: failed },
    ])
  }
}

const eventsOf = (bytes: Uint8Array): StreamEvent[] => new EventReader(eventBytesMax).push(bytes)
const dataOf = ({ data }: StreamEvent): Json => parseRecord(data ?? '') ?? {}

/** Returns an event without what it cost the operator, where its upstream reports that. */
function withoutCost(event: StreamEvent, data: Json): Uint8Array {
  const response = recordOf(data.response)
  if (!isRecord(response.usage) || response.usage.cost === undefined) return bytesOf([event])
  const { cost: _cost, cost_details: _details, ...usage } = response.usage
  return encodeNamedEvents([{ ...data, response: { ...response, usage } }])
}
