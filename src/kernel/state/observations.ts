import { and, asc, desc, eq, gt, gte, lt, ne, sql } from 'drizzle-orm'

import type { Engine } from '../db/engine.ts'
import { thisProcess } from '../db/replicas/presence.ts'
import { Latencies, type LatencyWindow } from '../latencies.ts'
import { nano, type NanoUsd } from '../money.ts'
import { type Clock, day, hour, minute } from '../time.ts'
import { type TrafficPart, trafficParts } from '../traffic.ts'
import { observedHours, observedWindows } from './tables.ts'

/** A request as the console shows it. */
export interface LoggedRequest {
  /** Counts all requests of the log from 1. */
  number: number
  id: string
  /** Milliseconds since 1970, at the response. */
  at: number
  method: string
  /** The route's pattern, or the path of a request that has none. */
  route: string
  status: number
  /** Milliseconds until the response began. */
  ms: number
  key: string | undefined
  account: string | undefined
  address: string
  /** The name of the error, or the message of an unexpected one. */
  cause: string | undefined
}

/**
 * The newest requests of this process. The slots are objects that exist from the start and are
 * written again, so that a request allocates nothing.
 */
class RequestLog {
  private readonly slots: LoggedRequest[]
  private total = 0

  constructor(size: number) {
    this.slots = Array.from({ length: size }, emptySlot)
  }

  add(request: Omit<LoggedRequest, 'number'>): void {
    const slot = this.slots[this.total % this.slots.length]
    this.total += 1
    if (!slot) return
    slot.number = this.total
    slot.id = request.id
    slot.at = request.at
    slot.method = request.method
    slot.route = request.route
    slot.status = request.status
    slot.ms = request.ms
    slot.key = request.key
    slot.account = request.account
    slot.address = request.address
    slot.cause = request.cause
  }

  /** Returns copies of the newest requests that match, newest first. */
  newest(max: number, matches: (request: LoggedRequest) => boolean): LoggedRequest[] {
    const found: LoggedRequest[] = []
    const first = Math.max(0, this.total - this.slots.length)
    for (let at = this.total - 1; at >= first && found.length < max; at -= 1) {
      const slot = this.slots[at % this.slots.length]
      if (slot && matches(slot)) found.push({ ...slot })
    }
    return found
  }
}

const emptySlot = (): LoggedRequest => ({
  number: 0,
  id: '',
  at: 0,
  method: '',
  route: '',
  status: 0,
  ms: 0,
  key: undefined,
  account: undefined,
  address: '',
  cause: undefined,
})

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
 * (`shareObservations`). Every memory has a bound.
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

/** The time that hours of measurements are kept. */
const observedHoursMs = 90 * day

/** Measurements that the console adds up over all servers. */
const sharedNames = ['parts', 'routes', 'models', 'upstreams', 'firstBytes', 'errors'] as const
type SharedName = (typeof sharedNames)[number]

/** The longest window. A window is written until it is over for as long. */
const windowMsMax = 10 * minute
/** Windows that one page adds up: those of a day of about 30 servers. */
const windowsMax = 50_000

interface Observing {
  db: Engine
  clock: Clock
  state: { observations: Observations }
}

/** Writes the newest measurements of this process, for all servers and after a restart. */
export async function shareObservations({ db, clock, state }: Observing): Promise<void> {
  const rows = sharedNames.flatMap((name) =>
    state.observations[name]
      .windowsSince(clock.now() - windowMsMax)
      .map((window) => ({ process: thisProcess, name, ...window })),
  )
  if (rows.length === 0) return
  const { process, name, at } = observedWindows
  const set = { counts: sql`excluded.counts` }
  await db.tx((tx) =>
    tx
      .insert(observedWindows)
      .values(rows)
      .onConflictDoUpdate({ target: [process, name, at], set }),
  )
}

/**
 * Returns the windows of the last `ms` milliseconds of all processes, also of those that have
 * ended. Those of this process come from its memory.
 */
export async function readWindows(
  { db, clock, state }: Observing,
  name: SharedName,
  ms: number,
): Promise<LatencyWindow[]> {
  const since = clock.now() - ms - windowMsMax
  const { at, counts, process } = observedWindows
  const isOther = and(eq(observedWindows.name, name), ne(process, thisProcess))
  const others = await db.read
    .select({ at, counts })
    .from(observedWindows)
    .where(and(isOther, gt(at, since)))
    .limit(windowsMax)
  return [...others, ...state.observations[name].windowsSince(since)]
}

/** Returns measurements of the last `ms` milliseconds, summed over all processes. */
export const readObservations = async (
  ctx: Observing,
  name: SharedName,
  ms: number,
): Promise<Latencies> => ctx.state.observations[name].sumOf(await readWindows(ctx, name, ms))

/** Deletes windows of more than a day ago, and hours of more than 90 days ago. */
export const deleteOldObservations = async ({ db, clock }: Observing): Promise<unknown> =>
  db.tx(async (tx) => {
    const now = clock.now()
    await tx.delete(observedWindows).where(lt(observedWindows.at, now - observedMs - windowMsMax))
    await tx.delete(observedHours).where(lt(observedHours.at, now - observedHoursMs))
  })

const nanoPerUsd = 1_000_000_000n

/** Measurements of all servers in a span of time, beside their traffic. */
export interface Totals {
  upstreamErrors: number
  income: NanoUsd
  jobs: number
  /** The least of all servers. */
  free: number | undefined
  /** The longest of all servers. */
  lateMs: number | undefined
}

/** An hour that is over. `at` is its beginning. */
export interface ObservedHour {
  at: number
  traffic: LatencyWindow['counts']
  totals: Totals
}

type Numbers = LatencyWindow['counts']

/** Whole USD and the rest: a JSON number is exact up to 9 million USD in NanoUsd. */
export const incomeToNumbers = (income: NanoUsd): number[] => [
  Number(income / nanoPerUsd),
  Number(income % nanoPerUsd),
]

export const incomeOf = ([usd = 0, rest = 0]: number[]): NanoUsd =>
  nano(BigInt(usd) * nanoPerUsd + BigInt(rest))

const toNumbers = ({ upstreamErrors, income, jobs, free, lateMs }: Totals): Numbers => ({
  upstreamErrors: [upstreamErrors],
  income: incomeToNumbers(income),
  jobs: [jobs],
  free: free === undefined ? [] : [free],
  lateMs: lateMs === undefined ? [] : [lateMs],
})

const toTotals = ({ upstreamErrors, income, jobs, free, lateMs }: Numbers): Totals => ({
  upstreamErrors: upstreamErrors?.[0] ?? 0,
  income: incomeOf(income ?? []),
  jobs: jobs?.[0] ?? 0,
  free: free?.[0],
  lateMs: lateMs?.[0],
})

interface Source {
  db: Engine
  clock: Clock
}

/** Returns histograms by hour, for 90 days, that add up windows of hours or shorter ones. */
export const hourlyLatencies = (clock: Clock): Latencies =>
  new Latencies(clock, {
    windowMs: hour,
    windows: observedHoursMs / hour,
    labelsMax: trafficParts.length,
  })

/** Writes hours that are over. An hour is written once. */
export const writeHours = ({ db }: Source, hours: ObservedHour[]): Promise<unknown> =>
  db.tx((tx) =>
    tx
      .insert(observedHours)
      .values(hours.map(({ at, traffic, totals }) => ({ at, traffic, totals: toNumbers(totals) })))
      .onConflictDoNothing(),
  )

/** Returns the beginning of the newest hour that was written. */
export async function findNewestHour({ db }: Source): Promise<number | undefined> {
  const { at } = observedHours
  const [row] = await db.read.select({ at }).from(observedHours).orderBy(desc(at)).limit(1)
  return row?.at
}

/** Returns the hours that ended in the last `ms` milliseconds, oldest first. */
export async function readHours({ db, clock }: Source, ms: number): Promise<ObservedHour[]> {
  const rows = await db.read
    .select()
    .from(observedHours)
    .where(gte(observedHours.at, clock.now() - ms - hour))
    .orderBy(asc(observedHours.at))
    .limit(observedHoursMs / hour + 1)
  return rows.map(({ at, traffic, totals }) => ({ at, traffic, totals: toTotals(totals) }))
}
