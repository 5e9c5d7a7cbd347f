import { type Static, Type } from '@sinclair/typebox'
import { and, asc, eq, exists, inArray, lte, or, sql } from 'drizzle-orm'

import { enqueue } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { prepared } from '../../kernel/db/query.ts'
import { isApiError } from '../../kernel/errors.ts'
import { zero } from '../../kernel/money.ts'
import { minute, second } from '../../kernel/time.ts'
import { apps, needsCapture, versions } from '../tables.ts'

/** Assets often arrive just after their page. */
const settledMs = 8 * second
/** Later changes of the app no longer delay its capture, which also checks the page. */
const waitedMs = minute
const jobMs = 30 * minute
const waitingMax = 8

/** Input of a job that captures the cover of an app. */
export const captureSchema = Type.Object({ app: Type.String(), version: Type.Integer() })
export type CaptureInput = Static<typeof captureSchema>

/** Finds apps whose newest version was not captured, the oldest change first. */
const findUncaptured = prepared((db) => {
  const isNewest = and(eq(versions.app, apps.id), eq(versions.version, apps.version))
  const waited = db
    .select({ version: versions.version })
    .from(versions)
    .where(and(isNewest, lte(versions.created, sql.placeholder('waited'))))
  return db
    .select({ app: apps.id, version: apps.version })
    .from(apps)
    .where(
      and(
        needsCapture(apps),
        // Skills and frameworks have no page.
        inArray(apps.kind, ['app', 'game']),
        or(lte(apps.updated, sql.placeholder('settled')), exists(waited)),
      ),
    )
    .orderBy(asc(apps.updated), asc(apps.id))
    .limit(waitingMax)
    .prepare()
})

/** Enqueues captures of apps whose newest version was not captured. */
export async function enqueueCaptures(ctx: AppContext): Promise<void> {
  if (!ctx.previewBrowser.isAvailable) return
  const now = ctx.clock.now()
  const times = { settled: now - settledMs, waited: now - waitedMs }
  const found = await findUncaptured(ctx.db.read).execute(times)
  for (const input of found) {
    const job = { kind: 'cover', queue: 'covers', owner: 'covers', input } as const
    const more = { item: input.app, slot: `cover:${input.app}`, price: zero, ms: jobMs }
    await ctx.db.tx((db) => enqueue(ctx, db, { ...job, ...more })).catch(ignoreBusy)
  }
  if (found.length > 0) ctx.jobs.wake()
}

/** Ignores that the capture of an app is already waiting. */
function ignoreBusy(error: unknown): void {
  if (!isApiError(error, 'busy')) throw error
}
