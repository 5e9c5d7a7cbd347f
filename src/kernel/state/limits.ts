import type { Config } from '../config/settings.ts'
import type { Engine } from '../db/engine.ts'
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
import { ConcurrencyLimit, RateLimit } from '../rate-limit.ts'
import { type Clock, day, hour, minute } from '../time.ts'
import { SharedRateLimit, type StrictLimit } from './shared-rate-limit.ts'

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
