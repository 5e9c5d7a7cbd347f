import { join } from 'node:path'

import { findChromium } from './browser/chromium.ts'
import { PreviewBrowser } from './browser/preview-browser.ts'
import type { Config } from './config/settings.ts'
import { type Urls, urlsOf } from './config/urls.ts'
import { type Log, openLog } from './core/log.ts'
import { fromCredits, type NanoUsd } from './core/money.ts'
import { type Clock, systemClock } from './core/time.ts'
import type { Engine } from './db/engine.ts'
import { openEngine } from './db/open.ts'
import { Generators } from './generators/generators.ts'
import { Idempotency } from './idempotency/idempotency.ts'
import { Runner } from './jobs/runner.ts'
import { KeyRing } from './keys/keys.ts'
import { closeJobHolds } from './ledger/job-holds.ts'
import type { ChargeObserver } from './ledger/holds.ts'
import type { Catalogue } from './models/catalogue.ts'
import { openCatalogue } from './models/open-catalogue.ts'
import { parseSyncedModels } from './models/public-lists.ts'
import { openUpstreams, type Registry } from './providers/registry.ts'
import { openSearcher, type Searcher } from './providers/search/searcher.ts'
import { Inspector } from './scan/inspect.ts'
import { ProcessState } from './state/process-state.ts'
import { openDiskStore } from './storage/disk.ts'
import { readPriceList } from './storage/price-list.ts'
import { openSecret } from './storage/secret.ts'
import type { Storage } from './storage/storage.ts'

/** What the verbs of hosting and gateway are given. */
export interface AppContext {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly db: Engine
  readonly storage: Storage
  readonly keys: KeyRing
  readonly idempotency: Idempotency
  readonly inspector: Inspector
  readonly generators: Generators
  /** Opens built pages in a browser; app.ts registers how they are shown. */
  readonly previewBrowser: PreviewBrowser
  /** Everything else that this process remembers between requests. */
  readonly state: ProcessState
  /** The models that the gateway serves. */
  readonly catalogue: Catalogue
  /** Where its requests go. */
  readonly upstreams: Registry
  /** Searches the web for chat models; undefined on a server without search. */
  readonly searcher: Searcher | undefined
  /** Hears of every charge; app.ts registers who is told. */
  onCharge?: ChargeObserver
  /** Works on the jobs; app.ts registers how each kind is done. */
  readonly jobs: Runner
  /** Signs links and hides addresses; it never leaves the data folder. */
  readonly secret: string
  readonly urls: Urls
}

/** What a test puts in a part's place. */
export type ContextOverrides = Partial<
  Pick<AppContext, 'clock' | 'log' | 'db' | 'storage' | 'catalogue' | 'upstreams' | 'searcher'>
>

/**
 * Opens everything the verbs need, in the data folder and the database of `config`. `origin` is
 * where this process listens ("http://localhost:3000").
 */
export async function createContext(
  config: Config,
  origin: string,
  parts: ContextOverrides = {},
): Promise<AppContext> {
  const clock = parts.clock ?? systemClock
  const db = parts.db ?? (await openEngine(config))
  const files = join(config.dataDir, 'files')
  const freeFloorBytes = config.diskFloorBytes
  const log = parts.log ?? openLog(clock)
  const served = await openModels(config, { clock, log })
  return {
    config,
    clock,
    db,
    log,
    storage: parts.storage ?? (await openDiskStore(files, { freeFloorBytes, clock, log })),
    keys: new KeyRing(db),
    idempotency: new Idempotency(db, clock),
    inspector: new Inspector(),
    generators: new Generators(),
    previewBrowser: new PreviewBrowser(findChromium(config.builderBrowser), config.dataDir, log),
    state: new ProcessState(clock, config),
    catalogue: parts.catalogue ?? served.catalogue,
    upstreams: parts.upstreams ?? served.upstreams,
    searcher: parts.searcher ?? served.searcher,
    jobs: new Runner({ db, clock, log, closeHolds: closeJobHolds }),
    secret: await openSecret(config.dataDir),
    urls: urlsOf(config, origin),
  }
}

/** The upstreams that are configured or found, and the models that can be had there. */
export async function openModels(config: Config, ctx: Pick<AppContext, 'clock' | 'log'>) {
  const { registry, published, local, demo } = await openUpstreams(config, ctx)
  const { models, marginPercent, searchPriceUsd } = config
  const now = ctx.clock.now()
  // What the demo finds is made up: no other model may take it for the web.
  const onlyDemo = demo && registry.names.length === 1
  const searcher = openSearcher(config, { log: ctx.log, demo: onlyDemo })
  const perSearch = searcher && searchPriceUsd
  const synced = parseSyncedModels(await readPriceList(config.dataDir))
  const sources = { models, published, synced, local, demo, marginPercent, perSearch, now }
  return { catalogue: await openCatalogue(sources), upstreams: registry, searcher }
}

/** Free credits cost the operator real money, so by default they pay only for demo models. */
export function acceptsStartCredits({ config, catalogue }: AppContext): boolean {
  const { startCreditsOnGateway: setting } = config
  return setting === 'on' || (setting === 'auto' && catalogue.isDemo)
}

/** What a new key may spend in a day; null is no cap. */
export const initialCap = ({ config: { dailyCapCredits: cap } }: AppContext): NanoUsd | null =>
  cap === null ? null : fromCredits(cap)

/** Ends what the house started, the database last. */
export async function closeContext(ctx: AppContext): Promise<void> {
  await ctx.jobs.close(0)
  ctx.inspector.close()
  ctx.generators.close()
  await ctx.db.close()
}
