import type { Json } from '../../kernel/schema.ts'
import type { ClientTool } from './tools.ts'

export interface ResponseError {
  code: string
  message: string
}

/** The parts of a response that do not come from the chat. */
export interface ResponseOptions {
  /** Fields of the request that every response repeats. */
  echo: Json
  /** The client's tools by the function that stands for each in the chat. */
  tools: Map<string, ClientTool>
  /** The unique base of all ids. */
  name: string
  /** Stores the finished response, and returns whether it did. Undefined: it is not stored. */
  store?: ((response: Json) => Promise<boolean>) | undefined
  /** Unix seconds, for a chat without a time. */
  created: number
  /** Receives every finished item. */
  onItem(item: Json): void
  /** Runs before the response ends. */
  onFinish?: () => Promise<void>
}

/** Numbered events of a response that are not sent yet. */
export class EventQueue {
  private events: Json[] = []
  private count = 0

  add(type: string, fields: Json): void {
    this.events.push({ type, sequence_number: this.count, ...fields })
    this.count += 1
  }

  /** Returns the queued events and removes them. */
  takeAll(): Json[] {
    const { events } = this
    this.events = []
    return events
  }
}
