import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import type { StreamEvent } from '../events.ts'
import { parseRecord } from '../providers/response.ts'
import type { ResponseMeter } from './response-meter.ts'

/** Fields of a delta that a template may have as its only text. */
const textFields = ['content', 'reasoning', 'reasoning_content']
/** Templates that a stream may learn. A stream with differing chunks stops trying. */
const triesMax = 16
const [space, quote, backslash] = [0x20, 0x22, 0x5c]
const empty = new Uint8Array()

/**
 * The bytes that consecutive chunks of a stream share around their text. A chunk that matches is
 * not parsed, because parsing costs more than all other work on it. Its text lies between the same
 * two ends. It contains no escapes, so its bytes are the parsed text.
 */
export class ChunkTemplate {
  /** A parsed event; its text lies between `from` and `to`. */
  private event: Uint8Array = empty
  private from = 0
  private to = 0
  private tries = triesMax

  /** Reads the text of a matching event. Returns false for an event that needs parsing. */
  read({ bytes, start, end }: StreamEvent, meter: ResponseMeter): boolean {
    const { event, from, to } = this
    const first = start + from
    const last = end - (event.length - to)
    if (from === 0 || first > last) return false
    if (!isEqual(bytes, start, event, 0, from) || !isEqual(bytes, last, event, to, event.length)) {
      return false
    }
    for (let at = first; at < last; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte < space || byte === quote || byte === backslash) return false
    }
    meter.readText(bytes, first, last)
    return true
  }

  /** Learns the place of the text in a parsed chunk that has no other content. */
  learn({ bytes, start, end, data = '' }: StreamEvent, chunk: Json): void {
    const found = this.tries > 0 ? onlyTextOf(chunk) : undefined
    if (!found) return
    this.tries -= 1
    const [name, text] = found
    const field = new RegExp(`"${name}"\\s*:\\s*"`).exec(data)
    const at = field ? field.index + field[0].length : 0
    const [before, after] = [data.slice(0, at), data.slice(at + text.length)]
    // Verifies the place: another text there must be found by the parser.
    const [, other] = onlyTextOf(parseRecord(`${before}${text}.${after}`) ?? {}) ?? []
    if (other !== `${text}.`) return
    const from = Buffer.byteLength(`data: ${before}`)
    const to = from + Buffer.byteLength(text)
    // Another spelling of an event may have the same length.
    const isOneLine = to + Buffer.byteLength(`${after}\n\n`) === end - start
    if (!isOneLine || bytes[start + from - 1] !== quote || bytes[start + to] !== quote) return
    this.event = bytes.slice(start, end)
    this.from = from
    this.to = to
  }
}

/** Compares bytes in a loop: a native call takes longer for so few. */
function isEqual(
  bytes: Uint8Array,
  start: number,
  event: Uint8Array,
  from: number,
  to: number,
): boolean {
  for (let at = from; at < to; at += 1) if (bytes[start + at - from] !== event[at]) return false
  return true
}

/** Returns the only text of a chunk with its field; undefined for a chunk with other content. */
function onlyTextOf({ choices, usage }: Json): [name: string, text: string] | undefined {
  const [choice, ...others] = itemsOf(choices)
  if (usage || others.length > 0 || !isRecord(choice) || choice.finish_reason) return undefined
  const fields = Object.entries(recordOf(choice.delta))
  const [field, ...more] = fields.filter(([name, value]) => name !== 'role' && value !== null)
  const [name = '', text] = field ?? []
  return more.length === 0 && textFields.includes(name) && typeof text === 'string' && text !== ''
    ? [name, text]
    : undefined
}
