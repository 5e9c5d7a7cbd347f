import { type TNull, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { and, eq, lt } from 'drizzle-orm'

import type { Handler, JobRun, Outcome } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import { isApiError } from '../../kernel/errors.ts'
import { minute } from '../../kernel/time.ts'
import { checkBytes } from '../../people/agents/storage-quota.ts'
import * as apps from '../apps.ts'
import { listAssets, readFiles } from '../assets/assets.ts'
import * as pages from '../page-content.ts'
import { recordDepartures } from '../scans/scans.ts'
import { apps as table } from '../tables.ts'
import { type CaptureInput, captureSchema } from './captures.ts'
import {
  encodeCover,
  type EncodedCover,
  pickCover,
  storeCover,
  type StoredCover,
} from './cover-image.ts'
import { capturedVersionsMax, largeSize } from './schemas.ts'
import { storeCaptures } from './version-covers.ts'

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
