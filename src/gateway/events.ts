import { Content } from '../kernel/http/outcome.ts'
import type { Json } from '../kernel/schema.ts'

/** A server-sent event: its bytes within a chunk, and its data; undefined for none. */
export interface StreamEvent {
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

export const noBytes = new Uint8Array()
/** A comment, which keeps a connection open. */
export const keepAlive = encoder.encode(': keep-alive\n\n')
/** The event with which streams of OpenAI end. */
export const doneMark = encoder.encode('data: [DONE]\n\n')

/** Returns the bytes of a whole event as one. */
export const eventOf = (bytes: Uint8Array, data?: string): StreamEvent => ({
  bytes,
  start: 0,
  end: bytes.byteLength,
  data,
})

export const encodeEvent = (value: unknown): Uint8Array =>
  encoder.encode(`data: ${JSON.stringify(value)}\n\n`)

/** Returns events as bytes. Their names are their types. */
export const encodeNamedEvents = (events: Json[]): Uint8Array =>
  encoder.encode(
    events
      .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  )

/** Returns an event stream to a client, or the replay of one. */
export const eventStream = (
  body: ReadableStream<Uint8Array> | string,
  headers: Record<string, string> = {},
): Content =>
  new Content(body, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })

/** Returns whether an event without data is a comment, such as a heartbeat. */
export const isComment = ({ bytes, start }: StreamEvent): boolean => bytes[start] === colon

/** Returns the bytes of events: without a copy when they are adjacent in one chunk. */
export function bytesOf(events: StreamEvent[]): Uint8Array {
  const [first] = events
  if (!first) return noBytes
  let end = first.start
  for (const event of events) {
    if (event.bytes !== first.bytes || event.start !== end)
      return Buffer.concat(events.map(toBytes))
    end = event.end
  }
  return toBytes({ ...first, end })
}

/** Returns an event's bytes. It avoids `subarray` for a whole chunk, which allocates an object. */
const toBytes = ({ bytes, start, end }: StreamEvent): Uint8Array =>
  start === 0 && end === bytes.byteLength ? bytes : bytes.subarray(start, end)

/**
 * Splits a byte stream into server-sent events (WHATWG HTML, 9.2.6). Lines end with LF, CRLF or CR;
 * chunks may end anywhere. The events together have all bytes of the stream. Throws a RangeError
 * for an event of more than `bytesMax` bytes.
 */
export class EventReader {
  private event: Uint8Array[] = []
  private line: Uint8Array[] = []
  private data: string[] = []
  private bytes = 0
  private last: number | undefined

  constructor(private readonly bytesMax: number) {}

  push(chunk: Uint8Array): StreamEvent[] {
    const isBetween = this.event.length === 0 && this.line.length === 0
    const events = isBetween && !chunk.includes(carriageReturn) ? parseOneLineEvents(chunk) : []
    let start = events.at(-1)?.end ?? 0
    // The CR of the previous chunk may belong to an LF here.
    let at = this.last === carriageReturn && chunk[0] === newline ? 1 : start
    this.last = chunk.at(-1) ?? this.last
    for (let end = endOfLine(chunk, at); end >= 0; end = endOfLine(chunk, at)) {
      const isBlank = this.readLine(joined(this.line, chunk.subarray(at, end)))
      this.line = []
      at = end + (chunk[end] === carriageReturn && chunk[end + 1] === newline ? 2 : 1)
      if (!isBlank) continue
      events.push(this.close(chunk, start, at))
      start = at
    }
    if (at < chunk.byteLength) this.line.push(chunk.subarray(at))
    if (start < chunk.byteLength) this.append(chunk.subarray(start))
    return events
  }

  /**
   * Returns the bytes after the last blank line as an event, and adds its blank line. Otherwise
   * clients would ignore it or join it to the next. Undefined for none.
   */
  end(): StreamEvent | undefined {
    this.readLine(joined(this.line, noBytes))
    this.line = []
    return this.event.length === 0 ? undefined : this.close(blankLine, 0, 2)
  }

  /** Reads a line. Returns true for the blank line that ends an event. */
  private readLine(line: Uint8Array): boolean {
    const text = decoder.decode(line)
    const field = /^data(?:: ?(.*))?$/s.exec(text)
    if (field) this.data.push(field[1] ?? '')
    return text === ''
  }

  private append(part: Uint8Array): void {
    this.bytes += part.byteLength
    if (this.bytes > this.bytesMax) throw new RangeError('An event is too long.')
    this.event.push(part)
  }

  private close(chunk: Uint8Array, start: number, end: number): StreamEvent {
    const data = this.data.join('\n') || undefined
    const isWhole = this.event.length === 0
    const bytes = isWhole ? chunk : joined(this.event, chunk.subarray(start, end))
    this.event = []
    this.data = []
    this.bytes = 0
    return isWhole ? { bytes, start, end, data } : eventOf(bytes, data)
  }
}

/** Returns the end of the line at `at`; -1 when the chunk ends before it. */
function endOfLine(chunk: Uint8Array, at: number): number {
  for (let end = at; end < chunk.byteLength; end += 1) {
    if (chunk[end] === newline || chunk[end] === carriageReturn) return end
  }
  return -1
}

/** Returns the one-line events at the start of a chunk. Nearly all are, and need no parser. */
function parseOneLineEvents(chunk: Uint8Array): StreamEvent[] {
  const events: StreamEvent[] = []
  let start = 0
  for (;;) {
    for (let at = 0; at < prefixBytes; at += 1) if (chunk[start + at] !== prefix[at]) return events
    const line = chunk.indexOf(newline, start + prefixBytes)
    if (line < 0 || chunk[line + 1] !== newline) return events
    events.push(new OneLineEvent(chunk, start, line + 2))
    start = line + 2
  }
}

/** A one-line event. Its data is decoded when needed, because most events are only passed on. */
class OneLineEvent implements StreamEvent {
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
