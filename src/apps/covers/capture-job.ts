import { type Static, type TNull, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { and, asc, eq, exists, inArray, lt, lte, or, sql } from 'drizzle-orm'

import type { Handler, JobRun, Outcome } from '../../jobs/handlers.ts'
import { enqueue } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { prepared } from '../../kernel/db/query.ts'
import { isApiError } from '../../kernel/errors.ts'
import { zero } from '../../kernel/money.ts'
import { minute, second } from '../../kernel/time.ts'
import { checkBytes } from '../../people/agents/storage-quota.ts'
import * as apps from '../apps.ts'
import { listAssets, readFiles } from '../assets/assets.ts'
import * as pages from '../page-content.ts'
import { recordDepartures } from '../scans/scans.ts'
import { apps as table, needsCapture, versions } from '../tables.ts'
import {
  encodeCover,
  type EncodedCover,
  pickCover,
  storeCover,
  type StoredCover,
} from './cover-image.ts'
import { capturedVersionsMax, largeSize } from './schemas.ts'
import { storeCaptures } from './version-covers.ts'

/** Assets often arrive just after their page. */
const settledMs = 8 * second
/** Later changes of the app no longer delay its capture, which also checks the page. */
const waitedMs = minute
const jobMs = 30 * minute
const waitingMax = 8

/** Input of a job that captures the cover of an app. */
const captureSchema = Type.Object({ app: Type.String(), version: Type.Integer() })
type CaptureInput = Static<typeof captureSchema>

/** Finds apps whose newest version was not captured, the oldest change first. */
const findUncaptured = prepared((db) => {
  const isNewest = and(eq(versions.app, table.id), eq(versions.version, table.version))
  const waited = db
    .select({ version: versions.version })
    .from(versions)
    .where(and(isNewest, lte(versions.created, sql.placeholder('waited'))))
  return db
    .select({ app: table.id, version: table.version })
    .from(table)
    .where(
      and(
        needsCapture(table),
        // Skills and frameworks have no page.
        inArray(table.kind, ['app', 'game']),
        or(lte(table.updated, sql.placeholder('settled')), exists(waited)),
      ),
    )
    .orderBy(asc(table.updated), asc(table.id))
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

type CaptureRun = JobRun<CaptureInput, null>

/** The machine was busy, or the browser failed. The time limit of the job ends the attempts. */
const retryMs = 5 * minute

/** Captures covers in the background. A page that cannot be captured keeps the cover it had. */
export const coverHandler = (ctx: AppContext): Handler<typeof captureSchema, TNull> => ({
  input: captureSchema,
  data: Type.Null(),
  run: (run) => captureCovers(ctx, run),
  // Otherwise a page that breaks its job would be captured again and again.
  compensate: async (db, { input }) => {
    if (!Value.Check(captureSchema, input)) return
    const isBehind = lt(table.coverVersion, input.version)
    await db
      .update(table)
      .set({ coverVersion: input.version })
      .where(and(eq(table.id, input.app), isBehind))
  },
})

async function captureCovers(
  ctx: AppContext,
  { input, signal, onEnd }: CaptureRun,
): Promise<Outcome> {
  const app = await apps.findApp(ctx, input.app)
  if (!app || app.closed !== null || app.takenDown !== null) return { end: 'done' }
  const captured = new Map<number, StoredCover>()
  for (const version of versionsToCapture(app)) {
    const seen = await openVersion(ctx, app.id, version, signal)
    if (!seen) return { end: 'again', afterMs: retryMs }
    const { screenshots, departures } = seen
    if (departures.length > 0) await recordDepartures(ctx, app, version, departures)
    const best = await pickCover(screenshots)
    if (!best) continue
    const cover = await encodeCover(best)
    const end = await reserveCover(ctx, app, cover)
    if (end) onEnd(end)
    // The cover that an app shows does not count.
    const isShown = !app.coverGiven && version === apps.visibleVersion(app)
    if (end || isShown) captured.set(version, await storeCover(ctx, cover))
  }
  return { end: 'done', record: (db) => storeCaptures(ctx, db, app, captured) }
}

/** Counts a cover before it is stored. Returns undefined where the quota of its maker is full. */
const reserveCover = (ctx: AppContext, { maker }: apps.App, { bytes }: EncodedCover) =>
  ctx.state.reservations
    .begin(maker, { rows: 0, bytes }, (others) => checkBytes(ctx, maker, others.bytes + bytes))
    .catch((error: unknown) => {
      if (isApiError(error, 'storage_full')) return undefined
      throw error
    })

/** The versions since the last capture, the newest first, after the visible one if it needs it. */
function versionsToCapture(app: apps.App): Set<number> {
  const { cover, coverGiven, coverVersion, version } = app
  const visible = apps.visibleVersion(app)
  // The capture is also the check of a page that runs, so an uploaded cover does not replace it.
  const isShownWithout = visible > coverVersion || (!coverGiven && cover === null)
  const count = Math.min(version - coverVersion, capturedVersionsMax)
  const newest = Array.from({ length: count }, (_, at) => version - at)
  return new Set(isShownWithout ? [visible, ...newest] : newest)
}

async function openVersion(ctx: AppContext, app: string, version: number, signal: AbortSignal) {
  const page = await pages.readPage(ctx, await apps.getVersion(ctx, app, version))
  const files = await readFiles(ctx, await listAssets(ctx, app, version))
  const input = { html: page.identity, files }
  return ctx.previewBrowser.capture(input, largeSize, signal)
}
