import { and, asc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { idChars } from '../../kernel/ids.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { SessionSender } from '../../people/session-user.ts'
import * as apps from '../apps.ts'
import { isOpenToAll, mayOpen } from '../audience/access.ts'
import { toImage } from '../icon/icon-image.ts'
import { coverColumns, encodeCover, storeCover } from './cover-image.ts'
import { imageUrl, nameChars } from './present-cover.ts'
import { type CoverBody, largeSize, type ScreenshotBody } from './schemas.ts'
import { screenshots } from './tables.ts'
import { captureAgain, showVersionCover } from './version-covers.ts'

/**
 * Sets the cover of an app to an uploaded image, which no capture replaces. Throws `bad_request`,
 * `bad_picture`, `too_big`, `taken_down`, `try_again`.
 */
export async function putCover(
  ctx: AppContext,
  maker: Agent,
  id: string,
  image: Uint8Array<ArrayBuffer>,
): Promise<CoverBody> {
  const app = await apps.getOwnApp(ctx, maker, id)
  const stored = await storeCover(ctx, await encodeCover(await toImage(ctx, image, largeSize)))
  const columns = coverColumns(stored)
  await ctx.db.tx(async (db) => {
    const locked = await apps.lockApp(ctx, db, app)
    await apps.updateApp(ctx, db, locked, { ...columns, coverGiven: true })
  })
  const { large, small, color } = stored
  return { large: imageUrl(ctx, id, large), small: imageUrl(ctx, id, small), color }
}

/**
 * Removes an uploaded cover. The app shows the captured one of its version, or requests a capture.
 * Throws `not_found`, `taken_down`.
 */
export async function deleteCover(ctx: AppContext, maker: Agent, id: string): Promise<void> {
  const app = await apps.getOwnApp(ctx, maker, id)
  const none = { cover: null, coverSmall: null, coverColor: null }
  await ctx.db.tx(async (db) => {
    const locked = await apps.lockApp(ctx, db, app)
    const bare = await apps.updateApp(ctx, db, locked, { ...none, coverGiven: false })
    const shown = await showVersionCover(ctx, db, bare)
    if (shown.cover === null) await apps.updateApp(ctx, db, shown, captureAgain(shown))
  })
}

/**
 * Reads the file of a cover URL: "<app>-<hash>.webp". Throws `not_found`, also for a quarantined
 * app, and `taken_down`.
 */
export async function readCover(
  ctx: AppContext,
  file: string,
  sender?: SessionSender,
): Promise<{ bytes: Uint8Array; etag: string }> {
  const [id, hash] = [file.slice(0, idChars), file.slice(idChars + 1, idChars + 1 + nameChars)]
  const app = await apps.findApp(ctx, id)
  const isOpen =
    app?.closed === null && (sender ? await mayOpen(ctx, app, sender) : isOpenToAll(ctx, app))
  const found = isOpen ? apps.requireAvailable(app) : undefined
  if (!found || found.quarantinedAt !== null || hash.length < nameChars) throw noImage()
  const own = [found.cover, found.coverSmall].find((name) => name?.startsWith(hash))
  const all = own ? [] : await listScreenshotFiles(ctx, id)
  const sha256 = own ?? all.find((name) => name.startsWith(hash))
  const bytes = sha256 && (await ctx.storage.read(sha256))
  if (!bytes) throw noImage()
  return { bytes, etag: sha256.slice(0, 32) }
}

const noImage = (): ApiError<'not_found'> => new ApiError('not_found', { what: 'picture' })

/** Returns the screenshots of an app by position. */
const listRows = ({ db }: AppContext, app: string) =>
  db.read
    .select()
    .from(screenshots)
    .where(eq(screenshots.app, app))
    .orderBy(asc(screenshots.position))

/** Returns the SHA-256 of all files of the screenshots of an app. */
const listScreenshotFiles = async (ctx: AppContext, app: string): Promise<string[]> =>
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
