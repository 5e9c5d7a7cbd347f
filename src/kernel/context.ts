import type { Urls } from './config/load.ts'
import type { Config } from './config/settings.ts'
import type { Engine } from './db/engine.ts'
import type { OtherServers } from './db/replicas/other-servers.ts'
import type { Presence } from './db/replicas/presence.ts'
import type { Signals } from './db/signals.ts'
import type { Log } from './log.ts'
import type { LiveSettings } from './state/live-settings.ts'
import type { ProcessState } from './state/process-state.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Clock } from './time.ts'

/**
 * Everything that an operation needs. It is the first parameter of every function of a feature.
 * Other modules add their parts beside the classes of these (`declare module`), and
 * server/context.ts opens them all.
 */
export interface AppContext {
  /** The settings: those read at start, and those changed in the console. */
  readonly config: Config
  readonly settings: LiveSettings
  readonly clock: Clock
  readonly log: Log
  readonly db: Engine
  /** Tells other processes of the database about changes. */
  readonly signals: Signals
  /** Shows other servers of the database that this one lives. */
  readonly presence: Presence
  /** Reads the memory of the other servers of the database, for the console. */
  readonly otherServers: OtherServers
  /** State that the process keeps between requests. */
  readonly state: ProcessState
  /** Sends traces and metrics; undefined where no collector is set. */
  readonly telemetry: Telemetry | undefined
  /** Signs links and hashes addresses. All servers of a PostgreSQL database have the same. */
  readonly secret: string
  /** The secret of the data folder, which protects its journal. */
  readonly folderSecret: string
  readonly urls: Urls
}
