import type { Json } from '../../kernel/schema.ts'
import type { StreamEvent } from '../events.ts'
import { parseRecord } from '../providers/response.ts'
import type { ChatEvent } from './chat-event.ts'

const sources = new WeakMap<readonly ChatEvent[], Json>()

/** Returns the steps of an event with its JSON, so that a writer need not parse it again. */
export function readFrom(json: Json, events: ChatEvent[]): ChatEvent[] {
  sources.set(events, json)
  return events
}

/** Returns the JSON of an event that is passed on; undefined for other data. */
export const jsonOf = (own: StreamEvent, events: readonly ChatEvent[]): Json | undefined =>
  sources.get(events) ?? (own.data === undefined ? undefined : parseRecord(own.data))
