import { eq } from 'drizzle-orm'

import type { House } from '../../house.ts'
import { find } from './apps.ts'
import { forgetBadPage, noteBadPage } from './bad-pages.ts'
import { apps, versions } from './tables.ts'

/** The hashes of every page an app ever showed; there are at most `versionsPerAppMax`. */
async function pagesOf(house: House, id: string): Promise<string[]> {
  const rows = await house.db.read
    .selectDistinct({ sha256: versions.sha256 })
    .from(versions)
    .where(eq(versions.app, id))
  return rows.map(({ sha256 }) => sha256)
}

/**
 * Takes an app down: every operation on it answers 410, its link too, and the same pages, of any of
 * its versions, cannot come back. False when there is no such app.
 */
export async function takeDown(house: House, id: string, reason: string): Promise<boolean> {
  const app = await find(house, id)
  if (!app) return false
  const at = house.clock.now()
  const pages = await pagesOf(house, id)
  await house.db.tx(async (db) => {
    await db
      .update(apps)
      .set({ takenDown: at, takenDownFor: reason, listed: 'off', updated: at })
      .where(eq(apps.id, id))
    for (const sha256 of pages) await noteBadPage(db, { sha256, reason, at })
  })
  return true
}

/** Undoes a takedown; the app is live again, off Explore. False when none was taken down. */
export async function putBack(house: House, id: string): Promise<boolean> {
  const app = await find(house, id)
  if (!app || app.takenDown === null) return false
  const pages = await pagesOf(house, id)
  await house.db.tx(async (db) => {
    await db
      .update(apps)
      .set({ takenDown: null, takenDownFor: null, updated: house.clock.now() })
      .where(eq(apps.id, id))
    for (const sha256 of pages) await forgetBadPage(db, sha256)
  })
  return true
}
