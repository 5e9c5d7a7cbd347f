import type { Json } from '../../core/schema.ts'

export interface ResponseError {
  code: string
  message: string
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
