import type { Config } from '../config/settings.ts'
import { ConcurrencyLimit } from '../core/concurrency-limit.ts'
import { RateLimit } from '../core/rate-limit.ts'
import { type Clock, day, hour, minute } from '../core/time.ts'
import {
  claimTriesPerHour,
  nameAttack,
  noteStreamsMax,
  openHoldsPerKeyMax,
  searchesPerMinuteMax,
  signInsPerAddress,
  signInsPerAddressAndName,
  signInsPerDevice,
  signUpsPerHour,
  unfundedUploadBytesPerPrefixDay,
} from '../limits.ts'

/** Requests a minute of a client that the operator slowed down. */
const slowedRequestsPerMinute = 12
/** The limit of keys without a limit of their own. */
const unlimited = Number.MAX_SAFE_INTEGER

export type LimitSettings = Pick<
  Config,
  'requestsPerMinute' | 'gatewayRequestsPerMinute' | 'streamsPerAddress'
>

/** Sets the limits that settings have, after a change of the settings. */
export function applyLimits(limits: ReturnType<typeof createLimits>, config: LimitSettings): void {
  limits.apiRequests.max = config.requestsPerMinute
  limits.gatewayRequests.max = config.gatewayRequestsPerMinute
  limits.streams.max = config.streamsPerAddress
}

/**
 * Creates every limit that a process counts in memory. Metrics report each by its name here, and
 * docs/security.md lists them. Quotas of bytes and money are in the database.
 */
export const createLimits = (clock: Clock, config: LimitSettings) => ({
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
  /** Running paid calls by gateway key. */
  paidCalls: new ConcurrencyLimit(openHoldsPerKeyMax),
  /** Chat requests with web search by account. */
  searches: new RateLimit(clock, searchesPerMinuteMax, minute),
  /** Bytes that accounts without funds upload, by network. */
  unfundedUploads: new RateLimit(clock, unfundedUploadBytesPerPrefixDay, day),
  /** Wrong passwords by network and name together. */
  signInsByName: new RateLimit(clock, signInsPerAddressAndName, 15 * minute),
  /** Wrong passwords by network; wrong passkeys and codes by address. */
  signIns: new RateLimit(clock, signInsPerAddress, hour),
  /** Wrong passwords by name. They lock nothing: see `nameAttack`. */
  attackedNames: new RateLimit(clock, nameAttack.tenTimes, hour),
  /** Wrong passwords by person and device. */
  deviceSignIns: new RateLimit(clock, signInsPerDevice, 15 * minute),
  /** New people by address. */
  signUps: new RateLimit(clock, signUpsPerHour, hour),
  /** Wrong claim codes by address. */
  claims: new RateLimit(clock, claimTriesPerHour, hour),
})
