type Json = Record<string, unknown>

/** Why an answer could not be finished, as an event tells it. */
export interface Fault {
  code: string
  message: string
}

/** The events of an answer, numbered in the order they are told, until they are taken. */
export class Events {
  private events: Json[] = []
  private told = 0

  tell(type: string, facts: Json): void {
    this.events.push({ type, sequence_number: this.told, ...facts })
    this.told += 1
  }

  /** The events since they were last taken. */
  take(): Json[] {
    const { events } = this
    this.events = []
    return events
  }
}
