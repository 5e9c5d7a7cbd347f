import type { AppContext } from '../context.ts'
import { day, hour, minute, second } from '../core/time.ts'
import { deleteExpired as forgetFiles } from '../gateway/files/files.ts'
import { deleteExpired as forgetMade } from '../gateway/media-files/media-files.ts'
import { endExpired } from '../gateway/usage/expired.ts'
import * as assets from '../hosting/apps/assets/assets.ts'
import { forgetOpens, writeOpens } from '../hosting/apps/opens.ts'
import { polishOne } from '../hosting/apps/recompress.ts'
import { purge } from '../hosting/apps/deletion.ts'
import { mergeIndex } from '../hosting/apps/search.ts'
import { forget as forgetDeliveries, passOn } from '../hosting/me/hooks/deliveries.ts'
import { forgetModeration } from '../hosting/moderation/retention.ts'
import { rescanSome } from '../hosting/apps/scan/scans.ts'
import { forget as forgetNotes } from '../hosting/notifications/notifications.ts'
import { forget as forgetSessions } from '../hosting/people/sessions.ts'
import { forget as forgetTickets } from '../hosting/people/tickets.ts'
import { removeSaid } from '../hosting/reviews/removal.ts'
import { sweep as forgetJobs } from '../jobs/jobs.ts'
import { deleteOldUses } from '../models/history.ts'
import { recordMetrics } from './metrics-history.ts'
import { namedIn } from './stored.ts'

/** A stored file that no row names is left alone this long: its row may be on its way. */
const orphanMs = day

/** Removes stored bytes that no row names. */
const sweep = (ctx: AppContext): Promise<unknown> =>
  ctx.state.fileWork.run(() => ctx.storage.sweep((names) => namedIn(ctx.db.read, names), orphanMs))

const polishMax = 20

async function polishSome(ctx: AppContext): Promise<void> {
  for (let done = 0; done < polishMax && (await polishOne(ctx)); done += 1) continue
}

/** Forgets what was used longer ago than USAGE_KEPT_DAYS. */
async function forgetUses({ db, clock, config }: AppContext): Promise<void> {
  if (config.usageKeptDays > 0) await deleteOldUses(db, clock.now() - config.usageKeptDays * day)
}

/** Removes apps that were deleted 30 days ago, with their files and what was said of them. */
export const purgeApps = (ctx: AppContext): Promise<number> =>
  purge(ctx, async (db, app) => {
    await assets.removeAll(db, app)
    await removeSaid(db, app.id)
  })

/** What a running house does beside answering, and how often. */
const chores: [name: string, everyMs: number, run: (ctx: AppContext) => Promise<unknown>][] = [
  ['release holds past their deadline', minute, endExpired],
  ['record metrics', minute, recordMetrics],
  ['measure the delay of timers', second, async ({ state }) => state.metricsHistory.tick()],
  ['count opens', 5 * second, writeOpens],
  ['forget who opened what', day, forgetOpens],
  ['compress pages better', minute, polishSome],
  ['make the index of searches one part', hour, mergeIndex],
  ['forget old history', hour, forgetUses],
  ['forget files that have expired', hour, forgetFiles],
  ['forget pictures whose links have expired', hour, forgetMade],
  ['read again what older rules have read', minute, rescanSome],
  ['forget old reports and decisions', hour, forgetModeration],
  ['forget old jobs', hour, forgetJobs],
  ['forget sessions that ended', hour, forgetSessions],
  ['forget tickets that were used', hour, forgetTickets],
  ['send notes to their hooks', second, passOn],
  ['forget old deliveries', hour, forgetDeliveries],
  ['forget old notes', hour, forgetNotes],
  ['forget old answers', hour, (ctx) => ctx.idempotency.sweep()],
  ['remove apps deleted 30 days ago', hour, purgeApps],
  ['remove files no row names', day, sweep],
]

/** The first round waits until the house has answered whoever waited for it to start. */
const firstRoundMs = second

/** Starts the chores and the jobs a second later. Answers how to end the chores. */
export function startChores(ctx: AppContext): () => void {
  const begin = (): void => {
    void ctx.jobs.start()
    for (const [name, everyMs, run] of chores) {
      let running = false
      const once = async (): Promise<void> => {
        if (running) return
        running = true
        await run(ctx).catch((error: unknown) => ctx.log.fault('chore', error, { name }))
        running = false
      }
      void once()
      timers.push(setInterval(once, everyMs).unref())
    }
  }
  const timers: Timer[] = [setTimeout(begin, firstRoundMs).unref()]
  return () => timers.forEach((timer) => clearTimeout(timer))
}
