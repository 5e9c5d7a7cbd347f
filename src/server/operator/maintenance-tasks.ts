import { endSponsor } from '../../apps/ai/sponsors.ts'
import { flushTurns, removeTurns } from '../../apps/ai/turns.ts'
import { keepLive } from '../../apps/app-data/live-session.ts'
import { forgetGuests } from '../../apps/app-data/players.ts'
import { removeData } from '../../apps/app-data/records.ts'
import { endChallenges } from '../../apps/app-data/scores.ts'
import * as assets from '../../apps/assets/assets.ts'
import { removeAudience } from '../../apps/audience/audience.ts'
import { enqueueCaptures } from '../../apps/covers/capture-job.ts'
import { removeScreenshots } from '../../apps/covers/covers.ts'
import { purgeDeleted } from '../../apps/deletion.ts'
import { deleteExpiredDeviceCodes } from '../../apps/devices/devices.ts'
import { deleteOldErrors, removeErrors } from '../../apps/errors/errors.ts'
import { deleteOldDeliveries, enqueueDeliveries } from '../../apps/me/hooks/hooks.ts'
import { deleteOldModeration } from '../../apps/moderation/moderation.ts'
import { deleteOldOpens, flushOpens } from '../../apps/opens.ts'
import { recompressOne } from '../../apps/page-content.ts'
import { removeFeedback } from '../../apps/reviews/imported.ts'
import { expireRuns, expireShares, removeRuns } from '../../apps/runs/runs.ts'
import { rescanOutdated } from '../../apps/scans/scans.ts'
import { mergeIndex } from '../../apps/search.ts'
import * as batches from '../../gateway/batches/batches.ts'
import * as files from '../../gateway/files/quota.ts'
import * as mediaFiles from '../../gateway/media-files/media-files.ts'
import { deleteOldUses } from '../../gateway/models/history.ts'
import { deleteOldItems } from '../../gateway/responses/responses.ts'
import { deleteExpired as deleteResponses } from '../../gateway/responses/stored-responses.ts'
import { expireHolds } from '../../gateway/usage/expire-holds.ts'
import { deleteOldJobs } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { deleteOldWindows } from '../../kernel/db/replicas/shared-values.ts'
import { shareLimits } from '../../kernel/state/limits.ts'
import { deleteOldObservations, shareObservations } from '../../kernel/state/observations.ts'
import { day, hour, minute, second } from '../../kernel/time.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import { deleteOldKeyNetworks, flushKeyNetworks } from '../../people/agents/keys.ts'
import { deleteOldClients } from '../../people/connectors/clients.ts'
import { deleteExpiredConnectors } from '../../people/connectors/connectors.ts'
import { deleteOldNotes } from '../../people/notifications/notifications.ts'
import { deleteExpiredSessions } from '../../people/sessions.ts'
import { deleteExpiredTickets } from '../../people/tickets.ts'
import { checkAlerts } from './alerts.ts'
import { runBackupSchedule } from './archives.ts'
import { recordHours, recordMetrics } from './metrics-history.ts'
import { findReferenced } from './referenced-files.ts'

/** Files without a row stay this long, because their row may still be written. */
const orphanMs = day

/** Removes stored files that no row references. */
const sweepFiles = (ctx: AppContext): Promise<unknown> =>
  ctx.state.fileWork.run(() =>
    ctx.storage.sweep((names) => findReferenced(ctx.db.read, names), orphanMs),
  )

/** Pages that one run compresses again. */
const recompressionsMax = 20

async function recompressSome(ctx: AppContext): Promise<void> {
  for (let done = 0; done < recompressionsMax && (await recompressOne(ctx)); done += 1) continue
}

/** Watches the chains of top-ups. A server without them loads nothing. */
async function watchTopups(ctx: AppContext): Promise<void> {
  if (openMethods(ctx.config).length === 0) return
  const { watchCoins } = await import('../../money/payments/coins/watch.ts')
  await watchCoins(ctx)
}

async function deleteOldUsage({ db, clock, config }: AppContext): Promise<void> {
  if (config.usageKeptDays > 0) await deleteOldUses(db, clock.now() - config.usageKeptDays * day)
}

/** Ends the holds of servers that died. On SQLite a start does it. */
const releaseOfDead = async (ctx: AppContext): Promise<unknown> =>
  ctx.db.kind === 'postgres' && expireHolds(ctx)

/** Writes measurements more often where others read them. SQLite has one server. */
const shareWithOthers = async (ctx: AppContext): Promise<unknown> =>
  ctx.db.kind === 'postgres' && shareObservations(ctx)

/** Deletes the windows of limits that passed. SQLite has none. */
const deleteOldCounts = async ({ db, clock }: AppContext): Promise<unknown> =>
  db.kind === 'postgres' && db.tx((tx) => deleteOldWindows(tx, clock.now()))

/** Removes apps that were deleted 30 days ago, with their files, reviews and comments. */
export const purgeApps = (ctx: AppContext): Promise<number> =>
  purgeDeleted(ctx, async (db, app) => {
    await assets.deleteAllAssets(db, app)
    await removeFeedback(db, app.id)
    await removeScreenshots(db, app.id)
    await removeRuns(db, app.id)
    await removeData(db, app)
    await removeTurns(db, app.id)
    await endSponsor(db, app.id)
    await removeErrors(db, app.id)
    await removeAudience(db, app.id)
  })

/** `everywhere`: every process does it, for its own memory. One server does everything else. */
type Task = [
  name: string,
  everyMs: number,
  run: (ctx: AppContext) => Promise<unknown>,
  where?: 'everywhere',
]

/** The periodic work of a running server. */
export const tasks: Task[] = [
  ['watch the coins of top-ups', 5 * second, watchTopups],
  ['release expired holds', minute, expireHolds, 'everywhere'],
  ['release holds of dead servers', 5 * second, releaseOfDead],
  [
    'release late claims',
    5 * second,
    async ({ idempotency }) => idempotency.claims?.releaseLate(),
    'everywhere',
  ],
  ['read settings', 5 * second, ({ settings }) => settings.load(), 'everywhere'],
  ['read restrictions', minute, ({ restrictions }) => restrictions.load(), 'everywhere'],
  ['read the ledger', day, ({ damage }) => damage.probe().then(() => damage.scan()), 'everywhere'],
  ['record metrics', minute, recordMetrics, 'everywhere'],
  ['check alerts', minute, (ctx) => checkAlerts(ctx), 'everywhere'],
  ['measure timer delay', second, async ({ state }) => state.metricsHistory.tick(), 'everywhere'],
  ['share the counts of limits', second / 2, shareLimits, 'everywhere'],
  ['delete old counts of limits', hour, deleteOldCounts],
  ['share measurements', 10 * second, shareWithOthers, 'everywhere'],
  ['record hours of metrics', 10 * minute, recordHours],
  ['delete old measurements', hour, deleteOldObservations],
  ['keep live pages', 2 * second, keepLive, 'everywhere'],
  ['write opens', 5 * second, flushOpens, 'everywhere'],
  ['write the costs of turns', 5 * second, flushTurns, 'everywhere'],
  ['delete old opens', day, deleteOldOpens],
  ['forget guests of apps', day, forgetGuests],
  ['end challenges of apps', day, endChallenges],
  ['delete old errors of pages', day, deleteOldErrors],
  ['write networks of keys', 5 * second, flushKeyNetworks, 'everywhere'],
  ['delete old networks of keys', day, deleteOldKeyNetworks],
  ['recompress pages', minute, recompressSome],
  ['enqueue captures of covers', 2 * second, enqueueCaptures],
  ['merge the search index', hour, mergeIndex],
  ['delete old usage records', hour, deleteOldUsage],
  ['delete expired gateway files', hour, files.deleteExpired],
  ['delete expired media files', hour, mediaFiles.deleteExpired],
  ['delete old batches', hour, batches.deleteOld],
  ['delete old items of responses', 10 * minute, deleteOldItems],
  ['delete expired responses', hour, deleteResponses],
  ['rescan pages of older rules', minute, rescanOutdated],
  ['expire runs', minute, expireRuns],
  ['expire shares of runs', minute, expireShares],
  ['delete old moderation records', hour, deleteOldModeration],
  ['delete old jobs', hour, deleteOldJobs],
  ['delete expired sessions', hour, deleteExpiredSessions],
  ['delete expired tickets', hour, deleteExpiredTickets],
  ['delete expired device codes', hour, deleteExpiredDeviceCodes],
  ['delete expired connectors', hour, deleteExpiredConnectors],
  ['delete old clients of connectors', hour, deleteOldClients],
  ['enqueue webhook deliveries', second, enqueueDeliveries],
  ['delete old webhook deliveries', hour, deleteOldDeliveries],
  ['delete old notes', hour, deleteOldNotes],
  ['delete old idempotent responses', hour, (ctx) => ctx.idempotency.sweep()],
  ['watch x402 payments', minute, async ({ x402 }) => x402?.resume()],
  ['purge deleted apps', hour, purgeApps],
  ['delete unreferenced files', day, sweepFiles],
  ['back up', minute, runBackupSchedule],
]
