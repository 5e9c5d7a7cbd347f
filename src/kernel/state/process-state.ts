import type { Configuration } from 'openid-client'

import { Costs } from '../client.ts'
import type { Config } from '../config/settings.ts'
import type { Engine } from '../db/engine.ts'
import type { Signals } from '../db/signals.ts'
import { ApiError, type GatewayErrorName } from '../errors.ts'
import { SerialQueue } from '../fair-queue.ts'
import { Cache, SharedResult } from '../lazy.ts'
import { failureReplayMs, failureReplaysMax } from '../limits.ts'
import { PdfReader } from '../pdf-reader.ts'
import { isRecord } from '../schema.ts'
import { type Clock, second } from '../time.ts'
import { Traffic } from '../traffic.ts'
import { BodyArrivals } from './body-arrivals.ts'
import { createLimits, type LimitSettings } from './limits.ts'
import { MetricsHistory } from './metrics-history.ts'
import { Observations } from './observations.ts'
import { Reservations } from './reservations.ts'
import { ResponseCache, ResponseItems, Transcriptions } from './responses.ts'

/** Work on one backup of the data folder. `since` is milliseconds since 1970. */
export interface RunningWork {
  what: 'made' | 'checked' | 'archived' | 'restored'
  name: string
  since: number
}

interface WorkResult {
  ok: boolean
  text: string
}

/** The work on a backup that runs now, and how the last work on each backup ended, by its name. */
export class BackupWork {
  running: RunningWork | undefined
  readonly results = new Map<string, WorkResult>()
  /** Stops the server and starts it again with restored data; undefined where nothing can. */
  restart: (() => void) | undefined
  /** The last attempt to write an encrypted backup to BACKUP_TO, and its result. */
  lastArchive: (WorkResult & { at: number }) | undefined
}

type ChargedError = ApiError<GatewayErrorName>

/**
 * Failures that were charged, by key and request. The same call within a minute gets the same error
 * and is not charged again (docs/spec/gateway-decisions.md, "Responses"). Other processes learn of
 * them before the client does.
 */
class ChargedFailures {
  private readonly errors: Cache<ChargedError>

  constructor(
    clock: Clock,
    private readonly signals?: Pick<Signals, 'on' | 'send'>,
  ) {
    this.errors = new Cache(failureReplaysMax, { clock, ms: failureReplayMs })
    signals?.on('failures', (text) => this.receive(text))
  }

  get size(): number {
    return this.errors.size
  }

  get(key: string): ChargedError | undefined {
    return this.errors.get(key)
  }

  async add(key: string, error: ChargedError): Promise<void> {
    this.errors.set(key, error)
    await this.signals?.send(
      'failures',
      JSON.stringify([key, error.errorName, [...error.details][0]]),
    )
  }

  private receive(text: string | undefined): void {
    if (text === undefined) return
    const [key, name, details]: [string, GatewayErrorName, unknown] = JSON.parse(text)
    this.errors.set(key, restoreError(name, details))
  }
}

/** Creates an error as another process had it. Errors of failed work have details of JSON. */
function restoreError(name: GatewayErrorName, details: unknown): ChargedError {
  const args = isRecord(details) ? [details] : []
  return Reflect.construct(ApiError, [name, ...args])
}

/** Limit of remembered networks. Further ones are not recorded on that day. */
const networksMax = 20_000

/** A network from which a key of an agent was used on a UTC day. */
export interface KeyNetwork {
  agent: string
  /** An IPv4 /24 or an IPv6 /56. */
  prefix: string
  day: string
}

/** Networks of agents on the current day. Each is written to the database once a day. */
class KeyNetworks {
  private day = ''
  private known = new Map<string, KeyNetwork>()
  private pending: KeyNetwork[] = []

  add(network: KeyNetwork): void {
    if (network.day !== this.day) this.known.clear()
    this.day = network.day
    const key = nameOf(network.agent, network.prefix)
    if (this.known.has(key) || this.known.size >= networksMax) return
    this.known.set(key, network)
    this.pending.push(network)
  }

  /** Returns whether an agent used this network today. */
  has(agent: string, prefix: string): boolean {
    return this.known.has(nameOf(agent, prefix))
  }

  /** Returns the networks that are not written yet, and forgets that they are pending. */
  takePending(): KeyNetwork[] {
    const all = this.pending
    this.pending = []
    return all
  }
}

const nameOf = (agent: string, prefix: string): string => `${agent} ${prefix}`

/** Streams of notes in this process. They sleep until a note of their agent is committed. */
export class NoteSignals {
  private readonly listeners = new Map<string, Set<() => void>>()
  private timer: ReturnType<typeof setInterval> | undefined

  constructor(private readonly signals?: Pick<Signals, 'on' | 'send' | 'isLive'>) {
    signals?.on('notes', (agent) => (agent === undefined ? this.notifyAll() : this.notify(agent)))
  }

  /** Returns whether notes that other processes write arrive here. */
  get isLive(): boolean {
    return this.signals?.isLive ?? false
  }

  /** Wakes the streams of an agent in all processes. Call it after the commit of a note. */
  send(agent: string): void {
    this.notify(agent)
    void this.signals?.send('notes', agent)
  }

  /**
   * Calls `listener` for each note of an agent. One timer calls `poll` every `ms` milliseconds
   * while any stream is open. Returns the function that ends both.
   */
  subscribe(agent: string, listener: () => void, poll: () => void, ms: number): () => void {
    const own = this.listeners.get(agent) ?? new Set()
    this.listeners.set(agent, own.add(listener))
    this.timer ??= setInterval(poll, ms)
    return () => {
      own.delete(listener)
      if (own.size === 0 && this.listeners.get(agent) === own) this.listeners.delete(agent)
      if (this.listeners.size > 0) return
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  notify(agent: string): void {
    for (const listener of this.listeners.get(agent) ?? []) listener()
  }

  notifyAll(): void {
    for (const agent of this.listeners.keys()) this.notify(agent)
  }
}

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
