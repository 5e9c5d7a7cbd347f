import { and, eq, isNotNull } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { releaseBytes, reserveFreeBytes } from '../../people/agents/storage-quota.ts'
import * as apps from '../apps.ts'
import { findBlockedPages } from '../blocked-pages.ts'
import { apps as table, versions } from '../tables.ts'
import { coverColumns, type StoredCover } from './cover-image.ts'

const isVersion = (app: string, version: number) =>
  and(eq(versions.app, app), eq(versions.version, version))

/**
 * Returns those of the versions of an item whose covers are public: Explore shows or showed them,
 * and their page was not blocked since.
 */
export async function withPublicCover(
  { db }: AppContext,
  app: apps.App,
  rows: apps.Version[],
): Promise<Set<apps.Version>> {
  const shown = rows.filter(
    (row) => app.listed === 'on' && (row.shown !== null || row.version === app.listedVersion),
  )
  const blocked = await findBlockedPages(
    db.read,
    shown.map(({ sha256 }) => sha256),
  )
  return new Set(shown.filter(({ sha256 }) => !blocked.has(sha256)))
}

/** Returns a change of an app that requests a capture of its newest version. */
export const captureAgain = ({ coverVersion, version }: apps.App) => ({
  coverVersion: Math.min(coverVersion, Math.max(0, version - 1)),
})

/** Shows the cover of the visible version, unless it has none or the maker uploaded one. */
export async function showVersionCover(ctx: AppContext, db: Db, app: apps.App): Promise<apps.App> {
  if (app.coverGiven) return app
  const { cover, coverSmall, coverColor } = versions
  const [found] = await db
    .select({ cover, coverSmall, coverColor })
    .from(versions)
    .where(and(isVersion(app.id, apps.visibleVersion(app)), isNotNull(cover)))
  return found ? apps.updateApp(ctx, db, app, found) : app
}

/** Shows the cover of a restored version at once. It needs no capture. */
export async function showRestoredCover(ctx: AppContext, db: Db, app: apps.App): Promise<apps.App> {
  const { version } = app
  const shown = await showVersionCover(ctx, db, app)
  if (app.coverVersion < version - 1) return shown
  return apps.updateApp(ctx, db, shown, { coverVersion: version })
}

/**
 * Stores captured covers by version, and that of the visible version for the app unless its maker
 * uploaded one. Stores nothing when the app has changed meanwhile.
 */
export async function storeCaptures(
  ctx: AppContext,
  db: Db,
  app: apps.App,
  captured: Map<number, StoredCover>,
): Promise<void> {
  // Publishing locks the maker first and the app after it.
  await releaseBytes(db, app.maker, 0)
  const shown = app.coverGiven ? undefined : captured.get(apps.visibleVersion(app))
  const changed = await db
    .update(table)
    .set({ ...(shown && coverColumns(shown)), coverVersion: app.version })
    .where(and(eq(table.id, app.id), eq(table.updated, app.updated)))
    .returning({ id: table.id })
  if (changed.length === 0) return
  for (const [version, cover] of captured) await storeVersionCover(ctx, db, app, version, cover)
}

/** Covers count as stored bytes. A version gets none when the quota of its maker is full. */
async function storeVersionCover(
  ctx: AppContext,
  db: Db,
  { id, maker }: apps.App,
  version: number,
  cover: StoredCover,
): Promise<void> {
  const isOne = isVersion(id, version)
  const [row] = await db.select({ bytes: versions.coverBytes }).from(versions).where(isOne)
  if (!row || !(await reserveFreeBytes(ctx, db, maker, cover.bytes - row.bytes))) return
  await db
    .update(versions)
    .set({ ...coverColumns(cover), coverBytes: cover.bytes })
    .where(isOne)
}
