import { Cache } from '../cache.ts'
import { newId } from '../ids.ts'

/** Longer values are not sent. */
export const valueCharsMax = 200_000
/** PostgreSQL accepts 8,000 bytes in a notification. */
export const payloadCharsMax = 1_900
/** A character has at most six bytes in JSON. */
const partCharsMax = 1_200
/** Values of which a part is missing. The parts of a value arrive together. */
const unfinishedMax = 16

export const partTopic = 'part'

/**
 * Returns a signal as JSON entries that fit into a notification each. A server of an older version
 * ignores the topic of parts.
 */
export function toEntries(topic: string, value: string): string[] {
  const whole = JSON.stringify([topic, value])
  if (whole.length < payloadCharsMax) return [whole]
  const id = newId()
  const count = Math.ceil(value.length / partCharsMax)
  return Array.from({ length: count }, (_, at) => {
    const text = value.slice(at * partCharsMax, (at + 1) * partCharsMax)
    return JSON.stringify([partTopic, `${id} ${at} ${count} ${topic} ${text}`])
  })
}

/** The parts of long values that have arrived. */
export class LongValues {
  private readonly unfinished = new Cache<{ text: string; parts: number }>(unfinishedMax)

  /** Adds a part. Returns the signal once it is complete. */
  add(part: string): { topic: string; value: string } | undefined {
    const [, id = '', at, count, topic = '', text = ''] =
      /^(\S+) (\d+) (\d+) (\S+) ([^]*)$/.exec(part) ?? []
    const before = this.unfinished.get(id) ?? { text: '', parts: 0 }
    // A server that began to listen between two parts has missed the first.
    if (before.parts !== Number(at)) return undefined
    const value = before.text + text
    if (before.parts + 1 < Number(count)) {
      this.unfinished.set(id, { text: value, parts: before.parts + 1 })
      return undefined
    }
    this.unfinished.delete(id)
    return { topic, value }
  }
}
