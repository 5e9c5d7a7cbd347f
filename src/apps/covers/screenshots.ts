import { and, asc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Agent } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import { toImage } from '../icon/icon-image.ts'
import { encodeCover, storeCover } from './cover-image.ts'
import { imageUrl } from './present-cover.ts'
import { largeSize, type ScreenshotBody } from './schemas.ts'
import { screenshots } from './tables.ts'

/** Returns the screenshots of an app by position. */
const listRows = ({ db }: AppContext, app: string) =>
  db.read
    .select()
    .from(screenshots)
    .where(eq(screenshots.app, app))
    .orderBy(asc(screenshots.position))

/** Returns the SHA-256 of all files of the screenshots of an app. */
export const listScreenshotFiles = async (ctx: AppContext, app: string): Promise<string[]> =>
  (await listRows(ctx, app)).flatMap(({ large, small }) => [large, small])

export const listScreenshots = async (ctx: AppContext, app: string): Promise<ScreenshotBody[]> =>
  (await listRows(ctx, app)).map(({ position, large, small }) => ({
    position,
    large: imageUrl(ctx, app, large),
    small: imageUrl(ctx, app, small),
  }))

/**
 * Adds or replaces the screenshot of a position and returns all. Throws `bad_request`,
 * `bad_picture`, `too_big`, `taken_down`, `try_again`.
 */
export async function putScreenshot(
  ctx: AppContext,
  maker: Agent,
  { id, position }: { id: string; position: number },
  image: Uint8Array<ArrayBuffer>,
): Promise<ScreenshotBody[]> {
  const app = await apps.getOwnApp(ctx, maker, id)
  const img = await toImage(ctx, image, largeSize)
  const { large, small } = await storeCover(ctx, await encodeCover(img))
  const stored = { large, small, created: ctx.clock.now() }
  await ctx.db.tx(async (db) => {
    await apps.updateApp(ctx, db, await apps.lockApp(ctx, db, app), {})
    await db
      .insert(screenshots)
      .values({ app: id, position, ...stored })
      .onConflictDoUpdate({ target: [screenshots.app, screenshots.position], set: stored })
  })
  return listScreenshots(ctx, id)
}

/** Removes a screenshot and returns the others. Throws `not_found`, `taken_down`. */
export async function deleteScreenshot(
  ctx: AppContext,
  maker: Agent,
  { id, position }: { id: string; position: number },
): Promise<ScreenshotBody[]> {
  const app = await apps.getOwnApp(ctx, maker, id)
  const isOne = and(eq(screenshots.app, id), eq(screenshots.position, position))
  await ctx.db.tx(async (db) => {
    const deleted = await db.delete(screenshots).where(isOne).returning()
    if (deleted.length === 0) throw new ApiError('not_found', { what: 'screenshot' })
    await apps.updateApp(ctx, db, app, {})
  })
  return listScreenshots(ctx, id)
}

/** Removes the screenshots of a purged app. */
export const removeScreenshots = (db: Db, app: string): Promise<unknown> =>
  db.delete(screenshots).where(eq(screenshots.app, app))

/** The files of screenshots. */
export const screenshotFiles = [screenshots.large, screenshots.small].map(contentReferences)
