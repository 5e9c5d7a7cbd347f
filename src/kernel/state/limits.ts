import type { Config } from '../config/settings.ts'
import type { Engine } from '../db/engine.ts'
import { addCalls, findWindows } from '../db/replicas/shared-values.ts'
import {
  appPasswordTries,
  claimTriesPerHour,
  clientDocumentsPerHour,
  clientRegistrationsPerHour,
  controllerCodesPerMinute,
  dataCallsPerMinute,
  deviceCodesPerHour,
  guestBytesPerAppDay,
  livePagesPerNetworkMax,
  livePagesPerPlayerMax,
  nameAttack,
  newGuestsPerHour,
  noteStreamsMax,
  realtimeSessionsPerKeyMax,
  scoresPerMinute,
  searchesPerMinuteMax,
  signInsPerAddress,
  signInsPerAddressAndName,
  signInsPerDevice,
  signUpsPerHour,
  unfundedUploadBytesPerPrefixDay,
} from '../limits.ts'
import { ConcurrencyLimit, opensAt, RateLimit, type RateWindow } from '../rate-limit.ts'
import { type Clock, day, hour, minute, secondsUntil } from '../time.ts'

/** A RateLimit, or one that counts the calls of all processes of the database. */
export type StrictLimit = Pick<RateLimit, 'max' | 'rejected' | 'windowMs'> & {
  take(key: string, calls?: number): number | undefined | Promise<number | undefined>
  giveBack(key: string, calls?: number): void | Promise<void>
  left(key: string): { calls: number } | Promise<{ calls: number }>
}

/**
 * Counts calls as RateLimit does, in the database, so that the limit holds exactly for all
 * processes. Each call costs a transaction: use it for rare and small limits.
 */
class SharedRateLimit implements StrictLimit {
  rejected = 0

  constructor(
    private readonly ctx: { db: Engine; clock: Clock },
    private readonly name: string,
    readonly max: number,
    readonly windowMs: number,
  ) {}

  /** Counts `calls` together, or none of them. Returns the seconds to wait, as RateLimit does. */
  async take(key: string, calls = 1): Promise<number | undefined> {
    if (this.max === 0) return undefined
    const window = await this.add(key, calls)
    const at = this.ctx.clock.now()
    if (this.used(window, at) <= this.max) return undefined
    this.rejected += 1
    const left = await this.add(key, -calls)
    return secondsUntil(opensAt(left, this.max - calls + 1, this.windowMs), at)
  }

  async giveBack(key: string, calls = 1): Promise<void> {
    if (this.max > 0) await this.add(key, -calls)
  }

  async left(key: string): Promise<{ calls: number }> {
    const [window] = await findWindows(this.ctx.db.read, [this.nameOf(key)])
    const used = window ? this.used(window, this.ctx.clock.now()) : 0
    return { calls: Math.max(0, Math.floor(this.max - used)) }
  }

  private used({ start, now, before }: RateWindow, at: number): number {
    const age = Math.max(0, (at - start) / this.windowMs)
    if (age < 1) return before * (1 - age) + now
    return age < 2 ? now * (2 - age) : 0
  }

  private async add(key: string, calls: number): Promise<RateWindow> {
    const { db, clock } = this.ctx
    const added = { name: this.nameOf(key), calls, windowMs: this.windowMs, at: clock.now() }
    const [window] = await db.tx((tx) => addCalls(tx, [added]))
    return window ?? { start: added.at, now: 0, before: 0 }
  }

  private nameOf = (key: string): string => `${this.name} ${key}`
}

/** Requests a minute of a client that the operator slowed down. */
const slowedRequestsPerMinute = 12
/** The limit of keys without a limit of their own. */
const unlimited = Number.MAX_SAFE_INTEGER

export type LimitSettings = Pick<
  Config,
  'requestsPerMinute' | 'gatewayRequestsPerMinute' | 'streamsPerAddress' | 'runningRequestsPerKey'
>

/** Sets the limits that settings have, after a change of the settings. */
export function applyLimits(limits: ReturnType<typeof createLimits>, config: LimitSettings): void {
  limits.apiRequests.max = config.requestsPerMinute
  limits.gatewayRequests.max = config.gatewayRequestsPerMinute
  limits.streams.max = config.streamsPerAddress
  limits.paidCalls.max = config.runningRequestsPerKey
}

/**
 * Creates every limit of calls. Metrics report each by its name here, and docs/security.md lists
 * them. On PostgreSQL the strict ones count in the database, and shareLimits shares the counts of
 * the others. Quotas of bytes and money are in the database.
 */
export function createLimits(clock: Clock, config: LimitSettings, db: Engine) {
  const strict = (name: string, max: number, windowMs: number): StrictLimit =>
    db.kind === 'sqlite'
      ? new RateLimit(clock, max, windowMs)
      : new SharedRateLimit({ db, clock }, name, max, windowMs)
  return { ...limitsOfProcess(clock, config), ...strictLimits(strict) }
}

const limitsOfProcess = (clock: Clock, config: LimitSettings) => ({
  /** Agent API requests by address. A request that uses workers counts more: see Client. */
  apiRequests: new RateLimit(clock, config.requestsPerMinute, minute),
  /** Gateway requests by address. */
  gatewayRequests: new RateLimit(clock, config.gatewayRequestsPerMinute, minute),
  /** Requests of a network, key or account that the operator slowed down. */
  slowedRequests: new RateLimit(clock, slowedRequestsPerMinute, minute),
  /** Open event streams by network. */
  streams: new ConcurrencyLimit(config.streamsPerAddress),
  /** Open event streams of notes by agent. */
  noteStreams: new ConcurrencyLimit(noteStreamsMax),
  /** Gateway requests by key, for keys with a limit of their own. */
  keyRequests: new RateLimit(clock, unlimited, minute),
  /** Tokens of gateway calls by key, for keys with a limit of their own. */
  keyTokens: new RateLimit(clock, unlimited, minute),
  /** Running paid calls by gateway key. A key may have a limit of its own. */
  paidCalls: new ConcurrencyLimit(config.runningRequestsPerKey),
  /** New guests of apps, by network. */
  newGuests: new RateLimit(clock, newGuestsPerHour, hour),
  /** Bytes that guests add to the data of an app, by app, and by app and guest. */
  guestBytes: new RateLimit(clock, guestBytesPerAppDay, day),
  /** Calls for the data of apps, by player and app. */
  dataCalls: new RateLimit(clock, dataCallsPerMinute, minute),
  /** Scores for the boards of apps, by player and app. */
  scores: new RateLimit(clock, scoresPerMinute, minute),
  /** Codes of controllers that a network tries, by network and app. */
  controllerCodes: new RateLimit(clock, controllerCodesPerMinute, minute),
  /** Live connections of pages, by player and app. */
  livePages: new ConcurrencyLimit(livePagesPerPlayerMax),
  /** Live connections of pages, by network. */
  networkPages: new ConcurrencyLimit(livePagesPerNetworkMax),
  /** Realtime sessions by gateway key. */
  realtimeSessions: new ConcurrencyLimit(realtimeSessionsPerKeyMax),
})

const strictLimits = (strict: (name: string, max: number, windowMs: number) => StrictLimit) => ({
  /** Chat requests with web search by account. */
  searches: strict('searches', searchesPerMinuteMax, minute),
  /** Bytes that accounts without funds upload, by network. */
  unfundedUploads: strict('unfundedUploads', unfundedUploadBytesPerPrefixDay, day),
  /** Wrong passwords by network and name together. */
  signInsByName: strict('signInsByName', signInsPerAddressAndName, 15 * minute),
  /** Wrong passwords by network; wrong passkeys and codes by address. */
  signIns: strict('signIns', signInsPerAddress, hour),
  /** Wrong passwords by name. They lock nothing: see `nameAttack`. */
  attackedNames: strict('attackedNames', nameAttack.tenTimes, hour),
  /** Wrong passwords by person and device. */
  deviceSignIns: strict('deviceSignIns', signInsPerDevice, 15 * minute),
  /** Wrong passwords of apps by app and network. */
  appPasswords: strict('appPasswords', appPasswordTries, 15 * minute),
  /** New people by address. */
  signUps: strict('signUps', signUpsPerHour, hour),
  /** Started sign-ins of devices by address. */
  deviceCodes: strict('deviceCodes', deviceCodesPerHour, hour),
  /** Registered clients of OAuth by address. */
  clientRegistrations: strict('clientRegistrations', clientRegistrationsPerHour, hour),
  /** Fetched documents of clients by person. */
  clientDocuments: strict('clientDocuments', clientDocumentsPerHour, hour),
  /** Wrong codes of claims and devices by address. */
  claims: strict('claims', claimTriesPerHour, hour),
})

/** Keys of one statement. The others wait for the next time. */
const keysMax = 500

/**
 * Shares the calls that this process has counted with the other processes of a PostgreSQL database,
 * and reads theirs. It runs twice a second as maintenance, so no request waits for it, and each
 * process lets at most the calls of half a second pass that others would have rejected.
 */
export async function shareLimits({
  db,
  clock,
  state: { limits },
}: {
  db: Engine
  clock: Clock
  state: { limits: ReturnType<typeof createLimits> }
}): Promise<void> {
  if (db.kind === 'sqlite') return
  for (const [name, limit] of Object.entries(limits)) {
    if (limit instanceof RateLimit) await shareOne({ db, clock }, name, limit)
  }
}

async function shareOne(
  { db, clock }: { db: Engine; clock: Clock },
  limitName: string,
  limit: RateLimit,
): Promise<void> {
  const unshared = [...limit.takeUnshared()]
  const [now, later] = [unshared.slice(0, keysMax), unshared.slice(keysMax)]
  for (const [key, calls] of later) limit.share(key, calls)
  if (now.length === 0) return
  const { windowMs } = limit
  const at = clock.now()
  const nameOf = (key: string): string => `${limitName} ${key}`
  const keys = new Map(now.map(([key]) => [nameOf(key), key]))
  const added = now.map(([key, calls]) => ({ name: nameOf(key), calls, windowMs, at }))
  try {
    const windows = await db.tx((tx) => addCalls(tx, added))
    for (const { name, ...window } of windows) limit.merge(keys.get(name) ?? '', window)
  } catch (error) {
    for (const [key, calls] of now) limit.share(key, calls)
    throw error
  }
}
