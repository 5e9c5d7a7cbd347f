import type { Configuration } from 'openid-client'

import { Cache } from '../cache.ts'
import type { Config } from '../config/settings.ts'
import { Costs } from '../costs.ts'
import type { Engine } from '../db/engine.ts'
import type { Signals } from '../db/signals.ts'
import { SharedResult } from '../lazy.ts'
import { PdfReader } from '../pdf-reader.ts'
import { SerialQueue } from '../serial-queue.ts'
import { type Clock, second } from '../time.ts'
import { Traffic } from '../traffic.ts'
import { BackupWork } from './backup-work.ts'
import { BodyArrivals } from './body-arrivals.ts'
import { ChargedFailures } from './charged-failures.ts'
import { KeyNetworks } from './key-networks.ts'
import { createLimits, type LimitSettings } from './limits.ts'
import { MetricsHistory } from './metrics-history.ts'
import { NoteSignals } from './note-signals.ts'
import { Observations } from './observations.ts'
import { Reservations } from './reservations.ts'
import { ResponseCache } from './response-cache.ts'
import { ResponseItems } from './response-items.ts'
import { Transcriptions } from './transcriptions.ts'

const handlesMax = 20_000
/** The pause after a failed discovery of the sign-in provider. */
const discoveryRestMs = 5 * second

/** The sign-in provider as it described itself, and the client library for it. */
export interface IdentityProvider {
  client: typeof import('openid-client')
  config: Configuration
}

/** Work on an open connection. */
export interface OpenSession {
  /** Begins nothing more, and ends the session when its running work is settled. */
  stop(): void
}

/** The memory of one process between requests, beside the parts of AppContext. */
export type ProcessState = ReturnType<typeof createProcessState>

/** The database, and the signals of its other processes. */
interface Shared {
  db: Engine
  signals: Signals
}

/**
 * Creates the memory of a process. A restart loses it. docs/scaling.md has a list of it, with
 * the reason why several processes on one database are safe. Modules keep at the top level only
 * what belongs to no context: worker pools, queues of CPU work, and caches of pure functions.
 */
export const createProcessState = (
  clock: Clock,
  config: LimitSettings & Pick<Config, 'responseCacheMb'>,
  { db, signals }: Shared,
) => ({
  /** Requests by part of the server, status and time, since the start: for metrics. */
  traffic: new Traffic(),
  /** Requests and model calls of the last day, for the console. */
  observations: new Observations(clock),
  /** Metrics of the last day by minute, for the console's charts. */
  metricsHistory: new MetricsHistory(),

  limits: createLimits(clock, config, db),
  /** Costs by client, for the console. */
  costs: new Costs(clock),
  /** Errors of limits by their names, for metrics. */
  limitErrors: new Map<string, number>(),

  /** Handles of agents by id. A handle never changes. */
  agentHandles: new Cache<string>(handlesMax),
  appChanges: new AppChanges(signals),
  accessChanges: new AccessChanges(signals),
  noteSignals: new NoteSignals(signals),
  /** Openings of apps that are written to the database in batches; a crash loses them. */
  pendingOpens: new PendingOpens(),
  pendingTurns: new PendingTurns(),
  /** Networks of agents' keys that are written in batches; a crash loses seconds. */
  keyNetworks: new KeyNetworks(),
  /** The OpenID Connect provider, discovered with the first sign-in. */
  identityProvider: new SharedResult<IdentityProvider>(clock, discoveryRestMs),

  /** The server stops soon: /readyz says so, while requests are still answered. */
  isStopping: false,
  /** Open WebSockets. Each ends when its running work is settled. */
  sessions: new Set<OpenSession>(),
  /** Cuts the running calls of upstreams when the server stops. */
  shutdown: new AbortController(),
  chargedFailures: new ChargedFailures(clock, signals),
  /** Settles, once per process, the holds that the process before it left open. */
  expiredHolds: new SharedResult<unknown>(clock),
  /** Responses to chats with the field `cache`. */
  responseCache: new ResponseCache(clock, config.responseCacheMb),
  /** Items of Responses API results that clients send back by id alone. */
  responseItems: new ResponseItems(clock),
  /** Transcriptions of uploaded audio for chats. */
  transcriptions: new Transcriptions(),
  /** Reads uploaded PDFs in workers, three at a time. */
  pdfReader: new PdfReader(),

  /** Bodies that arrive, of which slow ones end. */
  bodyArrivals: new BodyArrivals(clock),
  /** Rows and bytes that running writes add to quotas. */
  reservations: new Reservations(),
  /** Work on stored files: a sweep never removes a file that a backup is about to copy. */
  fileWork: new SerialQueue(),
  /** Local addresses of proxies that TRUSTED_PROXIES does not name, for `berth doctor`. */
  unknownProxies: new Set<string>(),
  /** Backups that the console makes or checks. */
  backupWork: new BackupWork(),
})

/**
 * Counts the changes of apps on a PostgreSQL database, by any process, so that a cached page is
 * compared with its app after each. SQLite counts its commits instead.
 */
class AppChanges {
  count = 0

  constructor(private readonly signals: Signals) {
    signals.on('apps', () => this.add())
    // A build publishes at its end.
    signals.on('job', () => this.add())
  }

  /** Counts a committed change here and in other processes. Resolves when the signal is sent. */
  async announce(): Promise<void> {
    this.add()
    await this.signals.send('apps')
  }

  private add(): void {
    this.count += 1
  }
}

/** Receives the id of a person or an app; undefined means that any may have changed. */
type AccessListener = (of: string | undefined) => void

/**
 * Tells of ends of sessions, by the person, and of changes of who may open an app, by any process.
 * Open connections are then compared with them at once.
 */
class AccessChanges {
  readonly #listeners = new Set<AccessListener>()

  constructor(private readonly signals: Signals) {
    signals.on('access', (of) => this.#tell(of))
  }

  /** Returns the function that ends it. */
  on(listener: AccessListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Tells of a committed change, here and in other processes. */
  announce(of: string): void {
    this.#tell(of)
    void this.signals.send('access', of)
  }

  #tell(of: string | undefined): void {
    for (const listener of this.#listeners) listener(of)
  }
}

/** Limit of opens that wait to be written. Further ones are not counted. */
const opensMax = 10_000

/** One open of an app from an address. `at` is milliseconds since 1970. */
interface PendingOpen {
  app: string
  at: number
  address: string
}

/** Opens of apps since the last write: one for each app and address. */
class PendingOpens {
  private opens = new Map<string, PendingOpen>()

  add(open: PendingOpen): void {
    const key = `${open.app} ${open.address}`
    if (this.opens.size < opensMax && !this.opens.has(key)) this.opens.set(key, open)
  }

  /** Returns all and forgets them. */
  takeAll(): PendingOpen[] {
    const all = [...this.opens.values()]
    this.opens = new Map()
    return all
  }
}

/** Apps whose turns wait to be written. The turns of further ones are not measured. */
const measuredAppsMax = 10_000

/** Costs of calls of models by apps since the last write: their number and sum. */
class PendingTurns {
  #turns = new Map<string, { turns: number; sum: bigint }>()

  add(app: string, cost: bigint): void {
    const { turns, sum } = this.#turns.get(app) ?? { turns: 0, sum: 0n }
    if (turns === 0 && this.#turns.size >= measuredAppsMax) return
    this.#turns.set(app, { turns: turns + 1, sum: sum + cost })
  }

  /** Returns all and forgets them. */
  takeAll() {
    const all = this.#turns
    this.#turns = new Map()
    return all
  }
}
