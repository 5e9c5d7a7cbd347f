import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import { jsonOf } from '../conversation/json-reader.ts'
import type { StreamEvent } from '../events.ts'
import type { ChatMeter } from './meter.ts'

/** Fields of a delta that a template may have as its only text. Clients get `reasoning` twice. */
const textFields = ['content', 'reasoning_content']
/** Templates that a stream may learn. A stream with differing chunks stops trying. */
const triesMax = 16
const [space, quote, backslash] = [0x20, 0x22, 0x5c]

/** An event; its text lies between `from` and `to`. */
interface Frame {
  bytes: Uint8Array
  from: number
  to: number
}

/**
 * The bytes that consecutive chunks of a stream share around their text. A chunk that matches is
 * not parsed, because parsing costs more than all other work on it. Its text lies between the same
 * two ends. It contains no escapes, so its bytes are the parsed text.
 */
export class ChunkTemplate {
  private frame: Frame | undefined
  /** The client's bytes around the text, where they differ, as by the name of the model. */
  private sent: { before: Uint8Array; after: Uint8Array } | undefined
  private tries = triesMax

  /** Reads the text of a matching event. Returns false for an event that needs parsing. */
  read({ bytes, start, end }: StreamEvent, meter: ChatMeter): boolean {
    if (!this.frame) return false
    const { bytes: event, from, to } = this.frame
    const first = start + from
    const last = end - (event.length - to)
    if (first > last) return false
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

  /** Adds the client's events for those that `read` has read: the same, or one with their bytes. */
  write(events: StreamEvent[], out: StreamEvent[]): void {
    const { frame, sent } = this
    if (!frame || !sent) return void out.push(...events)
    const around = frame.from + frame.bytes.length - frame.to
    const more = sent.before.length + sent.after.length - around
    const length = events.reduce((sum, { start, end }) => sum + end - start + more, 0)
    const bytes = new Uint8Array(length)
    let at = 0
    for (const { bytes: own, start, end } of events) {
      bytes.set(sent.before, at)
      at += sent.before.length
      const last = end - (frame.bytes.length - frame.to)
      // By index: a native copy needs a view of its own, and most texts are short.
      for (let from = start + frame.from; from < last; from += 1) bytes[at++] = own[from] ?? 0
      bytes.set(sent.after, at)
      at += sent.after.length
    }
    out.push({ bytes, start: 0, end: length, data: undefined })
  }

  /** Learns the place of the text in an event that has no other content. It was parsed before. */
  learn(own: StreamEvent, sent: StreamEvent, events: readonly ChatEvent[]): void {
    const [event, ...others] = events.filter(({ type }) => type !== 'start')
    const isText = event?.type === 'text' || event?.type === 'thinking'
    if (!isText || others.length > 0 || event.text === '' || this.tries === 0) return
    this.tries -= 1
    const chunk = jsonOf(own, events) ?? {}
    const text = onlyTextOf(chunk)
    const frame = text && frameOf(own, text)
    const written = sent === own ? frame : text && rewrittenFrame(sent, text, chunk)
    if (!frame || !written) return
    this.frame = frame
    this.sent =
      written === frame
        ? undefined
        : {
            before: written.bytes.slice(0, written.from),
            after: written.bytes.slice(written.to),
          }
  }
}

/** The field and the value of a text. */
type NamedText = readonly [name: string, text: string]

const decoder = new TextDecoder()

/** Returns the frame of a chunk that is written anew with the same choices; else undefined. */
const rewrittenFrame = (
  sent: StreamEvent,
  text: NamedText,
  { choices }: Json,
): Frame | undefined =>
  decoder.decode(sent.bytes).includes(`"choices":${JSON.stringify(choices)}`)
    ? frameOf(sent, text)
    : undefined

/**
 * Returns the frame of an event of one line around a text that it has; undefined where its place is
 * not certain. Without escapes, the only field of this name that is a string is the text's.
 */
function frameOf({ bytes, start, end }: StreamEvent, [name, text]: NamedText): Frame | undefined {
  const event = decoder.decode(bytes.subarray(start, end))
  if (!/^data: .*\n\n$/.test(event) || event.includes('\\')) return undefined
  const [before = '', after, ...others] = event.split(new RegExp(`(?<="${name}"\\s*:\\s*")`))
  if (after?.startsWith(`${text}"`) !== true || others.length > 0) return undefined
  const from = Buffer.byteLength(before)
  const to = from + Buffer.byteLength(text)
  if (bytes[start + from - 1] !== quote || bytes[start + to] !== quote) return undefined
  return { bytes: bytes.slice(start, end), from, to }
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
function onlyTextOf({ choices, usage }: Json): NamedText | undefined {
  const [choice, ...others] = itemsOf(choices)
  if (usage || others.length > 0 || !isRecord(choice) || choice.finish_reason) return undefined
  const fields = Object.entries(recordOf(choice.delta))
  const [field, ...more] = fields.filter(([name, value]) => name !== 'role' && value !== null)
  const [name = '', text] = field ?? []
  return more.length === 0 && textFields.includes(name) && typeof text === 'string' && text !== ''
    ? [name, text]
    : undefined
}
