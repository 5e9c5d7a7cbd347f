import type { UnderlyingSource } from 'bun'

import { heartbeatMs } from '../../kernel/limits.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import { bytesOf, encodeEvent, isComment, type StreamEvent } from '../events.ts'
import type { Usage } from '../models/usage.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { failureOfErrorBody } from '../paid/upstream-failure.ts'
import { parseRecord } from '../providers/response.ts'
import { ChunkTemplate } from './chunk-template.ts'
import { clientUsage, errorEvent, type StreamEnd, usageChunk } from './client-events.ts'
import { Heartbeat } from './heartbeat.ts'
import type { ResponseMeter } from './response-meter.ts'
import type { UpstreamEvents } from './upstream-events.ts'

type Out = ReadableStreamDefaultController<Uint8Array>

/** The end of a stream, with the upstream's [DONE] event when there is one. */
type Ending =
  { how: 'done'; last: Uint8Array } | { how: Exclude<StreamEnd, 'done'>; last?: undefined }

interface Passed {
  bytes: Uint8Array
  end?: Ending
  /** Events behind the end, where an upstream that gave up may still report its usage. */
  rest?: StreamEvent[]
}

/** The client's options of a stream, and its connections to the charge and the replay. */
export interface RelayOptions {
  /** Returns the charge of a usage, for a client that wants to see it. */
  costOf: ((usage: Usage) => NanoUsd) | undefined
  /** Resolves when the charge is committed. The last event waits for it. */
  settled: Promise<unknown>
  copy?: { add(part: Uint8Array): void } | undefined
  /** True if the bytes of all events are passed on unchanged, because they are no chat's. */
  isNative?: boolean
  /** Returns a chunk as the client knows it. */
  convert?: ((chunk: Json) => Json) | undefined
  heartbeat?: Heartbeat
}

const heartbeats = new Heartbeat(heartbeatMs)
const keepAlive = new TextEncoder().encode(': keep-alive\n\n')
const doneMark = '[DONE]'

/**
 * A stream from an upstream to a client. The client pulls, bytes are passed on, and each event is
 * read in passing. It ends once, and `ended` resolves with the reason. Events after [DONE] are
 * dropped.
 */
export class Relay implements UnderlyingSource<Uint8Array>, EventListenerObject {
  private readonly ending = Promise.withResolvers<StreamEnd>()
  readonly ended = this.ending.promise
  private readonly template = new ChunkTemplate()
  private isOpen = true
  private isQuiet = false
  private out: Out | undefined
  private hasClientLeft = false
  private latest: Json = {}
  /** The usage that the client received last. */
  private lastUsage: Usage | undefined
  private readonly heartbeat: Heartbeat

  constructor(
    private readonly source: UpstreamEvents,
    private readonly meter: ResponseMeter,
    private readonly deadlines: CallDeadlines,
    private readonly options: RelayOptions,
  ) {
    this.heartbeat = options.heartbeat ?? heartbeats
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(this)
  }

  start(out: Out): void {
    this.out = out
    this.heartbeat.add(this)
    // Detects a client that stopped reading, and a deadline, between two pulls.
    this.deadlines.signal.addEventListener('abort', this)
    if (this.deadlines.cause) this.handleEvent()
  }

  handleEvent(): void {
    if (this.out) void this.end(this.out, { how: this.deadlines.cause ?? 'broken' })
  }

  /** Sends a comment when nothing was sent since the last heartbeat. */
  beat(): void {
    if (this.isQuiet && (this.out?.desiredSize ?? 0) > 0) this.out?.enqueue(keepAlive)
    this.isQuiet = true
  }

  cancel(): void {
    this.hasClientLeft = true
    this.deadlines.stop('client')
  }

  async pull(out: Out): Promise<void> {
    while (this.isOpen) {
      const events = await this.source.next()
      if (!this.isOpen) return
      const { bytes, end, rest } = this.pass(events)
      this.isQuiet = false
      if (bytes.byteLength > 0) {
        this.options.copy?.add(bytes)
        out.enqueue(bytes)
      }
      if (rest) await this.readUsage(rest)
      if (end) await this.end(out, end)
      if (end || bytes.byteLength > 0) return
    }
  }

  /** Returns the bytes to send, up to the event that ends the stream. */
  private pass(events: StreamEvent[] | undefined): Passed {
    if (!events) return { bytes: bytesOf([]), end: { how: 'broken' } }
    const passed: StreamEvent[] = []
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

  /** Returns the event to send, the end of the stream, or undefined for a dropped event. */
  private read(event: StreamEvent): Ending | StreamEvent | undefined {
    const { isNative } = this.options
    if (!isNative && this.template.read(event, this.meter)) return event
    const { data } = event
    if (data === undefined) return isNative || isComment(event) ? event : undefined
    if (data.trim() === doneMark) return this.endWith(event)
    const chunk = parseRecord(data)
    if (!chunk) return { how: 'broken' }
    this.meter.read(chunk)
    if (chunk.error) return { how: endOfError(chunk.error) }
    if (!isNative) this.template.learn(event, chunk)
    if (this.meter.isFiltered) return { how: 'filtered' }
    // Set by the converters of APIs without [DONE].
    if (isNative) return chunk.isLast ? this.endWith(event) : event
    const isUsage = Array.isArray(chunk.choices) && chunk.choices.length === 0 && chunk.usage
    const wantsUsage = this.options.costOf !== undefined
    if (isUsage && !(wantsUsage && this.isUsageFinal)) return undefined
    if (wantsUsage && !isUsage) this.latest = chunk
    return this.convert(event, chunk)
  }

  private endWith(event: StreamEvent): Ending {
    return this.meter.hasContent ? { how: 'done', last: bytesOf([event]) } : { how: 'empty' }
  }

  /** Clients add up all reported usages, so an early one, of the prompt alone, is dropped. */
  private get isUsageFinal(): boolean {
    return this.meter.hasReportedUsage && this.meter.hasContent
  }

  /** Returns the event as the client knows it, with the usage for the client, or unchanged. */
  private convert(event: StreamEvent, chunk: Json): StreamEvent {
    const converted = this.options.convert?.(chunk) ?? chunk
    const { usage: reported } = chunk
    const usage = isRecord(reported) && this.isUsageFinal ? this.usageFor(reported) : undefined
    const isUsageKept = !isRecord(reported) || Bun.deepEquals(usage, reported)
    if (isUsageKept && converted === chunk) return event
    const bytes = encodeEvent(isUsageKept ? converted : { ...converted, usage })
    return { bytes, start: 0, end: bytes.byteLength, data: undefined }
  }

  private usageFor(reported: Json): Json {
    const usage = this.meter.usage(true)
    this.lastUsage = usage
    return clientUsage(reported, usage, this.options.costOf?.(usage))
  }

  /** Reads on to the usage behind the end. It takes precedence over the count made here. */
  private async readUsage(rest: StreamEvent[]): Promise<void> {
    for await (const { data = '' } of this.source.rest(rest)) {
      const usage = parseRecord(data)?.usage
      if (usage) return this.meter.read({ usage })
      if (data.trim() === doneMark) return
    }
  }

  /** Ends the stream. Later calls have no effect. */
  private async end(out: Out, ending: Ending): Promise<void> {
    if (!this.isOpen) return
    const { how } = ending
    this.isOpen = false
    this.heartbeat.delete(this)
    this.deadlines.end()
    const closing = this.closing(ending)
    if (closing) this.options.copy?.add(closing)
    this.ending.resolve(how)
    void this.source.close(how === 'done')
    await this.options.settled
    if (this.hasClientLeft || !closing) return
    if (closing.byteLength > 0) out.enqueue(closing)
    out.close()
  }

  /** Returns the last events: [DONE], with a usage that is still missing before it, or an error. */
  private closing({ how, last }: Ending): Uint8Array | undefined {
    if (how === 'client') return undefined
    if (how !== 'done') return errorEvent(how)
    const { costOf } = this.options
    const usage = this.meter.usage(true)
    if (!costOf || Bun.deepEquals(usage, this.lastUsage)) return last
    return Buffer.concat([usageChunk(this.latest, usage, costOf(usage)), last])
  }
}

const endOfError = (error: unknown): 'filtered' | 'failed' =>
  failureOfErrorBody(error).error.errorName === 'content_policy' ? 'filtered' : 'failed'
