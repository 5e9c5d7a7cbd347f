import type { UnderlyingSource } from 'bun'

import { completed, type Success } from '../../kernel/http/outcome.ts'
import { heartbeatMs } from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import { second } from '../../kernel/time.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { FinalUsage, StreamWriter } from '../conversation/codec.ts'
import { bytesOf, noBytes, type StreamEvent } from '../events.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { failureOfErrorBody } from '../paid/upstream-failure.ts'
import { ChunkTemplate } from './chunk-template.ts'
import type { ChatMeter } from './meter.ts'
import { type ChatSource, encodeStep, eventUnlessEmpty, type Step } from './source.ts'

/**
 * The end of a stream. `empty`: complete without content; `failed`: the upstream's own error;
 * `broken`: cut, unreadable, or closed before its end.
 */
type StreamEnd =
  'done' | 'empty' | 'filtered' | 'failed' | 'broken' | 'deadline' | 'shutdown' | 'client'

const partlyCharged = 'The prompt and the output until here were charged.'

const messages: { [E in Exclude<StreamEnd, 'done' | 'client'>]: string } = {
  empty: 'The model returned no content. Nothing was charged.',
  filtered: `The provider blocked this response under its content rules. ${partlyCharged}`,
  failed: `The provider failed during the response. ${partlyCharged}`,
  broken: `The provider's response broke off. ${partlyCharged}`,
  deadline: `The model exceeded the deadline. ${partlyCharged}`,
  shutdown: `The server stopped during the response. ${partlyCharged}`,
}

/** Returns the error that ends a stream (document 2, section 6), as OpenAI has it. */
function errorOfEnd(end: keyof typeof messages): Json {
  const [type, code] =
    end === 'filtered'
      ? ['invalid_request_error', 'content_policy_violation']
      : ['api_error', 'upstream_stream_error']
  return { message: messages[end], type, param: null, code }
}

type Out = ReadableStreamDefaultController<Uint8Array>

interface Passed {
  bytes: Uint8Array
  end?: Exclude<StreamEnd, 'client'>
  /** The event that ends a whole stream. It waits for the charge. */
  last?: StreamEvent | undefined
  /** Steps behind the end, where an upstream that gave up may still report its usage. */
  rest?: Step[]
}

/** The client of a stream, and its connections to the charge and the replay. */
export interface RelayOptions {
  writer: StreamWriter
  /** True if the upstream has the client's API: its bytes are passed on. */
  isPassed: boolean
  /** Returns the usage so far and its cost, for the client. */
  final(): FinalUsage
  /** Resolves when the charge is committed. The last event waits for it. */
  settled: Promise<unknown>
  copy?: StreamCopy | undefined
  heartbeat?: Heartbeat
}

interface Beating {
  beat(): void
}

/**
 * Calls `beat` of all its members with one shared timer, because many streams are open at a time.
 */
export class Heartbeat {
  private readonly members = new Set<Beating>()
  private timer: Timer | undefined

  constructor(private readonly everyMs: number) {}

  add(member: Beating): void {
    this.members.add(member)
    this.timer ??= setInterval(() => {
      for (const each of this.members) each.beat()
    }, this.everyMs)
  }

  delete(member: Beating): void {
    this.members.delete(member)
    if (this.members.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

const heartbeats = new Heartbeat(heartbeatMs)
/** Time for an upstream that gave up to report its usage. */
const usageMs = second

/**
 * A stream from an upstream to a client. The client pulls, each event is read once, and it is
 * passed on or written in the client's API. It ends once, and `ended` resolves with the reason.
 */
export class Relay implements UnderlyingSource<Uint8Array>, EventListenerObject {
  private readonly ending = Promise.withResolvers<StreamEnd>()
  readonly ended = this.ending.promise
  private isOpen = true
  private isQuiet = false
  private out: Out | undefined
  private hasClientLeft = false
  private readonly heartbeat: Heartbeat
  private readonly template: ChunkTemplate | undefined

  constructor(
    private readonly source: ChatSource,
    private readonly meter: ChatMeter,
    private readonly deadlines: CallDeadlines,
    private readonly options: RelayOptions,
  ) {
    this.heartbeat = options.heartbeat ?? heartbeats
    if (options.isPassed && !options.copy?.read) this.template = new ChunkTemplate()
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
    if (this.out) void this.end(this.out, this.deadlines.cause ?? 'broken')
  }

  /** Sends a heartbeat when nothing was sent since the last one. */
  beat(): void {
    const bytes = this.isQuiet && (this.out?.desiredSize ?? 0) > 0 && this.options.writer.beat()
    if (bytes && bytes.byteLength > 0) {
      // In some APIs a heartbeat is the start of the next event.
      this.options.copy?.add(bytes)
      this.out?.enqueue(bytes)
    }
    this.isQuiet = true
  }

  cancel(): void {
    this.hasClientLeft = true
    this.options.writer.leave?.()
    this.deadlines.stop('client')
  }

  async pull(out: Out): Promise<void> {
    while (this.isOpen) {
      const steps = await this.source.next()
      if (!this.isOpen) return
      const { bytes, end, last, rest } = this.pass(steps)
      this.isQuiet = false
      if (bytes.byteLength > 0) {
        this.options.copy?.add(bytes)
        out.enqueue(bytes)
      }
      const cut = this.options.writer.cut?.()
      if (cut) return this.cut(out, cut)
      if (rest) await this.readUsage(rest)
      if (end) await this.end(out, end, last)
      if (end || bytes.byteLength > 0) return
    }
  }

  /** Returns the bytes to send, up to the step that ends the stream. */
  private pass(steps: Step[] | undefined): Passed {
    if (!steps) return { bytes: noBytes, end: 'broken' }
    const passed: StreamEvent[] = []
    for (let at = this.skim(steps, 0, passed); at < steps.length;) {
      const step = steps[at] ?? { events: [] }
      const end = this.read(step)
      if (end === 'filtered' || end === 'failed') {
        return { bytes: bytesOf(passed), end, rest: steps.slice(at + 1) }
      }
      if (end === 'broken') return { bytes: bytesOf(passed), end }
      const sent = this.write(step)
      if (end) return { bytes: bytesOf(passed), end, last: sent }
      if (sent) passed.push(sent)
      const report = this.report(step)
      if (report) passed.push(report)
      at = this.skim(steps, at + 1, passed)
    }
    return { bytes: bytesOf(passed) }
  }

  /** Passes on the events from `at` that the template reads. Returns the index of the next one. */
  private skim(steps: Step[], at: number, passed: StreamEvent[]): number {
    const { template, meter } = this
    if (!template) return at
    const run: StreamEvent[] = []
    let next = at
    for (let own = steps[next]?.own; own && template.read(own, meter); own = steps[next]?.own) {
      run.push(own)
      next += 1
    }
    if (run.length > 0) template.write(run, passed)
    return next
  }

  /** Reads a step, and returns the end of the stream if it is one. */
  private read(step: Step): Passed['end'] {
    const { events } = step
    if (!events) return 'broken'
    this.meter.read(events)
    this.options.copy?.read?.(step)
    const failed = events.find((event) => event.type === 'error')
    if (failed) return endOfError(failed.error)
    if (this.meter.isFiltered) return 'filtered'
    if (!events.some(({ type }) => type === 'done')) return undefined
    return this.meter.hasContent ? 'done' : 'empty'
  }

  /** Returns the event that the client gets for a step. */
  private write(step: Step): StreamEvent | undefined {
    const { own, events } = step
    const written = encodeStep(step, this.options.writer, this.options.isPassed)
    if (own && events && written) this.template?.learn(own, written, events)
    return written
  }

  /** Returns the usage for the client. Clients add up all of them, so one without output waits. */
  private report({ events = [] }: Step): StreamEvent | undefined {
    const { writer, final } = this.options
    const isReport = writer.report !== undefined && events.some(({ type }) => type === 'usage')
    if (!isReport || !this.meter.hasContent || !this.meter.hasReportedUsage) return undefined
    return eventUnlessEmpty(writer.report?.(final()) ?? noBytes)
  }

  /** Reads on to the usage behind the end. It takes precedence over the count made here. */
  private async readUsage(rest: Step[]): Promise<void> {
    const timer = setTimeout(() => void this.source.close(false), usageMs)
    try {
      for (let steps: Step[] | undefined = rest; steps; steps = await this.source.next()) {
        const events = steps.flatMap((step) => step.events ?? [])
        const usages = events.filter(({ type }) => type === 'usage')
        this.meter.read(usages)
        if (usages.length > 0 || events.some(({ type }) => type === 'done')) return
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends the stream. Later calls have no effect. */
  private async end(out: Out, how: StreamEnd, last?: StreamEvent): Promise<void> {
    if (!this.isOpen) return
    this.isOpen = false
    this.heartbeat.delete(this)
    this.deadlines.end()
    const closing = await this.closing(how, last)
    if (closing) this.options.copy?.add(closing)
    this.ending.resolve(how)
    void this.source.close(how === 'done')
    await this.options.settled
    if (this.hasClientLeft || !closing) return
    if (closing.byteLength > 0) out.enqueue(closing)
    out.close()
  }

  /** Returns the last events: those of a whole response, or an error. */
  private async closing(how: StreamEnd, last?: StreamEvent): Promise<Uint8Array | undefined> {
    const { writer, final } = this.options
    if (how === 'client') return undefined
    if (how !== 'done') return writer.fail(errorOfEnd(how), final())
    const closing = await writer.end(final())
    return last ? Buffer.concat([bytesOf([last]), closing]) : closing
  }

  /** Ends a stream that is too long for its client's API. */
  private cut(out: Out, last: Uint8Array): void {
    this.options.copy?.add(last)
    out.enqueue(last)
    out.close()
    this.cancel()
  }
}

const endOfError = (error: unknown): 'filtered' | 'failed' =>
  failureOfErrorBody(error).error.errorName === 'content_policy' ? 'filtered' : 'failed'

/** A bounded copy of a stream: its bytes for a replay, and its steps for the cache. */
export class StreamCopy {
  private readonly parts: Uint8Array[] = []
  private readonly kept: Step[] = []
  private bytes = 0
  /** Reads a step of the stream, where its events are needed. */
  readonly read: ((step: Step) => void) | undefined

  constructor(
    private readonly bytesMax: number,
    { texts, keepsSteps }: { texts: StreamTexts | undefined; keepsSteps: boolean },
  ) {
    if (!texts && !keepsSteps) return
    this.read = (step) => {
      texts?.read(step.events ?? [])
      if (keepsSteps && !this.isFull) this.kept.push(step)
    }
  }

  /** All steps; undefined for a stream that is too long to keep. */
  get steps(): readonly Step[] | undefined {
    return this.isFull ? undefined : this.kept
  }

  add(part: Uint8Array): void {
    this.bytes += part.byteLength
    if (!this.isFull) this.parts.push(part)
  }

  /** Returns the client's stream, and reads it here to its end, or until the copy is full. */
  readBeside(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const [client, own] = stream.tee()
    void this.readAll(own)
    return client
  }

  private async readAll(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const _ of stream) if (this.isFull) return
  }

  private get isFull(): boolean {
    return this.bytes > this.bytesMax
  }

  /** The stored response; undefined for a stream that is too long to replay. */
  get response(): Success | undefined {
    if (this.isFull) return undefined
    return completed({ stream: new TextDecoder().decode(Buffer.concat(this.parts)) })
  }
}

/** The texts of a stream, bounded, for the guardrail and traces. */
export class StreamTexts {
  private readonly words = new Map<number, string>()
  private readonly all = new Map<number, string>()
  private chars = 0

  constructor(private readonly charsMax: number) {}

  read(events: readonly ChatEvent[]): void {
    for (const event of events) if ('choice' in event) this.readEvent(event)
  }

  private readEvent(event: Extract<ChatEvent, { choice: number }>): void {
    const text = event.type === 'call' ? event.name : 'text' in event ? event.text : ''
    this.chars += text.length
    if (text === '' || this.chars > this.charsMax) return
    append(this.all, event.choice, text)
    if (event.type !== 'thinking') append(this.words, event.choice, text)
  }

  /** The texts of all choices: words, spoken words, and the names and arguments of calls. */
  get text(): string {
    return [...this.words.values()].join('\n')
  }

  /** The same with the reasoning. */
  get textWithReasoning(): string {
    return [...this.all.values()].join('\n')
  }
}

const append = (texts: Map<number, string>, choice: number, text: string): void =>
  void texts.set(choice, (texts.get(choice) ?? '') + text)
