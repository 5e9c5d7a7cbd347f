import { type Json, parseRecord } from '../../kernel/schema.ts'
import type { StreamEvent } from '../events.ts'
import type { ChatEvent } from './chat-event.ts'
import type { StreamReader } from './codec.ts'

const sources = new WeakMap<readonly ChatEvent[], Json>()

/** Reads the events of one stream whose data is JSON. */
export abstract class JsonReader implements StreamReader {
  read(data: string): ChatEvent[] | undefined {
    if (data.trim() === '[DONE]') return this.readDone()
    const json = parseRecord(data)
    const events = json && this.readJson(json)
    if (events) sources.set(events, json)
    return events
  }

  /** Nothing is left where an event ends the stream. */
  end(): ChatEvent[] {
    return []
  }

  /** Reads the last event of OpenAI's chat, which proxies add to other APIs. */
  protected readDone(): ChatEvent[] {
    return []
  }

  /** Returns the steps of an event; undefined for data that is not of this API. */
  protected abstract readJson(json: Json): ChatEvent[] | undefined
}

/** Returns the JSON of an event that is passed on; undefined for other data. */
export const jsonOf = (own: StreamEvent, events: readonly ChatEvent[]): Json | undefined =>
  sources.get(events) ?? (own.data === undefined ? undefined : parseRecord(own.data))
