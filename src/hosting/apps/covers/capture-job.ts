import { type TNull, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../../../context.ts'
import type { Db } from '../../../db/engine.ts'
import type { Handler, JobRun, Outcome } from '../../../jobs/handler.ts'
import * as apps from '../apps.ts'
import { listAssets } from '../assets/assets.ts'
import { readFiles } from '../assets/contents.ts'
import * as pages from '../page-content.ts'
import { apps as table } from '../tables.ts'
import { type CaptureInput, captureSchema } from './captures.ts'
import { coverColumns, pickCover, storeCover } from './cover-image.ts'
import { largeSize } from './sizes.ts'

type CaptureRun = JobRun<CaptureInput, null>

/** Captures covers in the background. A page that cannot be captured keeps the cover it had. */
export const coverHandler = (ctx: AppContext): Handler<typeof captureSchema, TNull> => ({
  input: captureSchema,
  data: Type.Null(),
  run: (run) => captureCover(ctx, run),
  // Otherwise a page that breaks its job would be captured again and again.
  compensate: async (db, { input }) => {
    if (Value.Check(captureSchema, input)) await finish(db, input)
  },
})

type Cover = Partial<Pick<apps.App, 'cover' | 'coverSmall' | 'coverColor'>>

/**
 * Stores the result of a capture, unless the maker uploaded a cover or changed the app after the
 * time `since`.
 */
const finish = (
  db: Db,
  { app, version }: CaptureInput,
  cover: Cover = {},
  since?: number,
): Promise<unknown> => {
  const isSame = since === undefined ? undefined : eq(table.updated, since)
  return db
    .update(table)
    .set({ ...cover, coverVersion: version })
    .where(and(eq(table.id, app), eq(table.coverGiven, false), isSame))
}

async function captureCover(ctx: AppContext, { input, signal }: CaptureRun): Promise<Outcome> {
  const app = await apps.findApp(ctx, input.app)
  if (!app || app.closed !== null || app.takenDown !== null) return { end: 'done' }
  const best = await pickCover(await openApp(ctx, app, signal))
  const stored = best && (await storeCover(ctx, best))
  const cover = stored && coverColumns(stored)
  return {
    end: 'done',
    record: async (db) => void (await finish(db, input, cover, app.updated)),
  }
}

/** Plays the version that visitors see. */
async function openApp(ctx: AppContext, app: apps.App, signal: AbortSignal) {
  const version = apps.visibleVersion(app)
  const page = await pages.readPage(ctx, await apps.getVersion(ctx, app.id, version))
  const files = await readFiles(ctx, await listAssets(ctx, app.id, version))
  const input = { html: page.identity, files }
  return (await ctx.previewBrowser.capture(input, largeSize, signal)) ?? []
}
