/** One server-sent event: its bytes as they came, and its data unless it was only comments. */
export interface Event {
  raw: Uint8Array
  data: string | undefined
}

const newline = 10
const carriageReturn = 13
const prefix = [...'data: '].map((letter) => letter.charCodeAt(0))
const prefixBytes = prefix.length
const decoder = new TextDecoder()
const blankLine = Buffer.from('\n\n')

/**
 * Splits a byte stream into server-sent events (WHATWG HTML, 9.2.6) as it passes: lines end with LF
 * or CRLF, bytes are cut anywhere. The bytes of all events together are the bytes that came. An
 * event has at most `bytesMax` bytes; a longer one throws a RangeError.
 */
export class EventReader {
  private event: Uint8Array[] = []
  private line: Uint8Array[] = []
  private data: string[] = []
  private bytes = 0

  constructor(private readonly bytesMax: number) {}

  /** The events that end in this chunk. */
  push(chunk: Uint8Array): Event[] {
    const events: Event[] = []
    let start = 0
    if (this.event.length === 0 && this.line.length === 0) {
      for (let event = oneLine(chunk, 0); event; event = oneLine(chunk, start)) {
        events.push(event)
        start += event.raw.byteLength
      }
    }
    let at = start
    for (let end = chunk.indexOf(newline, at); end >= 0; end = chunk.indexOf(newline, at)) {
      const isBlank = this.take(joined(this.line, chunk.subarray(at, end)))
      this.line = []
      at = end + 1
      if (!isBlank) continue
      events.push(this.close(chunk.subarray(start, at)))
      start = at
    }
    if (at < chunk.byteLength) this.line.push(chunk.subarray(at))
    if (start < chunk.byteLength) this.keep(chunk.subarray(start))
    return events
  }

  /**
   * What stands after the last blank line, as an event, ended as one: else a reader would not see
   * it, or join it to what comes behind. Undefined when nothing does.
   */
  end(): Event | undefined {
    this.take(joined(this.line, new Uint8Array()))
    this.line = []
    return this.event.length === 0 ? undefined : this.close(blankLine)
  }

  /** Reads a line; true when it is the blank one that ends an event. */
  private take(line: Uint8Array): boolean {
    const hasReturn = line.at(-1) === carriageReturn
    const text = decoder.decode(hasReturn ? line.subarray(0, -1) : line)
    const field = /^data(?:: ?(.*))?$/s.exec(text)
    if (field) this.data.push(field[1] ?? '')
    return text === ''
  }

  private keep(part: Uint8Array): void {
    this.bytes += part.byteLength
    if (this.bytes > this.bytesMax) throw new RangeError('an event is too long')
    this.event.push(part)
  }

  private close(last: Uint8Array): Event {
    const raw = joined(this.event, last)
    const data = this.data.length > 0 ? this.data.join('\n') : undefined
    this.event = []
    this.data = []
    this.bytes = 0
    return { raw, data }
  }
}

/** The event of one line that begins at `start`, as nearly every one is: it needs no state. */
function oneLine(chunk: Uint8Array, start: number): Event | undefined {
  for (let at = 0; at < prefixBytes; at += 1) if (chunk[start + at] !== prefix[at]) return undefined
  const end = chunk.indexOf(newline, start + prefixBytes)
  if (end < 0 || chunk[end + 1] !== newline || chunk[end - 1] === carriageReturn) return undefined
  // A part of a chunk is an object of its own, and makes one of what was only memory.
  const isAll = start === 0 && end + 2 === chunk.byteLength
  const raw = isAll ? chunk : chunk.subarray(start, end + 2)
  return { raw, data: decoder.decode(raw).slice(prefixBytes, -2) }
}

const joined = (parts: Uint8Array[], last: Uint8Array): Uint8Array =>
  parts.length === 0 ? last : Buffer.concat([...parts, last])
