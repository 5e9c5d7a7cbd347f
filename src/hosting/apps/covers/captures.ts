import { type Static, Type } from '@sinclair/typebox'
import { and, asc, inArray, lte } from 'drizzle-orm'

import type { AppContext } from '../../../context.ts'
import { zero } from '../../../core/money.ts'
import { minute, second } from '../../../core/time.ts'
import { isApiError } from '../../../errors.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import { apps, needsCapture } from '../tables.ts'

/** Assets often arrive just after their page. */
const settledMs = 8 * second
const jobMs = 30 * minute
const waitingMax = 8

/** Input of a job that captures the cover of an app. */
export const captureSchema = Type.Object({ app: Type.String(), version: Type.Integer() })
export type CaptureInput = Static<typeof captureSchema>

/** Enqueues captures of apps whose newest version was not captured, the oldest change first. */
export async function enqueueCaptures(ctx: AppContext): Promise<void> {
  if (!ctx.previewBrowser.isAvailable) return
  const found = await ctx.db.read
    .select({ app: apps.id, version: apps.version })
    .from(apps)
    .where(
      and(
        needsCapture(apps),
        // Skills and frameworks have no page.
        inArray(apps.kind, ['app', 'game']),
        lte(apps.updated, ctx.clock.now() - settledMs),
      ),
    )
    .orderBy(asc(apps.updated), asc(apps.id))
    .limit(waitingMax)
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
