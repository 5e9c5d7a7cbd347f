import { ApiError } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import type { Json } from '../../kernel/schema.ts'
import { type Clock, isWithin, minute, second } from '../../kernel/time.ts'
import type { Api } from '../conversation/chat-request.ts'
import type { Rejected, UpstreamRejection } from './error-body.ts'
import {
  type ConnectRequest,
  type DownloadRequest,
  type PollRequest,
  type SentChat,
  type SentRequest,
  type Upstream,
  type UpstreamCall,
  type UpstreamChat,
  UpstreamError,
  type UpstreamSocket,
} from './upstream.ts'

type SentCall = SentRequest | SentChat | UpstreamSocket
const rejectionOf = (sent: SentCall): UpstreamRejection | undefined =>
  'rejected' in sent ? sent.rejected : undefined

/** Statuses for an operator's key that is invalid or out of credit. */
const keyStatuses = [401, 402, 403]

/** The health of an upstream since the start. Times are milliseconds since 1970. */
export interface UpstreamHealth {
  name: string
  kind: string
  state: CircuitBreaker['state']
  /** Responses without an upstream error. */
  answers: number
  failures: number
  answeredAt: number | undefined
  /** `why` is an error kind or a status, never the upstream's own text. */
  lastFailure: { at: number; why: string } | undefined
}

/** An upstream that counts its responses and failures, behind a circuit breaker. */
export class MonitoredUpstream implements Upstream {
  readonly name: string
  readonly kind: string
  readonly apis: readonly Api[]
  private readonly breaker: CircuitBreaker
  private readonly counts: Omit<UpstreamHealth, 'name' | 'kind' | 'state'> = {
    answers: 0,
    failures: 0,
    answeredAt: undefined,
    lastFailure: undefined,
  }

  constructor(
    private readonly upstream: Upstream,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.name = upstream.name
    this.kind = upstream.kind
    this.apis = upstream.apis
    this.breaker = new CircuitBreaker(clock)
  }

  get health(): UpstreamHealth {
    return { name: this.name, kind: this.kind, state: this.breaker.state, ...this.counts }
  }

  /** False while the breaker is open. */
  get isAvailable(): boolean {
    return this.breaker.isAvailable
  }

  send(call: UpstreamCall): Promise<SentRequest> {
    return this.monitor(() => this.upstream.send(call))
  }

  chat(call: UpstreamChat): Promise<SentChat> {
    return this.monitor(() => this.upstream.chat(call))
  }

  ignoredFields(request: Pick<UpstreamCall, 'path' | 'body'>): string[] {
    return this.upstream.ignoredFields?.(request) ?? []
  }

  async poll(request: PollRequest): Promise<SentRequest> {
    const poll = this.upstream.poll?.bind(this.upstream)
    if (!poll) throw new UpstreamError('refused', this.name)
    return this.monitor(() => poll(request))
  }

  /** Opens a realtime session, or returns the rejection of a refused handshake. */
  async connect(request: ConnectRequest): Promise<UpstreamSocket | Rejected> {
    const connect = this.upstream.connect?.bind(this.upstream)
    if (!connect) throw new UpstreamError('refused', this.name)
    return this.monitor(() => connect(request))
  }

  /** Downloads a result. The health does not count it: many upstreams store results elsewhere. */
  async download(request: DownloadRequest): Promise<Response> {
    if (!this.upstream.download) throw new UpstreamError('refused', this.name)
    return this.upstream.download(request)
  }

  private async monitor<Result extends SentCall>(send: () => Promise<Result>): Promise<Result> {
    if (!this.breaker.tryAcquire()) throw new UpstreamError('refused', this.name)
    try {
      const sent = await send()
      const rejected = rejectionOf(sent)
      if (rejected) this.recordStatus(rejected.status)
      else this.succeeded()
      return sent
    } catch (error) {
      // A request that its codec cannot encode was not sent.
      if (error instanceof ApiError) this.breaker.released()
      else if (!(error instanceof UpstreamError)) this.failed('unknown', { error: String(error) })
      else if (error.kind === 'aborted') this.breaker.released()
      else this.failed(error.kind, { error: error.kind })
      throw error
    }
  }

  private recordStatus(status: number): void {
    const why = `status ${status}`
    if (keyStatuses.includes(status)) return this.failed(why, { status }, 'upstream.key_refused')
    if (status >= 500) return this.failed(why, { status })
    this.succeeded()
  }

  private succeeded(): void {
    this.breaker.succeeded()
    this.counts.answers += 1
    this.counts.answeredAt = this.clock.now()
  }

  /** Logs every failure: when another upstream serves the request, its client never sees one. */
  private failed(why: string, details: Json, event = 'upstream.failed'): void {
    const upstream = this.name
    this.counts.failures += 1
    this.counts.lastFailure = { at: this.clock.now(), why }
    this.log.warn(event, { upstream, ...details })
    if (this.breaker.failed()) this.log.warn('upstream.open', { upstream })
  }
}

/** Failures in a row that open the breaker. */
const failuresMax = 5
const firstPauseMs = 5 * second
const longestPauseMs = 5 * minute

/**
 * The circuit breaker of one upstream. Five failures in a row open it: it blocks requests for 5 s,
 * then admits one probe. Each failed probe doubles the pause, up to 5 minutes.
 */
export class CircuitBreaker {
  private failures = 0
  private pauseMs = firstPauseMs
  private openedAt = -Infinity
  /** Start of the running probe. A probe without a result expires after the longest pause. */
  private probeAt: number | undefined

  constructor(private readonly clock: Clock) {}

  /** closed: all requests pass; open: none; half-open: one probe. */
  get state(): 'closed' | 'open' | 'half-open' {
    if (this.failures < failuresMax) return 'closed'
    return this.isPaused ? 'open' : 'half-open'
  }

  /** Returns whether a request may be sent now. */
  get isAvailable(): boolean {
    if (this.failures < failuresMax) return true
    const probeAt = this.probeAt ?? -Infinity
    return !this.isPaused && !isWithin(this.clock, probeAt, longestPauseMs)
  }

  /** Reserves one request. When true, the caller then reports its result. */
  tryAcquire(): boolean {
    if (!this.isAvailable) return false
    if (this.failures >= failuresMax) this.probeAt = this.clock.now()
    return true
  }

  succeeded(): void {
    this.failures = 0
    this.pauseMs = firstPauseMs
    this.probeAt = undefined
  }

  /** Returns whether this failure opened the breaker or kept it open. */
  failed(): boolean {
    this.failures += 1
    if (this.failures < failuresMax) return false
    const wasProbe = this.probeAt !== undefined
    if (wasProbe) this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs)
    if (this.failures > failuresMax && !wasProbe) return false
    this.probeAt = undefined
    this.openedAt = this.clock.now()
    return true
  }

  /** Ends a request without a result: its client left. */
  released(): void {
    this.probeAt = undefined
  }

  private get isPaused(): boolean {
    return isWithin(this.clock, this.openedAt, this.pauseMs)
  }
}
