import type { Log } from '../log.ts'
import { type Clock, minute, monotonic, second } from '../time.ts'

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
export class Exporter {
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
