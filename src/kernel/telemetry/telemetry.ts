import type { Config } from '../config/settings.ts'
import { newTraceId } from '../ids.ts'
import type { Log } from '../log.ts'
import { type Clock, minute, monotonic, second } from '../time.ts'
import { version } from '../version.ts'
import { Instruments, type ModelCall, type ServedRequest } from './instruments.ts'
import {
  childOf,
  encodeMetrics,
  encodePairs,
  encodeSpan,
  encodeTraces,
  type Resource,
  type Span,
  type SpanContext,
  startSpan,
} from './otlp.ts'

const spansMax = 2_048
const charsMax = 8_000_000
const batchMax = 512
const flushMs = 5 * second
const timeoutMs = 10 * second
const firstPauseMs = 5 * second
const longestPauseMs = 5 * minute

export interface Collector {
  /** Without a slash at its end, such as http://127.0.0.1:4318. */
  endpoint: string
  headers: Record<string, string>
}

/**
 * Sends signals to an OpenTelemetry collector by OTLP over HTTP. Spans wait in a bounded queue and
 * are sent together. After a failure it drops spans for a pause that doubles up to five minutes, so
 * a collector that is down costs neither time nor memory.
 */
class Exporter {
  private spans: string[] = []
  private chars = 0
  private dropped = 0
  private timer: Timer | undefined
  private sending: Promise<void> | undefined
  private pausedUntil = -Infinity
  private pauseMs = firstPauseMs

  constructor(
    private readonly collector: Collector,
    private readonly encode: (spans: readonly string[]) => string,
    private readonly parts: { clock: Clock; log: Log },
  ) {}

  /** False while a failed collector pauses: nothing needs to be encoded then. */
  get isOpen(): boolean {
    return monotonic(this.parts.clock) >= this.pausedUntil
  }

  /** Adds an encoded span. It is dropped when the queue is full. */
  add(span: string): void {
    if (this.spans.length >= spansMax || this.chars + span.length > charsMax) {
      this.dropped += 1
      return
    }
    this.spans.push(span)
    this.chars += span.length
    if (this.spans.length >= batchMax) void this.flush()
    else this.timer ??= setTimeout(() => void this.flush(), flushMs).unref()
  }

  /** Sends the waiting spans. Spans that arrive meanwhile are sent after them. */
  flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined
    })
    return this.sending
  }

  private async sendAll(): Promise<void> {
    while (this.spans.length > 0) {
      const batch = this.spans.splice(0, batchMax)
      this.chars -= batch.reduce((sum, span) => sum + span.length, 0)
      if (!(await this.post('/v1/traces', this.encode(batch)))) this.clear()
    }
  }

  private clear(): void {
    this.dropped += this.spans.length
    this.spans = []
    this.chars = 0
  }

  /** Sends one request. Returns whether the collector accepted it; a failure starts a pause. */
  async post(path: '/v1/traces' | '/v1/metrics', body: string): Promise<boolean> {
    const { collector, parts } = this
    const problem = await send(collector, path, body)
    if (problem === undefined) {
      this.pauseMs = firstPauseMs
      return true
    }
    if (this.isOpen) {
      parts.log.warn('telemetry.failed', { why: problem, dropped: this.dropped })
      this.pausedUntil = monotonic(parts.clock) + this.pauseMs
      this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs)
    }
    return false
  }
}

/** Returns the problem of a request; undefined for a success. Throws nothing. */
async function send(
  { endpoint, headers }: Collector,
  path: string,
  body: string,
): Promise<string | undefined> {
  try {
    const response = await fetch(endpoint + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    return response.ok ? undefined : `status ${response.status}`
  } catch (error) {
    // The message may contain the address, which can contain a password.
    return error instanceof Error ? error.name : 'unknown'
  }
}

/**
 * Records traces and metrics with the GenAI semantic conventions of OpenTelemetry, and sends them
 * to a collector.
 */
export class Telemetry {
  private readonly exporter: Exporter
  private readonly instruments = new Instruments()
  private readonly startedAt: number
  private readonly timer: Timer

  constructor(
    private readonly resource: Resource,
    collector: { endpoint: string; headers: Record<string, string> },
    readonly hasContent: boolean,
    private readonly parts: { clock: Clock; log: Log; metricSeconds: number },
  ) {
    const encode = (spans: readonly string[]) => encodeTraces(resource, spans)
    this.exporter = new Exporter(collector, encode, parts)
    this.startedAt = parts.clock.now()
    this.timer = setInterval(() => void this.sendMetrics(), parts.metricSeconds * second)
    this.timer.unref()
  }

  /** Begins the span of a request. `traceparent`: the header of the caller. */
  beginRequest(traceparent: string | null): SpanContext {
    return startSpan(traceparent)
  }

  /** Ends the span of a request when its response begins. */
  endRequest(
    span: SpanContext,
    { method, route, status, ms, requestId, key }: ServedRequest,
  ): void {
    const known = this.instruments.ofRoute({ method, route, status })
    known.durations.record(ms / second)
    if (!this.isRecorded(span)) return
    const pairs = known.pairs + encodePairs({ 'berth.request_id': requestId, 'berth.key': key })
    this.record(span, { ...known, kind: 'server', ms, pairs })
  }

  /** Records a call of a model, as a child of the span of its request. */
  recordCall(parent: SpanContext | undefined, call: ModelCall): void {
    const { ms, firstByteMs } = call
    const known = this.instruments.ofModel(call)
    known.durations.record(ms / second)
    if (firstByteMs !== null) known.firstBytes().record(firstByteMs / second)
    if (call.inputTokens > 0) known.input().record(call.inputTokens)
    if (call.outputTokens > 0) known.output().record(call.outputTokens)
    if (parent && !this.isRecorded(parent)) return
    const pairs = encodePairs({
      'gen_ai.usage.input_tokens': call.inputTokens,
      'gen_ai.usage.output_tokens': call.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': call.cachedTokens || undefined,
      'gen_ai.usage.reasoning.output_tokens': call.reasoningTokens || undefined,
      'gen_ai.usage.cost': call.cost,
      'gen_ai.response.time_to_first_chunk':
        firstByteMs === null ? undefined : Math.round(firstByteMs) / second,
      'berth.request_id': call.requestId,
    })
    const all = known.pairs + pairs + encodePairs(call.more)
    this.record(childOf(parent), { ...known, kind: 'client', ms, pairs: all })
  }

  /** Returns whether the spans of a trace are sent. */
  private isRecorded({ isSampled }: SpanContext): boolean {
    return isSampled && this.exporter.isOpen
  }

  private record(
    { traceId, spanId, parentId, isSampled }: SpanContext,
    {
      ms,
      nameText,
      kind,
      pairs,
      error,
    }: Pick<Span, 'nameText' | 'kind' | 'pairs' | 'error'> & {
      ms: number
    },
  ): void {
    if (!isSampled || !this.exporter.isOpen) return
    const endedAt = this.parts.clock.now()
    const times = { startedAt: endedAt - ms, endedAt }
    const ids = { traceId, spanId, parentId }
    this.exporter.add(encodeSpan({ ...ids, ...times, nameText, kind, pairs, error }))
  }

  private async sendMetrics(): Promise<void> {
    if (!this.exporter.isOpen) return
    const now = this.parts.clock.now()
    const metrics = this.instruments.encode(this.startedAt, now)
    if (metrics.length === 0) return
    await this.exporter.post('/v1/metrics', encodeMetrics(this.resource, metrics))
  }

  /** Sends everything that waits. */
  async flush(): Promise<void> {
    await this.exporter.flush()
    await this.sendMetrics()
  }

  /** Sends what waits, for the end of the process. */
  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.flush()
  }
}

/** Opens the telemetry; undefined where no collector is set. */
export function openTelemetry(
  config: Config,
  { clock, log }: { clock: Clock; log: Log },
): Telemetry | undefined {
  const endpoint = config.otelExporterOtlpEndpoint
  if (endpoint === '') return undefined
  const resource = { name: config.otelServiceName, version, instance: newTraceId(16) }
  const headers = parseHeaders(config.otelExporterOtlpHeaders)
  const hasContent = config.otelInstrumentationGenaiCaptureMessageContent
  const metricSeconds = config.otelMetricExportSeconds
  return new Telemetry(resource, { endpoint, headers }, hasContent, { clock, log, metricSeconds })
}

/** Parses "name=value,name=value" (W3C Baggage, as OpenTelemetry writes headers). */
const parseHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const [, name, value = ''] = /^\s*([\w-]+)\s*=(.*)$/.exec(pair) ?? []
      return name === undefined ? [] : [[name, decodeHeader(value.trim())]]
    }),
  )

function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
