import { eq } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { badPages } from './tables.ts'

/** Whether these very bytes were taken down before (rule known.bad). */
export async function isBadPage(db: Db, sha256: string): Promise<boolean> {
  const found = await db.select().from(badPages).where(eq(badPages.sha256, sha256)).limit(1)
  return found.length > 0
}

/** Notes a taken-down page, so that it cannot come back. */
export async function noteBadPage(
  db: Db,
  page: { sha256: string; reason: string; at: number },
): Promise<void> {
  await db.insert(badPages).values(page).onConflictDoNothing()
}

/** Lets a page come back after its takedown was undone. */
export async function forgetBadPage(db: Db, sha256: string): Promise<void> {
  await db.delete(badPages).where(eq(badPages.sha256, sha256))
}
