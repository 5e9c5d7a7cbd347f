import { and, desc, eq, or } from 'drizzle-orm'

import type { Db, Engine } from '../../db/engine.ts'
import { lock } from '../../db/lock.ts'
import { apps, badPages, versions } from './tables.ts'

/** Whether these very bytes may not come back (rule known.bad). */
export async function isBadPage(db: Db, sha256: string): Promise<boolean> {
  const found = await db.select().from(badPages).where(eq(badPages.sha256, sha256)).limit(1)
  return found.length > 0
}

/** Whether one of these is what an app shows: its newest version, or the one on Explore. */
export async function showsBadPage(db: Db, app: string): Promise<boolean> {
  const isShown = or(eq(versions.version, apps.version), eq(versions.version, apps.listedVersion))
  const found = await db
    .select({ sha256: badPages.sha256 })
    .from(apps)
    .innerJoin(versions, and(eq(versions.app, apps.id), isShown))
    .innerJoin(badPages, eq(badPages.sha256, versions.sha256))
    .where(eq(apps.id, app))
    .limit(1)
  return found.length > 0
}

/**
 * Lets these bytes be kept, or noted as those that may not come back, one after the other until the
 * transaction ends: else who notes them sees no publish that is about to be kept.
 */
export const lockPage = (db: Db, sha256: string): Promise<void> => lock(db, `page ${sha256}`)

/**
 * Notes a page that may not come back: of an app that is taken down, or by itself (app ''). False
 * when it is noted already.
 */
export async function noteBadPage(db: Db, page: typeof badPages.$inferInsert): Promise<boolean> {
  await lockPage(db, page.sha256)
  const noted = await db.insert(badPages).values(page).onConflictDoNothing().returning()
  return noted.length > 0
}

/** Lets the pages of an app come back after its takedown was undone, and tells their hashes. */
export async function forgetBadPagesOf(db: Db, app: string): Promise<string[]> {
  const gone = await db.delete(badPages).where(eq(badPages.app, app)).returning()
  return gone.map(({ sha256 }) => sha256)
}

/** Lets a page come back that was blocked by itself. False when none was. */
export async function forgetBadPage(db: Db, sha256: string): Promise<boolean> {
  const gone = await db
    .delete(badPages)
    .where(and(eq(badPages.sha256, sha256), eq(badPages.app, '')))
    .returning()
  return gone.length > 0
}

export type BadPage = typeof badPages.$inferSelect

/** The newest pages that may not come back, at most `limit`. */
export const listBadPages = ({ db }: { db: Engine }, limit: number): Promise<BadPage[]> =>
  db.read.select().from(badPages).orderBy(desc(badPages.at), desc(badPages.sha256)).limit(limit)
