import { and, desc, eq, inArray, or } from 'drizzle-orm'

import type { Db, Engine } from '../kernel/db/engine.ts'
import { hasRows, lock } from '../kernel/db/query.ts'
import { apps, blockedPages, versions } from './tables.ts'

export const isBlockedPage = (db: Db, sha256: string): Promise<boolean> =>
  hasRows(db, blockedPages, eq(blockedPages.sha256, sha256))

/** Returns those of the pages that are blocked. */
export async function findBlockedPages(db: Db, all: string[]): Promise<Set<string>> {
  const rows = await db
    .selectDistinct({ sha256: blockedPages.sha256 })
    .from(blockedPages)
    .where(inArray(blockedPages.sha256, all))
  return new Set(rows.map(({ sha256 }) => sha256))
}

/** Returns whether a visible version of an app is blocked: the newest, or the one on Explore. */
export async function showsBlockedPage(db: Db, app: string): Promise<boolean> {
  const isShown = or(eq(versions.version, apps.version), eq(versions.version, apps.listedVersion))
  const found = await db
    .select({ sha256: blockedPages.sha256 })
    .from(apps)
    .innerJoin(versions, and(eq(versions.app, apps.id), isShown))
    .innerJoin(blockedPages, eq(blockedPages.sha256, versions.sha256))
    .where(eq(apps.id, app))
    .limit(1)
  return found.length > 0
}

/** Storing a page and blocking it take the same lock, so a block misses no concurrent publish. */
export const lockPage = (db: Db, sha256: string): Promise<void> => lock(db, `page ${sha256}`)

/** Blocks a page, by a takedown or by itself (`app` is empty). Returns whether it is new. */
export async function blockPage(db: Db, page: typeof blockedPages.$inferInsert): Promise<boolean> {
  await lockPage(db, page.sha256)
  const noted = await db.insert(blockedPages).values(page).onConflictDoNothing().returning()
  return noted.length > 0
}

/** Unblocks the pages of an app whose takedown was undone. Returns their hashes. */
export async function unblockPagesOf(db: Db, app: string): Promise<string[]> {
  const deleted = await db.delete(blockedPages).where(eq(blockedPages.app, app)).returning()
  return deleted.map(({ sha256 }) => sha256)
}

export async function unblockPage(db: Db, sha256: string): Promise<boolean> {
  const deleted = await db
    .delete(blockedPages)
    .where(and(eq(blockedPages.sha256, sha256), eq(blockedPages.app, '')))
    .returning()
  return deleted.length > 0
}

export type BlockedPage = typeof blockedPages.$inferSelect

export const listBlockedPages = ({ db }: { db: Engine }, limit: number): Promise<BlockedPage[]> =>
  db.read
    .select()
    .from(blockedPages)
    .orderBy(desc(blockedPages.at), desc(blockedPages.sha256))
    .limit(limit)
