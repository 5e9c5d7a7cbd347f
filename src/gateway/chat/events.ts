/** A server-sent event: where it stands in what came, and its data unless that is nothing. */
export interface Event {
  bytes: Uint8Array
  start: number
  end: number
  data: string | undefined
}

const newline = 10
const carriageReturn = 13
const colon = 58
const prefix = [...'data: '].map((letter) => letter.charCodeAt(0))
const prefixBytes = prefix.length
const decoder = new TextDecoder()
const encoder = new TextEncoder()
const blankLine = Buffer.from('\n\n')

/** The event that tells a JSON value. */
export const eventOf = (value: unknown): Uint8Array =>
  encoder.encode(`data: ${JSON.stringify(value)}\n\n`)

/** Whether an event without data says something: a comment, as a heartbeat is one. */
export const isComment = ({ bytes, start }: Event): boolean => bytes[start] === colon

/** Events as they came: in one piece when they did, with nothing between them. */
export function bytesOf(events: Event[]): Uint8Array {
  const [first] = events
  if (!first) return new Uint8Array()
  let end = first.start
  for (const event of events) {
    if (event.bytes !== first.bytes || event.start !== end) return Buffer.concat(events.map(one))
    end = event.end
  }
  return one({ ...first, end })
}

/** A part of a chunk is an object of its own, and makes one of what was only memory. */
const one = ({ bytes, start, end }: Event): Uint8Array =>
  start === 0 && end === bytes.byteLength ? bytes : bytes.subarray(start, end)

/**
 * Splits a byte stream into server-sent events (WHATWG HTML, 9.2.6) as it passes: lines end with
 * LF, CRLF or CR, bytes are cut anywhere. The bytes of all events together are those that came. An
 * event has at most `bytesMax` bytes; a longer one throws a RangeError.
 */
export class EventReader {
  private event: Uint8Array[] = []
  private line: Uint8Array[] = []
  private data: string[] = []
  private bytes = 0
  /** The byte that came last. */
  private last: number | undefined

  constructor(private readonly bytesMax: number) {}

  /** The events that end in this chunk. */
  push(chunk: Uint8Array): Event[] {
    const isBetween = this.event.length === 0 && this.line.length === 0
    const events = isBetween && !chunk.includes(carriageReturn) ? ofOneLine(chunk) : []
    let start = events.at(-1)?.end ?? 0
    // The end of the last line may go on here.
    let at = this.last === carriageReturn && chunk[0] === newline ? 1 : start
    this.last = chunk.at(-1) ?? this.last
    for (let end = endOfLine(chunk, at); end >= 0; end = endOfLine(chunk, at)) {
      const isBlank = this.take(joined(this.line, chunk.subarray(at, end)))
      this.line = []
      at = end + (chunk[end] === carriageReturn && chunk[end + 1] === newline ? 2 : 1)
      if (!isBlank) continue
      events.push(this.close(chunk, start, at))
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
    return this.event.length === 0 ? undefined : this.close(blankLine, 0, 2)
  }

  /** Reads a line; true when it is the blank one that ends an event. */
  private take(line: Uint8Array): boolean {
    const text = decoder.decode(line)
    const field = /^data(?:: ?(.*))?$/s.exec(text)
    if (field) this.data.push(field[1] ?? '')
    return text === ''
  }

  private keep(part: Uint8Array): void {
    this.bytes += part.byteLength
    if (this.bytes > this.bytesMax) throw new RangeError('an event is too long')
    this.event.push(part)
  }

  private close(chunk: Uint8Array, start: number, end: number): Event {
    const data = this.data.join('\n') || undefined
    const isWhole = this.event.length === 0
    const bytes = isWhole ? chunk : joined(this.event, chunk.subarray(start, end))
    this.event = []
    this.data = []
    this.bytes = 0
    return isWhole ? { bytes, start, end, data } : { bytes, start: 0, end: bytes.byteLength, data }
  }
}

/** Where the line that goes on at `at` ends; -1 when it does not in this chunk. */
function endOfLine(chunk: Uint8Array, at: number): number {
  for (let end = at; end < chunk.byteLength; end += 1) {
    if (chunk[end] === newline || chunk[end] === carriageReturn) return end
  }
  return -1
}

/** The events of one line that a chunk begins with, as nearly all are: they need no state. */
function ofOneLine(chunk: Uint8Array): Event[] {
  const events: Event[] = []
  let start = 0
  for (;;) {
    for (let at = 0; at < prefixBytes; at += 1) if (chunk[start + at] !== prefix[at]) return events
    const line = chunk.indexOf(newline, start + prefixBytes)
    if (line < 0 || chunk[line + 1] !== newline) return events
    events.push(new Line(chunk, start, line + 2))
    start = line + 2
  }
}

/** An event of one line, whose data is read when it is asked for: most are but passed on. */
class Line implements Event {
  constructor(
    readonly bytes: Uint8Array,
    readonly start: number,
    readonly end: number,
  ) {}

  get data(): string | undefined {
    return decoder.decode(this.bytes.subarray(this.start + prefixBytes, this.end - 2)) || undefined
  }
}

const joined = (parts: Uint8Array[], last: Uint8Array): Uint8Array =>
  parts.length === 0 ? last : Buffer.concat([...parts, last])
