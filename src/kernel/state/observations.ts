import { Latencies } from '../latencies.ts'
import { type Clock, hour, minute } from '../time.ts'
import { type TrafficPart, trafficParts } from '../traffic.ts'
import { type LoggedRequest, RequestLog } from './request-log.ts'

/** The longest time that the console looks back at traffic. */
export const observedMs = 24 * hour

const byMinute = { windowMs: minute, windows: observedMs / minute, labelsMax: trafficParts.length }
const byTenMinutes = { windowMs: 10 * minute, windows: observedMs / (10 * minute) }

/** A call of a model as its client waits for it: from its hold, with all attempts. */
export interface ModelCall {
  requestId: string
  model: string
  upstream: string
  status: 'completed' | 'interrupted' | 'failed'
  /** Milliseconds until the first byte of the upstream; null without one. */
  firstByteMs: number | null
  /** Milliseconds until its end. */
  ms: number
}

/** The end of a call. `dismissed`: the client left, or its request was rejected. */
export type AttemptEnd = 'completed' | 'failed' | 'dismissed'

/** A call of an upstream. Times are in milliseconds. */
interface EndedAttempt {
  readonly endedAs: AttemptEnd | undefined
  readonly ms: number
  readonly firstByte: number | undefined
}

/**
 * Requests and model calls of this process: the newest ones, and histograms of a day. A
 * restart forgets the requests; the histograms are written once a minute
 * (shared-observations.ts). Every memory has a bound.
 */
export class Observations {
  /** Requests by part of the server and minute. */
  readonly parts: Latencies
  readonly routes: Latencies
  /** Attempts at upstreams until their end, by model and by upstream. */
  readonly models: Latencies
  readonly upstreams: Latencies
  /** The same until the first byte, by model. */
  readonly firstBytes: Latencies
  /** Errors by status, route and cause, in lines. */
  readonly errors: Latencies
  readonly requests = new RequestLog(4_096)
  /** Requests with an error of the client, which a flood of successes does not push out. */
  readonly clientErrors = new RequestLog(1_024)
  readonly serverErrors = new RequestLog(1_024)
  private readonly labels = new Map<string, Map<string, string>>()
  /** The newest ones, each in the slot of its number. */
  private readonly calls: ModelCall[] = []
  private callsAdded = 0

  constructor(clock: Clock) {
    this.parts = new Latencies(clock, byMinute)
    this.routes = new Latencies(clock, { ...byTenMinutes, labelsMax: 200 })
    this.models = new Latencies(clock, { ...byTenMinutes, labelsMax: 100 })
    this.upstreams = new Latencies(clock, { ...byTenMinutes, labelsMax: 50 })
    this.firstBytes = new Latencies(clock, { ...byTenMinutes, labelsMax: 100 })
    this.errors = new Latencies(clock, { ...byTenMinutes, labelsMax: 200 })
  }

  /** Adds a request. `hasRoute`: its route is a pattern, and not a path that a client made up. */
  addRequest(part: TrafficPart, hasRoute: boolean, request: Omit<LoggedRequest, 'number'>): void {
    const { ms, status, at } = request
    const route = hasRoute ? this.labelOf(request.method, request.route) : noRoute
    this.parts.record(part, ms, status, at)
    this.routes.record(route, ms, status, at)
    this.requests.add(request)
    if (status < 400) return
    this.errors.record(`${status}\n${route}\n${request.cause ?? ''}`, ms, status)
    if (status < 500) this.clientErrors.add(request)
    else this.serverErrors.add(request)
  }

  /** Returns "GET /api/apps/:id". The texts are built once, because a request is hot. */
  private labelOf(method: string, route: string): string {
    const known = this.labels.get(route)?.get(method)
    if (known !== undefined) return known
    const shown = methods.has(method) ? method : 'OTHER'
    const label = `${shown} ${route}`
    const byMethod = this.labels.get(route) ?? new Map<string, string>()
    if (shown === method) this.labels.set(route, byMethod.set(method, label))
    return label
  }

  /** Adds an attempt that has ended. A dismissed one says nothing about its upstream. */
  addAttempt(
    { model, upstream }: Pick<ModelCall, 'model' | 'upstream'>,
    { endedAs, ms, firstByte }: EndedAttempt,
  ): void {
    if (endedAs === 'dismissed') return
    const status = endedAs === 'failed' ? 500 : 200
    this.models.record(model, ms, status)
    this.upstreams.record(upstream, ms, status)
    if (firstByte !== undefined) this.firstBytes.record(model, firstByte, 200)
  }

  addModelCall(call: ModelCall): void {
    this.calls[this.callsAdded % callsMax] = call
    this.callsAdded += 1
  }

  /** Returns the model call of a request that is among the newest. */
  findModelCall(requestId: string): ModelCall | undefined {
    const oldest = Math.max(0, this.callsAdded - callsMax)
    for (let at = this.callsAdded - 1; at >= oldest; at -= 1) {
      const call = this.calls[at % callsMax]
      if (call?.requestId === requestId) return call
    }
    return undefined
  }

  /** Finds a request among the newest ones and the newest errors. */
  findRequest(id: string): LoggedRequest | undefined {
    const logs = [this.requests, this.serverErrors, this.clientErrors]
    for (const log of logs) {
      const [found] = log.newest(1, (request) => request.id === id)
      if (found) return found
    }
    return undefined
  }
}

const callsMax = 2_000
const noRoute = '(no route)'
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
