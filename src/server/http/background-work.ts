import { iconRow } from '../../apps/icon/icon-row.ts'
import { resolveLibraries } from '../../apps/page-libraries.ts'
import { previewPages } from '../../apps/viewer/preview-page.ts'
import { mediaFileRow } from '../../gateway/media-files/media-files.ts'
import { historyRow } from '../../gateway/paid/serve-call.ts'
import { expireHolds } from '../../gateway/usage/expire-holds.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import type { PublicFile } from '../../kernel/public-files.ts'
import { second } from '../../kernel/time.ts'
import { responseRow } from '../../money/idempotency/idempotency.ts'
import type { PaymentRow } from '../../money/payments/x402/rows.ts'
import { notifyIfLow } from '../../people/notifications/notifications.ts'

/** Connects lower modules with the features that they run: jobs, charges, rows and previews. */
export function registerBackgroundWork(
  ctx: AppContext,
  files: ReadonlyMap<string, PublicFile>,
): void {
  if (ctx.idempotency.claims) ctx.idempotency.claims.beforeTakeover = () => expireHolds(ctx)
  ctx.otherServers.handler = async (name, input) =>
    (await import('../operator/respond.ts')).respond(ctx, name, input)
  ctx.onCharge = (db, hold, left) => notifyIfLow(ctx, db, hold, left)
  if (ctx.x402) ctx.x402.onCredit = (db, payment) => recordPayment(ctx, db, payment)
  ctx.jobs.register('build', 'builds', async () =>
    (await import('../../apps/builds/build-job.ts')).buildHandler(ctx),
  )
  ctx.jobs.register('assets', 'assets', async () =>
    (await import('../../apps/assets/generate-assets.ts')).assetsHandler(ctx),
  )
  ctx.jobs.register('cover', 'covers', async () =>
    (await import('../../apps/covers/capture-job.ts')).coverHandler(ctx),
  )
  ctx.jobs.register('hook', 'hooks', async () =>
    (await import('../../apps/me/hooks/hooks.ts')).hookHandler(ctx),
  )
  ctx.jobs.register('video', 'media', async () =>
    (await import('../../gateway/videos/handler.ts')).videoHandler(ctx),
  )
  ctx.jobs.register('batch', 'batches', async () =>
    (await import('../../gateway/batches/batch-job.ts')).batchHandler(ctx),
  )
  ctx.pendingSettlements.register(ctx, historyRow)
  ctx.pendingSettlements.register(ctx, mediaFileRow)
  ctx.pendingSettlements.register(ctx, responseRow)
  ctx.pendingSettlements.register(ctx, iconRow)
  ctx.previewBrowser.register(previewPages(files, ctx.clock, (html) => resolveLibraries(ctx, html)))
}

/** Records a settled payment of an agent: as the share of a run, or in a note. */
async function recordPayment(ctx: AppContext, db: Db, payment: PaymentRow): Promise<unknown> {
  if (payment.run !== null) {
    const { recordSettledShare } = await import('../../apps/runs/share.ts')
    return recordSettledShare(ctx, db, payment)
  }
  const { notifyOfPayment } = await import('../../people/notifications/notifications.ts')
  return notifyOfPayment(ctx, db, payment)
}

/** The delay before the first run, so that the first requests do not wait for it. */
const startDelayMs = second

/**
 * Starts jobs and periodic work after a second. Of several servers on a database one does the work
 * that is not for every process. Returns the function that stops the work.
 */
export function startMaintenance(ctx: AppContext): () => void {
  const start = async (): Promise<void> => {
    const { tasks } = await import('../operator/maintenance-tasks.ts')
    if (isStopped) return
    void ctx.jobs.start()
    for (const [name, everyMs, run, where] of tasks) {
      let isRunning = false
      const runTask = async (): Promise<void> => {
        if (isRunning || (where !== 'everywhere' && !ctx.presence.isLeader)) return
        isRunning = true
        await run(ctx).catch((error: unknown) => ctx.log.error('maintenance', error, { name }))
        isRunning = false
      }
      void runTask()
      timers.push(setInterval(runTask, everyMs).unref())
    }
  }
  let isStopped = false
  const timers: Timer[] = [setTimeout(start, startDelayMs).unref()]
  return () => {
    isStopped = true
    timers.forEach((timer) => clearTimeout(timer))
  }
}
