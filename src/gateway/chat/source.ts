import { second, stopwatch } from '../../core/time.ts'
import { eventBytesMax } from '../../limits.ts'
import type { Watch } from '../paid/watch.ts'
import { type Event, EventReader } from './events.ts'

/**
 * What comes so soon after the last is read together: to wake up for each event of a fast stream
 * costs more than all that is done with it. No client waits longer for it than this, and for the
 * first event not at all.
 */
const togetherMs = 40

let beat: Promise<void> | undefined

/** The end of the beat that runs: all streams share it, and its timer. */
function endOfBeat(): Promise<void> {
  const ended = (): void => void (beat = undefined)
  return (beat ??= Bun.sleep(togetherMs).then(ended))
}

/** An upstream that has said [DONE] has this long to close, so that its connection is kept. */
const closeMs = second

const readerOf = (body: NonNullable<Response['body']>) => body.getReader()
type Reader = ReturnType<typeof readerOf>
const cut = (): undefined => undefined

/** Quotes within a text are escaped, so these are the chunk's own fields. */
const isUsage = (data: string): boolean =>
  /"choices":\s*\[\]/.test(data) && /"usage":\s*\{/.test(data)

const isBegun = ({ data }: Event): boolean => data !== undefined && !isUsage(data)

/** The events of an upstream's stream, as they come. */
export class Source {
  private readonly events = new EventReader(eventBytesMax)
  private readonly bytes: Reader
  private waiting: Event[] = []
  private isOver = false
  private readAt = 0
  /**
   * What comes from a socket is joined while one waits. A stream that is made here (the demo's, a
   * translated lane's) is made as it is read: it would be given a beat for each of its events.
   */
  private readonly isFetched: boolean

  private constructor({ body, url }: Response) {
    this.isFetched = url !== ''
    this.bytes = readerOf(body ?? new Blob().stream())
  }

  /**
   * Opens a stream and waits for its first event that is more than a comment, or than the usage of
   * a prompt: what is refused behind that was never begun. The deadline of the first byte is not
   * for who says by comments that it works.
   */
  static async open(response: Response, watch: Watch): Promise<Source> {
    const source = new Source(response)
    const first: Event[] = []
    while (!first.some(isBegun)) {
      const events = await source.next()
      watch.began()
      if (!events) break
      first.push(...events)
    }
    source.waiting = first
    return source
  }

  /** The data of the first event; undefined when the stream ended, or broke off, without any. */
  get first(): string | undefined {
    return this.waiting.find(isBegun)?.data
  }

  /** Whether it closed in good order without a byte. */
  isEmpty = true

  /** The next events, at least one; undefined when no more come or they cannot be read. */
  async next(): Promise<Event[] | undefined> {
    if (this.waiting.length > 0) {
      const events = this.waiting
      this.waiting = []
      return events
    }
    while (!this.isOver) {
      if (this.isFetched && stopwatch() - this.readAt < togetherMs) await endOfBeat()
      const events = this.take(await this.bytes.read().catch(cut))
      this.readAt = stopwatch()
      if (events.length > 0) return events
    }
    return undefined
  }

  private take(read: Awaited<ReturnType<Reader['read']>> | undefined): Event[] {
    try {
      if (!read) return this.cutOff()
      const { done, value } = read
      if (value) {
        this.isEmpty = false
        return this.events.push(value)
      }
      this.isOver = done
      const last = this.events.end()
      return last?.data === undefined ? [] : [last]
    } catch {
      return this.cutOff()
    }
  }

  /** What came just before a cut is lost with it. */
  private cutOff(): Event[] {
    this.isEmpty = false
    this.isOver = true
    return []
  }

  /** What comes behind these events, as long as an upstream that is done has to close. */
  async *rest(events: Event[]): AsyncGenerator<Event> {
    const timer = setTimeout(() => void this.cancel(), closeMs)
    try {
      yield* events
      for (let next = await this.next(); next; next = await this.next()) yield* next
    } finally {
      clearTimeout(timer)
    }
  }

  /** Lets go of the upstream: at once, or when it has closed after its last event. */
  async close(isDone: boolean): Promise<void> {
    const timer = setTimeout(() => void this.cancel(), isDone ? closeMs : 0)
    while (isDone && !this.isOver) this.take(await this.bytes.read().catch(cut))
    if (isDone) clearTimeout(timer)
  }

  private async cancel(): Promise<void> {
    this.isOver = true
    await this.bytes.cancel().catch(() => undefined)
  }
}
