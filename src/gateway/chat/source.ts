import { eventBytesMax, upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { parseRecord } from '../../kernel/schema.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { StreamReader, StreamWriter, UpstreamCodec } from '../conversation/codec.ts'
import { eventOf, EventReader, type StreamEvent } from '../events.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import type { AcceptedChat } from '../providers/upstream.ts'

/** A part of a stream: its steps, and the event of the upstream that they are read from. */
export interface Step {
  readonly own?: StreamEvent
  /** Undefined for data that cannot be read. */
  readonly events: readonly ChatEvent[] | undefined
}

/**
 * Returns the event of a client for a step; undefined for none. `isPassed`: the upstream has the
 * client's API, so that its bytes are passed on.
 */
export function encodeStep(
  { own, events = [] }: Step,
  writer: StreamWriter,
  isPassed: boolean,
): StreamEvent | undefined {
  if (own && isPassed) return writer.pass(own, events)
  return eventUnlessEmpty(writer.write(events))
}

export const eventUnlessEmpty = (bytes: Uint8Array): StreamEvent | undefined =>
  bytes.byteLength === 0 ? undefined : eventOf(bytes)

/** The steps of a response, in the order in which they arrive. */
export interface ChatSource {
  /**
   * Returns the next steps, at least one; undefined at the end, or when the stream is cut. Urgent
   * ones do not wait for others.
   */
  next(isUrgent?: boolean): Promise<Step[] | undefined>
  /** Releases the upstream: at once, or after its last event when `isDone`. */
  close(isDone: boolean): Promise<void>
  /** True if it ended properly without a byte. */
  readonly isEmpty: boolean
}

/** The time in which streams are counted, and the longest time between two reads of a stream. */
const windowMs = 40
/** Time between two reads of a stream for each stream that is read: 500 wake-ups a second. */
const msPerStream = 2

/**
 * The time between two reads of a stream. It grows with the number of streams that are read: waking
 * up for an event costs more than all other work on it, so events of a busy process are read
 * together. The first event of a stream does not wait (docs/decisions/0107).
 */
export class ReadPace {
  private startedAt = 0
  private streams = 0
  private pauseMs = msPerStream
  private batch: Promise<void> | undefined

  /** Counts a stream that was last read at `readAt`. Returns whether its next read must wait. */
  isTooFast(readAt: number, now: number): boolean {
    const ms = now - this.startedAt
    if (ms >= windowMs) {
      const pauseMs = ((this.streams * windowMs) / ms) * msPerStream
      this.pauseMs = Math.min(Math.max(pauseMs, msPerStream), windowMs)
      this.startedAt = now
      this.streams = 0
    }
    if (readAt < this.startedAt) this.streams += 1
    return now - readAt < this.pauseMs
  }

  /** Returns the end of the current batch. All streams share it and its timer. */
  endOfBatch(): Promise<void> {
    const end = (): void => void (this.batch = undefined)
    return (this.batch ??= Bun.sleep(this.pauseMs).then(end))
  }
}

const pace = new ReadPace()

/** Time for an upstream to close its stream after its last event, to reuse the connection. */
const closeMs = second

/**
 * An event of an upstream, which is read when its steps are needed: most events are only passed on.
 * Steps are read in their order.
 */
class OwnStep implements Step {
  private read: { events: readonly ChatEvent[] | undefined } | undefined

  constructor(
    private readonly reader: StreamReader,
    readonly own: StreamEvent,
  ) {}

  get events(): readonly ChatEvent[] | undefined {
    return (this.read ??= { events: eventsOf(this.reader, this.own) }).events
  }
}

function eventsOf(reader: StreamReader, { data }: StreamEvent): readonly ChatEvent[] | undefined {
  if (data === undefined) return []
  try {
    return reader.read(data)
  } catch {
    return undefined
  }
}

/** The last steps of a reader, after those of all events. */
class LastStep implements Step {
  private read: ChatEvent[] | undefined

  constructor(private readonly reader: StreamReader) {}

  get events(): readonly ChatEvent[] {
    return (this.read ??= this.reader.end())
  }
}

const readerOf = (body: NonNullable<Response['body']>) => body.getReader()
type Reader = ReturnType<typeof readerOf>

const onCut = (): undefined => undefined

/** A stream of an upstream. One that sends a whole response instead is read as its only step. */
export class StreamSource implements ChatSource {
  isEmpty = true
  private readonly parser = new EventReader(eventBytesMax)
  private readonly reader: StreamReader
  private readonly bytes: Reader
  private isOver = false
  private readAt = 0
  /** The bytes of a whole response. Undefined for events, and before the first byte. */
  private whole: Uint8Array[] | undefined
  private wholeBytes = 0
  /** Undefined before the first visible byte. */
  private isOfEvents: boolean | undefined

  constructor(
    { body, headers }: Response,
    private readonly codec: UpstreamCodec,
    private readonly deadlines: CallDeadlines,
  ) {
    this.reader = codec.createReader()
    this.bytes = readerOf(body ?? new Blob().stream())
    const isEventStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
    if (isEventStream) this.isOfEvents = true
  }

  async next(isUrgent = false): Promise<Step[] | undefined> {
    while (!this.isOver) {
      if (pace.isTooFast(this.readAt, stopwatch()) && !isUrgent) await pace.endOfBatch()
      const steps = this.take(await this.bytes.read().catch(onCut))
      this.readAt = stopwatch()
      if (steps.length > 0) return steps
    }
    return undefined
  }

  private take(read: Awaited<ReturnType<Reader['read']>> | undefined): Step[] {
    try {
      if (!read) return this.cut()
      const { done, value } = read
      if (value) {
        this.isEmpty = false
        this.deadlines.markFirstByte()
        return this.isWhole(value) ? this.gather(value) : this.stepsOf(this.parser.push(value))
      }
      this.isOver = done
      if (this.whole) return this.readWhole()
      const last = this.parser.end()
      const steps = last?.data === undefined ? [] : this.stepsOf([last])
      return [...steps, new LastStep(this.reader)]
    } catch {
      return this.cut()
    }
  }

  private stepsOf(events: StreamEvent[]): Step[] {
    return events.map((own) => new OwnStep(this.reader, own))
  }

  /**
   * Returns whether the response is one JSON object. Some servers send events under another content
   * type, so the first visible byte decides.
   */
  private isWhole(bytes: Uint8Array): boolean {
    const first = this.isOfEvents === undefined ? bytes.find((byte) => byte > space) : undefined
    if (first !== undefined) this.isOfEvents = first !== brace
    if (this.isOfEvents) this.whole = undefined
    return !this.isOfEvents
  }

  private gather(bytes: Uint8Array): Step[] {
    this.whole ??= []
    this.whole.push(bytes)
    this.wholeBytes += bytes.byteLength
    if (this.wholeBytes > upstreamResponseBytesMax)
      throw new RangeError('The response is too long.')
    return []
  }

  private readWhole(): Step[] {
    const json = parseRecord(Buffer.concat(this.whole ?? []).toString())
    return [{ events: json && this.codec.readWhole(json) }]
  }

  /** Ends a cut stream. An incomplete event before the cut is dropped. */
  private cut(): Step[] {
    this.isEmpty = false
    this.isOver = true
    void this.bytes.cancel().catch(onCut)
    return []
  }

  async close(isDone: boolean): Promise<void> {
    const timer = setTimeout(() => void this.cancel(), isDone ? closeMs : 0)
    while (isDone && !this.isOver) this.take(await this.bytes.read().catch(onCut))
    if (isDone) clearTimeout(timer)
  }

  private async cancel(): Promise<void> {
    this.isOver = true
    await this.bytes.cancel().catch(onCut)
  }
}

const [space, brace] = [32, 123]

/** The steps of an upstream in this process, or of the rounds of a search. */
export class StepSource implements ChatSource {
  private isEnded = false
  private hasSteps = false
  private readonly steps: AsyncIterator<ChatEvent[]>

  constructor(steps: AsyncIterable<ChatEvent[]>) {
    this.steps = steps[Symbol.asyncIterator]()
  }

  get isEmpty(): boolean {
    return this.isEnded && !this.hasSteps
  }

  async next(): Promise<Step[] | undefined> {
    const read = await this.steps.next().catch(onCut)
    if (read?.done !== false) {
      this.isEnded = read?.done === true
      return undefined
    }
    this.hasSteps = true
    return [{ events: read.value }]
  }

  async close(): Promise<void> {
    await this.steps.return?.(undefined).catch(onCut)
  }
}

/** Returns the steps of a response that an upstream sends. */
export const sourceOf = (sent: AcceptedChat, deadlines: CallDeadlines): ChatSource =>
  'response' in sent
    ? new StreamSource(sent.response, sent.codec, deadlines)
    : new StepSource(sent.steps)

/** A stream that was opened up to its first content. */
export class OpenedSource implements ChatSource {
  private constructor(
    private readonly source: ChatSource,
    private first: Step[] | undefined,
  ) {}

  /**
   * Opens a stream and waits for the first step of its content: a failure before it counts as one
   * before the first byte. The start of a response and a usage without output are no content.
   */
  static async open(source: ChatSource): Promise<OpenedSource> {
    const first: Step[] = []
    while (!first.some(isContent)) {
      const steps = await source.next(true)
      if (!steps) break
      first.push(...steps)
    }
    return new OpenedSource(source, first)
  }

  /** The first step with content; undefined for a stream that ended or broke off before it. */
  get opening(): Step | undefined {
    return this.first?.find(isContent)
  }

  get isEmpty(): boolean {
    return this.source.isEmpty
  }

  async next(): Promise<Step[] | undefined> {
    const { first } = this
    this.first = undefined
    return first && first.length > 0 ? first : this.source.next()
  }

  close(isDone: boolean): Promise<void> {
    return this.source.close(isDone)
  }
}

const isContent = ({ events }: Step): boolean =>
  events === undefined || events.some(({ type }) => type !== 'start' && type !== 'usage')
