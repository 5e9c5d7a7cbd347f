import { join } from 'node:path'

import { DocumentCache } from '../apps/app-data/document-cache.ts'
import { LiveQueries } from '../apps/app-data/live-queries.ts'
import { Rooms } from '../apps/app-data/rooms.ts'
import { findChromium } from '../apps/browser/chromium.ts'
import { PreviewBrowser } from '../apps/browser/preview-browser.ts'
import { budgetTable } from '../apps/builds/free-credits.ts'
import { Generators } from '../apps/generators/generators.ts'
import { LibraryFetcher } from '../apps/libraries/registry.ts'
import { LibraryStore } from '../apps/libraries/store.ts'
import { Inspector } from '../apps/scan/inspect.ts'
import { listPricedModels, openCatalog } from '../gateway/models/open-catalog.ts'
import { parseSyncedModels } from '../gateway/models/public-lists.ts'
import { Guardrail } from '../gateway/providers/guardrail.ts'
import { openUpstreams, Registry, upstreamSettings } from '../gateway/providers/registry.ts'
import { openSearcher } from '../gateway/providers/search.ts'
import { Runner } from '../jobs/runner.ts'
import { urlsOf } from '../kernel/config/load.ts'
import type { Config } from '../kernel/config/settings.ts'
import type { AppContext } from '../kernel/context.ts'
import { DamageCheck } from '../kernel/db/damage.ts'
import { openEngine } from '../kernel/db/open.ts'
import { OtherServers } from '../kernel/db/replicas/other-servers.ts'
import { folderIdOf, Presence, serverNameOf } from '../kernel/db/replicas/presence.ts'
import { shareFirst } from '../kernel/db/replicas/shared-values.ts'
import { Signals } from '../kernel/db/signals.ts'
import { type Log, openLog } from '../kernel/log.ts'
import { applyLimits } from '../kernel/state/limits.ts'
import { LiveSettings, Sealing } from '../kernel/state/live-settings.ts'
import { createProcessState } from '../kernel/state/process-state.ts'
import type { Telemetry } from '../kernel/telemetry/telemetry.ts'
import { type Clock, systemClock } from '../kernel/time.ts'
import { version } from '../kernel/version.ts'
import { Idempotency } from '../money/idempotency/idempotency.ts'
import { KeyRing } from '../money/keys/keys.ts'
import { Restrictions } from '../money/keys/restrictions.ts'
import { closeJobHolds } from '../money/ledger/ledger.ts'
import { PendingSettlements } from '../money/ledger/outcomes.ts'
import { ledgerTables } from '../money/ledger/view.ts'
import { openCoins } from '../money/payments/coins/coins.ts'
import type { X402 } from '../money/payments/x402/x402.ts'
import { followPriceList, readPriceList } from '../store/data-files.ts'
import { openDiskStore } from '../store/disk.ts'
import { openSecret } from '../store/signed-url.ts'
import type { Storage } from '../store/storage.ts'

/** Parts that a test replaces. */
export type ContextOverrides = Partial<
  Pick<
    AppContext,
    | 'clock'
    | 'log'
    | 'db'
    | 'storage'
    | 'catalog'
    | 'upstreams'
    | 'searcher'
    | 'pendingSettlements'
    | 'generators'
    | 'inspector'
  >
>

/**
 * Opens the database, the data folder and everything else. `origin` is the address of this process,
 * such as "http://localhost:3000".
 */
export async function createContext(
  initial: Config,
  origin: string,
  parts: ContextOverrides = {},
): Promise<AppContext> {
  const config = { ...initial, rows: initial.rows.map((row) => ({ ...row })) }
  const clock = parts.clock ?? systemClock
  const db = parts.db ?? (await openEngine(config))
  const log = parts.log ?? openLog(clock)
  const settings = new LiveSettings(db, config, log, await openSealing(config))
  await settings.load()
  await followPriceList(db, config.dataDir)
  const models = await openModels(config, { clock, log })
  const folderSecret = await openSecret(config.dataDir)
  const signals = new Signals({ db, log, clock })
  signals.follow('settings', () => settings.load())
  const state = createProcessState(clock, config, { db, signals })
  const restrictions = new Restrictions({ db, signals })
  await restrictions.load()
  settings.onChange(() => applyLimits(state.limits, config))
  if (!parts.catalog) settings.onChange(models.reprice)
  signals.follow('prices', async () => {
    if (await followPriceList(db, config.dataDir)) await models.reprice(config)
  })
  const storage = parts.storage ?? (await openStorage(config, clock, log))
  return {
    config,
    settings,
    clock,
    db,
    log,
    storage,
    libraries: new LibraryStore(db, storage),
    libraryFetcher: new LibraryFetcher(config.libraryRegistry),
    keys: new KeyRing(db, signals),
    ...openLiveData({ db, log, clock, signals }),
    signals,
    presence: new Presence({ db, log }, { folder: folderIdOf(config, folderSecret), version }),
    otherServers: new OtherServers({ db, log, signals }, serverNameOf(origin)),
    restrictions,
    idempotency: new Idempotency(db, clock),
    inspector: parts.inspector ?? new Inspector(),
    generators: parts.generators ?? new Generators(),
    previewBrowser: new PreviewBrowser(findChromium(config.builderBrowser), config.dataDir, log),
    state,
    catalog: parts.catalog ?? models.catalog,
    upstreams: parts.upstreams ?? models.upstreams,
    searcher: parts.searcher ?? models.searcher,
    damage: new DamageCheck({ db, log }, [...ledgerTables, budgetTable]),
    pendingSettlements: parts.pendingSettlements ?? new PendingSettlements(),
    coins: await openCoins({ config, clock, log }),
    guardrail: config.guardrailUrl === '' ? undefined : new Guardrail(config, log),
    telemetry: await openTelemetry(config, { clock, log }),
    x402: await openX402({ config, db, clock, log }),
    jobs: new Runner({ db, clock, log, signals, costs: state.costs, closeHolds: closeJobHolds }),
    secret: await shareFirst(db, 'secret', folderSecret),
    folderSecret,
    urls: urlsOf(config, origin),
  }
}

/** Opens what pages of apps share while they are open. */
function openLiveData({
  db,
  log,
  clock,
  signals,
}: Pick<AppContext, 'db' | 'log' | 'clock' | 'signals'>) {
  const documentCache = new DocumentCache({ db, signals })
  const liveQueries = new LiveQueries({ cache: documentCache, log })
  return { documentCache, liveQueries, rooms: new Rooms({ signals, clock }) }
}

/** Opens the encryption of secrets: by SETTINGS_KEY, else by a file of the data folder. */
const openSealing = async ({ settingsKey, dataDir }: Config): Promise<Sealing> =>
  new Sealing(settingsKey || (await openSecret(dataDir, 'settings-secret')))

/** Opens the traces and metrics where the operator has a collector for them. */
async function openTelemetry(
  config: Config,
  parts: Pick<AppContext, 'clock' | 'log'>,
): Promise<Telemetry | undefined> {
  if (config.otelExporterOtlpEndpoint === '') return undefined
  const telemetry = await import('../kernel/telemetry/telemetry.ts')
  return telemetry.openTelemetry(config, parts)
}

/** Opens the payments of agents where the operator has an address for them. */
async function openX402(parts: ConstructorParameters<typeof X402>[0]): Promise<X402 | undefined> {
  if (parts.config.x402PayTo === '') return undefined
  const payments = await import('../money/payments/x402/x402.ts')
  return new payments.X402(parts)
}

/** Opens the files: in the bucket of S3_BUCKET, else in the data folder. */
async function openStorage(config: Config, clock: Clock, log: Log): Promise<Storage> {
  const { dataDir, diskFloorBytes } = config
  const options = { freeFloorBytes: diskFloorBytes, clock, log }
  const isShared = config.databaseUrl !== ''
  if (config.s3Bucket === '') return openDiskStore(join(dataDir, 'files'), options, isShared)
  const { openBucket } = await import('../store/s3/store.ts')
  return openBucket(config, options)
}

/** Opens the configured and detected upstreams, the models that they serve, and the web search. */
export async function openModels(config: Config, ctx: Pick<AppContext, 'clock' | 'log'>) {
  const registry = new Registry([], ctx)
  let opened = await openUpstreams(config, ctx, registry)
  let known = upstreamSettings(config)
  // Results of the demo search are made up, so no real model may use them.
  const isDemo = () => opened.demo && registry.names.length === 1
  const searcher = openSearcher(config, { log: ctx.log, isDemo })
  const sourcesOf = async ({ models, marginPercent, modelPrices, ...current }: Config) => {
    const { published, local, replicas, demo } = opened
    const perSearch = searcher && current.searchPriceUsd
    const synced = parseSyncedModels(await readPriceList(current.dataDir))
    const { modelsOff } = current
    const prices = { marginPercent, modelPrices, modelsOff, perSearch, now: ctx.clock.now() }
    return { models, published, synced, local, replicas, demo, ...prices }
  }
  const catalog = await openCatalog(await sourcesOf(config))
  /** Applies providers, prices and models that the operator changed. */
  const reprice = async (changed: Config): Promise<void> => {
    const current = upstreamSettings(changed)
    if (current !== known) opened = await openUpstreams(changed, ctx, registry)
    known = current
    catalog.replace(await listPricedModels(await sourcesOf(changed)), changed.modelsOff)
  }
  return { catalog, reprice, upstreams: registry, searcher }
}

/** Ends everything that createContext started, the database last. */
export async function closeContext(ctx: AppContext): Promise<void> {
  await ctx.jobs.close(0)
  await Promise.all([ctx.previewBrowser.close(), ctx.x402?.close()])
  ctx.inspector.close()
  ctx.state.pdfReader.close()
  ctx.generators.close()
  await ctx.pendingSettlements.close()
  await ctx.presence.close()
  await ctx.signals.close()
  await ctx.telemetry?.close()
  await ctx.db.close()
}
