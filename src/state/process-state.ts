import type { Configuration } from 'openid-client'

import type { Config } from '../config/settings.ts'
import { Cache } from '../core/cache.ts'
import { ConcurrencyLimit } from '../core/concurrency-limit.ts'
import { SharedResult } from '../core/lazy.ts'
import { PdfReader } from '../core/pdf-reader.ts'
import { RateLimit } from '../core/rate-limit.ts'
import { SerialQueue } from '../core/serial-queue.ts'
import { type Clock, hour, minute, second } from '../core/time.ts'
import { Traffic } from '../core/traffic.ts'
import type { ApiError, GatewayErrorName } from '../errors.ts'
import {
  claimTriesPerHour,
  failureReplayMs,
  failureReplaysMax,
  noteStreamsMax,
  openHoldsPerKeyMax,
  searchesPerMinuteMax,
  signInsPerAddress,
  signInsPerAddressAndName,
  signInsPerName,
  signUpsPerHour,
} from '../limits.ts'
import { BackupWork } from './backup-work.ts'
import { MetricsHistory } from './metrics-history.ts'
import { PendingOpens } from './pending-opens.ts'
import { ResponseItems } from './response-items.ts'

const handlesMax = 20_000
/** The pause after a failed discovery of the sign-in provider. */
const discoveryRestMs = 5 * second

/** The sign-in provider as it described itself, and the client library for it. */
export interface IdentityProvider {
  client: typeof import('openid-client')
  config: Configuration
}

/**
 * What one process remembers between requests, beside the parts of AppContext. A restart loses it,
 * and several processes on one database do not share it: a rate limit counts in each by itself.
 * Modules keep at the top level only what belongs to no context: worker pools, queues of CPU work,
 * and caches of pure functions.
 */
export class ProcessState {
  /** Requests by part of the server, status and time, since the start: for metrics. */
  readonly traffic = new Traffic()
  /** Metrics of the last three hours by minute, for the console's graphs. */
  readonly metricsHistory = new MetricsHistory()

  /** Agent API requests a minute by address. */
  readonly apiRequests: RateLimit
  /** Gateway requests a minute by address. */
  readonly gatewayRequests: RateLimit
  /** Sign-ins, registrations and claims that a person or an address may try. */
  readonly signInLimits: SignInLimits

  /** Handles of agents by id. A handle never changes. */
  readonly agentHandles = new Cache<string>(handlesMax)
  /** Open event streams of notes by agent. */
  readonly noteStreams = new ConcurrencyLimit(noteStreamsMax)
  /** Openings of apps that are written to the database in batches; a crash loses them. */
  readonly pendingOpens = new PendingOpens()
  /** The OpenID Connect provider, discovered with the first sign-in. */
  readonly identityProvider: SharedResult<IdentityProvider>

  /** Running paid calls by gateway key. */
  readonly paidCalls = new ConcurrencyLimit(openHoldsPerKeyMax)
  /**
   * Failures that were charged, by key and request. The same call within a minute gets the same
   * error and is not charged again (docs/spec/gateway-decisions.md, "Responses").
   */
  readonly chargedFailures: Cache<ApiError<GatewayErrorName>>
  /** Chat requests with web search a minute by account. */
  readonly searches: RateLimit
  /** Settles, once per process, the holds that the process before it left open. */
  readonly expiredHolds: SharedResult<unknown>
  /** Items of Responses API results that clients send back by id alone. */
  readonly responseItems: ResponseItems
  /** Reads uploaded PDFs in workers, two at a time. */
  readonly pdfReader = new PdfReader()

  /** Work on stored files: a sweep never removes a file that a backup is about to copy. */
  readonly fileWork = new SerialQueue()
  /** Backups that the console makes or checks. */
  readonly backupWork = new BackupWork()

  constructor(
    clock: Clock,
    config: Pick<Config, 'requestsPerMinute' | 'gatewayRequestsPerMinute'>,
  ) {
    this.apiRequests = new RateLimit(clock, config.requestsPerMinute, minute)
    this.gatewayRequests = new RateLimit(clock, config.gatewayRequestsPerMinute, minute)
    this.signInLimits = signInLimits(clock)
    this.identityProvider = new SharedResult(clock, discoveryRestMs)
    this.chargedFailures = new Cache(failureReplaysMax, { clock, ms: failureReplayMs })
    this.searches = new RateLimit(clock, searchesPerMinuteMax, minute)
    this.expiredHolds = new SharedResult(clock)
    this.responseItems = new ResponseItems(clock)
  }
}

const signInLimits = (clock: Clock) => ({
  /** By address and name together. */
  pair: new RateLimit(clock, signInsPerAddressAndName, 15 * minute),
  address: new RateLimit(clock, signInsPerAddress, hour),
  name: new RateLimit(clock, signInsPerName, hour),
  signUps: new RateLimit(clock, signUpsPerHour, hour),
  claims: new RateLimit(clock, claimTriesPerHour, hour),
})
type SignInLimits = ReturnType<typeof signInLimits>
