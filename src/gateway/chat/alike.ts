import { isRecord, itemsOf, recordOf } from '../../core/schema.ts'
import { recordIn } from '../../providers/answer.ts'
import type { Carried } from './carried.ts'
import type { Event } from './events.ts'

type Json = Record<string, unknown>

/** What a delta may hold to be learnt: one of these, beside its role. */
const textNames = ['content', 'reasoning', 'reasoning_content']
/** A stream whose chunks are not alike is not looked at for ever. */
const triesMax = 16
const [space, quote, backslash] = [0x20, 0x22, 0x5c]
const nothing = new Uint8Array()

/**
 * The chunks of a stream are alike: each has the bytes of the one before, but for its text. Such a
 * chunk is not parsed, which costs more than all else that is done with it: its text stands between
 * the same two ends, and as no letter in it is escaped, it is what parsing would find.
 */
export class Alike {
  /** An event that was parsed; its text stands from `from` to `to`. */
  private known: Uint8Array = nothing
  private from = 0
  private to = 0
  private tries = triesMax

  /** Reads the text of an event; false when that is to be parsed. */
  read({ bytes, start, end }: Event, carried: Carried): boolean {
    const { known, from, to } = this
    const first = start + from
    const last = end - (known.length - to)
    if (from === 0 || first > last) return false
    if (!isAt(bytes, start, known, 0, from) || !isAt(bytes, last, known, to, known.length)) {
      return false
    }
    for (let at = first; at < last; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte < space || byte === quote || byte === backslash) return false
    }
    carried.readText(bytes, first, last)
    return true
  }

  /** Learns where the text stands in a chunk that was parsed, if it has but that. */
  learn({ bytes, start, end, data = '' }: Event, chunk: Json): void {
    const told = this.tries > 0 ? toldIn(chunk) : undefined
    if (!told) return
    this.tries -= 1
    const [name, text] = told
    const field = new RegExp(`"${name}"\\s*:\\s*"`).exec(data)
    const at = field ? field.index + field[0].length : 0
    const [before, behind] = [data.slice(0, at), data.slice(at + text.length)]
    // Another text in its place must be found where this one was.
    const [, other] = toldIn(recordIn(`${before}${text}.${behind}`) ?? {}) ?? []
    if (other !== `${text}.`) return
    const from = Buffer.byteLength(`data: ${before}`)
    const to = from + Buffer.byteLength(text)
    // An event may be spelled otherwise, and be as long.
    const isOneLine = to + Buffer.byteLength(`${behind}\n\n`) === end - start
    if (!isOneLine || bytes[start + from - 1] !== quote || bytes[start + to] !== quote) return
    this.known = bytes.slice(start, end)
    this.from = from
    this.to = to
  }
}

/** By hand: to call the runtime's own for so few bytes takes longer. */
function isAt(
  bytes: Uint8Array,
  start: number,
  known: Uint8Array,
  from: number,
  to: number,
): boolean {
  for (let at = from; at < to; at += 1) if (bytes[start + at - from] !== known[at]) return false
  return true
}

/** The one text that a chunk tells, and its name, when it tells nothing else that is read. */
function toldIn({ choices, usage }: Json): [name: string, text: string] | undefined {
  const [choice, ...others] = itemsOf(choices)
  if (usage || others.length > 0 || !isRecord(choice) || choice.finish_reason) return undefined
  const parts = Object.entries(recordOf(choice.delta))
  const [part, ...more] = parts.filter(([name, value]) => name !== 'role' && value !== null)
  const [name = '', text] = part ?? []
  return more.length === 0 && textNames.includes(name) && typeof text === 'string' && text !== ''
    ? [name, text]
    : undefined
}
