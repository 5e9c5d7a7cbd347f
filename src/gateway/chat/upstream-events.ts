import { eventBytesMax } from '../../kernel/limits.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import { EventReader, type StreamEvent } from '../events.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import type { EventConverter } from './native-chat.ts'

/**
 * Events that arrive within this time are read together: waking up for each event of a fast stream
 * costs more than all other work on it. No event waits longer, and the first does not wait.
 */
const batchMs = 40

let batch: Promise<void> | undefined

/** Returns the end of the current batch. All streams share it and its timer. */
function endOfBatch(): Promise<void> {
  const end = (): void => void (batch = undefined)
  return (batch ??= Bun.sleep(batchMs).then(end))
}

/** Time for an upstream to close its stream after [DONE], so that its connection is reused. */
const closeMs = second

const readerOf = (body: NonNullable<Response['body']>) => body.getReader()
type Reader = ReturnType<typeof readerOf>
/** An event of the converter, which the client does not get. */
const nothing = { bytes: new Uint8Array(), start: 0, end: 0 }

const onCut = (): undefined => undefined

/** Quotes within a text are escaped, so these are fields of the chunk itself. */
const isUsage = (data: string): boolean =>
  /"choices":\s*\[\]/.test(data) && /"usage":\s*\{/.test(data)

const isFirstContent = ({ data }: StreamEvent): boolean => data !== undefined && !isUsage(data)

export class UpstreamEvents {
  private readonly parser = new EventReader(eventBytesMax)
  private readonly bytes: Reader
  private pending: StreamEvent[] = []
  private isOver = false
  private readAt = 0
  /**
   * True if the stream comes from a socket, where bytes gather during a wait. A stream of this
   * process (demo, translated adapters) is produced by reading and would wait for every event.
   */
  private readonly isFetched: boolean

  private constructor(
    { body, url }: Response,
    private readonly convert: EventConverter | undefined,
  ) {
    this.isFetched = url !== ''
    this.bytes = readerOf(body ?? new Blob().stream())
  }

  /**
   * Opens a stream and waits for the first event that is not a comment or a usage without output: a
   * failure before it counts as one before the first byte. A comment ends the first-byte deadline,
   * because it shows that the upstream works. `convert` gives the events of another API the data of
   * a chat and leaves their bytes.
   */
  static async open(
    response: Response,
    deadlines: CallDeadlines,
    convert?: EventConverter,
  ): Promise<UpstreamEvents> {
    const source = new UpstreamEvents(response, convert)
    const first: StreamEvent[] = []
    while (!first.some(isFirstContent)) {
      const events = await source.next()
      deadlines.markFirstByte()
      if (!events) break
      first.push(...events)
    }
    source.pending = first
    return source
  }

  /** The data of the first event; undefined for a stream that ended or broke off before it. */
  get first(): string | undefined {
    return this.pending.find(isFirstContent)?.data
  }

  /** True if the stream closed properly without a byte. */
  isEmpty = true

  /** Returns the next events, at least one; undefined at the end, or when the stream is cut. */
  async next(): Promise<StreamEvent[] | undefined> {
    if (this.pending.length > 0) {
      const events = this.pending
      this.pending = []
      return events
    }
    while (!this.isOver) {
      if (this.isFetched && stopwatch() - this.readAt < batchMs) await endOfBatch()
      const events = this.take(await this.bytes.read().catch(onCut))
      this.readAt = stopwatch()
      if (events.length > 0) return events
    }
    return undefined
  }

  private take(read: Awaited<ReturnType<Reader['read']>> | undefined): StreamEvent[] {
    try {
      if (!read) return this.cut()
      const { done, value } = read
      if (value) {
        this.isEmpty = false
        return this.converted(this.parser.push(value))
      }
      this.isOver = done
      const last = this.parser.end()
      const events = last?.data === undefined ? [] : this.converted([last])
      const data = this.convert?.end?.()
      return data === undefined ? events : [...events, { ...nothing, data }]
    } catch {
      return this.cut()
    }
  }

  private converted(events: StreamEvent[]): StreamEvent[] {
    const { convert } = this
    if (!convert) return events
    return events.map(({ bytes, start, end, data }) => {
      return { bytes, start, end, data: data === undefined ? undefined : convert.read(data) }
    })
  }

  /** Ends a cut stream. An incomplete event before the cut is dropped. */
  private cut(): StreamEvent[] {
    this.isEmpty = false
    this.isOver = true
    return []
  }

  /** Yields `events` and all that follow, until the time to close has passed. */
  async *rest(events: StreamEvent[]): AsyncGenerator<StreamEvent> {
    const timer = setTimeout(() => void this.cancel(), closeMs)
    try {
      yield* events
      for (let next = await this.next(); next; next = await this.next()) yield* next
    } finally {
      clearTimeout(timer)
    }
  }

  /** Releases the upstream: at once, or after its last event when `isDone`. */
  async close(isDone: boolean): Promise<void> {
    const timer = setTimeout(() => void this.cancel(), isDone ? closeMs : 0)
    while (isDone && !this.isOver) this.take(await this.bytes.read().catch(onCut))
    if (isDone) clearTimeout(timer)
  }

  private async cancel(): Promise<void> {
    this.isOver = true
    await this.bytes.cancel().catch(() => undefined)
  }
}
