import type { UnderlyingSource } from 'bun'

import type { NanoUsd } from '../../core/money.ts'
import { isRecord } from '../../core/schema.ts'
import { heartbeatMs } from '../../limits.ts'
import type { Usage } from '../../models/usage.ts'
import { recordIn } from '../../providers/answer.ts'
import { verdictOfError } from '../paid/verdict.ts'
import type { Watch } from '../paid/watch.ts'
import { Alike } from './alike.ts'
import type { Carried } from './carried.ts'
import { bytesOf, type Event, eventOf, isComment } from './events.ts'
import { Pulse } from './pulse.ts'
import type { Source } from './source.ts'
import { errorEvent, type StreamEnd } from './stream-end.ts'
import { toldUsage, usageChunk } from './told.ts'

type Out = ReadableStreamDefaultController<Uint8Array>
type Json = Record<string, unknown>

/** What ends a stream, and the event that did when it is the upstream's [DONE]. */
type Ending =
  { how: 'done'; last: Uint8Array } | { how: Exclude<StreamEnd, 'done'>; last?: undefined }

/** What a client asked of its stream, and how one is told that it ended and was paid. */
export interface Terms {
  /** What a usage costs, where the client wants to be told it. */
  costOf: ((usage: Usage) => NanoUsd) | undefined
  /** Settles once the stream is paid: until then its last event is kept back. */
  paid: Promise<unknown>
  /** Is given every byte that the client is. */
  copy?: { add(part: Uint8Array): void } | undefined
  /** When it says that it lives. */
  pulse?: Pulse
}

const heartbeats = new Pulse(heartbeatMs)
const heartbeat = new TextEncoder().encode(': keep-alive\n\n')
const doneMark = '[DONE]'

/**
 * A stream on its way to a client: pulled, its bytes copied, each event read in passing. It ends
 * once, whatever ends it, and `ended` tells how. Events after [DONE] are not passed on.
 */
export class Relay implements UnderlyingSource<Uint8Array>, EventListenerObject {
  readonly ended: Promise<StreamEnd>
  private readonly tell: (end: StreamEnd) => void
  private readonly alike = new Alike()
  private isOpen = true
  private isQuiet = false
  private out: Out | undefined
  private isGone = false
  private latest: Json = {}
  /** The usage that the client was told last. */
  private lastTold: Usage | undefined
  private readonly pulse: Pulse

  constructor(
    private readonly source: Source,
    private readonly carried: Carried,
    private readonly watch: Watch,
    private readonly terms: Terms,
  ) {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    this.ended = promise
    this.tell = resolve
    this.pulse = terms.pulse ?? heartbeats
  }

  /** The body for the client. */
  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(this)
  }

  start(out: Out): void {
    this.out = out
    this.pulse.add(this)
    // A client that does not read any more, or a deadline, is noticed between two pulls as well.
    this.watch.signal.addEventListener('abort', this)
    if (this.watch.cause) this.handleEvent()
  }

  /** The work was broken off. */
  handleEvent(): void {
    if (this.out) void this.end(this.out, { how: this.watch.cause ?? 'broken' })
  }

  /** Says that the stream lives, when nothing came since the last beat. */
  beat(): void {
    if (this.isQuiet && (this.out?.desiredSize ?? 0) > 0) this.out?.enqueue(heartbeat)
    this.isQuiet = true
  }

  cancel(): void {
    this.isGone = true
    this.watch.stop('client')
  }

  async pull(out: Out): Promise<void> {
    while (this.isOpen) {
      const events = await this.source.next()
      if (!this.isOpen) return
      const { bytes, end, rest } = this.pass(events)
      this.isQuiet = false
      if (bytes.byteLength > 0) this.send(out, bytes)
      if (rest) await this.readUsage(rest)
      if (end) await this.end(out, end)
      if (end || bytes.byteLength > 0) return
    }
  }

  private send(out: Out, bytes: Uint8Array): void {
    this.terms.copy?.add(bytes)
    out.enqueue(bytes)
  }

  /**
   * The bytes of events that go on, up to the one that ends the stream; and the `rest` behind that,
   * where its upstream gave up and may tell yet what it used.
   */
  private pass(events: Event[] | undefined): { bytes: Uint8Array; end?: Ending; rest?: Event[] } {
    if (!events) return { bytes: bytesOf([]), end: { how: 'broken' } }
    const passed: Event[] = []
    for (const [at, event] of events.entries()) {
      const read = this.read(event)
      if (read && 'how' in read) {
        const isGivenUp = read.how === 'filtered' || read.how === 'failed'
        const rest = isGivenUp && { rest: events.slice(at + 1) }
        return { bytes: bytesOf(passed), end: read, ...rest }
      }
      if (read) passed.push(read)
    }
    return { bytes: bytesOf(passed) }
  }

  /** What of an event goes on, if anything does, or how it ends the stream. */
  private read(event: Event): Ending | Event | undefined {
    if (this.alike.read(event, this.carried)) return event
    const { data } = event
    if (data === undefined) return isComment(event) ? event : undefined
    if (data.trim() === doneMark) {
      return this.carried.hasContent ? { how: 'done', last: bytesOf([event]) } : { how: 'empty' }
    }
    const chunk = recordIn(data)
    if (!chunk) return { how: 'broken' }
    if (chunk.error) return { how: endOf(chunk.error) }
    this.carried.read(chunk)
    this.alike.learn(event, chunk)
    if (this.carried.isFiltered) return { how: 'filtered' }
    const isUsage = Array.isArray(chunk.choices) && chunk.choices.length === 0 && chunk.usage
    const wantsUsage = this.terms.costOf !== undefined
    if (isUsage && !(wantsUsage && this.isReadable)) return undefined
    if (wantsUsage && !isUsage) this.latest = chunk
    return this.told(event, chunk)
  }

  /** Clients add up what they are told, and are told it last: not also of the prompt before. */
  private get isReadable(): boolean {
    return this.carried.isTold && this.carried.hasContent
  }

  /** The event itself, unless the client is to be told another usage, or none yet. */
  private told(event: Event, chunk: Json): Event {
    const { usage: said } = chunk
    if (!isRecord(said)) return event
    const usage = this.isReadable ? this.usageFor(said) : undefined
    if (Bun.deepEquals(usage, said)) return event
    const bytes = eventOf({ ...chunk, usage })
    return { bytes, start: 0, end: bytes.byteLength, data: undefined }
  }

  private usageFor(said: Json): Json {
    const used = this.carried.usage(true)
    this.lastTold = used
    return toldUsage(said, used, this.terms.costOf?.(used))
  }

  /** Reads on to the usage behind the end, which wins over our own count. */
  private async readUsage(rest: Event[]): Promise<void> {
    for await (const { data = '' } of this.source.rest(rest)) {
      const usage = recordIn(data)?.usage
      if (usage) return this.carried.read({ usage })
      if (data.trim() === doneMark) return
    }
  }

  /** Ends the stream, once: what comes second finds it closed. */
  private async end(out: Out, ending: Ending): Promise<void> {
    if (!this.isOpen) return
    const { how } = ending
    this.isOpen = false
    this.pulse.delete(this)
    this.watch.end()
    const closing = this.closing(ending)
    if (closing) this.terms.copy?.add(closing)
    this.tell(how)
    void this.source.close(how === 'done')
    await this.terms.paid
    if (this.isGone || !closing) return
    out.enqueue(closing)
    out.close()
  }

  /** What a client is told last: [DONE], after the usage it wants and was not told, or an error. */
  private closing({ how, last }: Ending): Uint8Array | undefined {
    if (how === 'client') return undefined
    if (how !== 'done') return errorEvent(how)
    const { costOf } = this.terms
    const usage = this.carried.usage(true)
    if (!costOf || Bun.deepEquals(usage, this.lastTold)) return last
    return Buffer.concat([usageChunk(this.latest, usage, costOf(usage)), last])
  }
}

const endOf = (error: unknown): 'filtered' | 'failed' =>
  verdictOfError(error).refusal.errorName === 'content_policy' ? 'filtered' : 'failed'
