import { and, eq } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { badPages } from './tables.ts'

/** Whether these very bytes may not come back (rule known.bad). */
export async function isBadPage(db: Db, sha256: string): Promise<boolean> {
  const found = await db.select().from(badPages).where(eq(badPages.sha256, sha256)).limit(1)
  return found.length > 0
}

/**
 * Notes a page that may not come back: of an app that is taken down, or by itself (app ''). False
 * when it is noted already.
 */
export async function noteBadPage(db: Db, page: typeof badPages.$inferInsert): Promise<boolean> {
  const noted = await db.insert(badPages).values(page).onConflictDoNothing().returning()
  return noted.length > 0
}

/** Lets the pages of an app come back after its takedown was undone. */
export async function forgetBadPagesOf(db: Db, app: string): Promise<void> {
  await db.delete(badPages).where(eq(badPages.app, app))
}

/** Lets a page come back that was blocked by itself. False when none was. */
export async function forgetBadPage(db: Db, sha256: string): Promise<boolean> {
  const gone = await db
    .delete(badPages)
    .where(and(eq(badPages.sha256, sha256), eq(badPages.app, '')))
    .returning()
  return gone.length > 0
}
