import { eq } from 'drizzle-orm'

import type { House } from '../../house.ts'
import { find, theVersion } from './apps.ts'
import { forgetBadPage, noteBadPage } from './bad-pages.ts'
import { apps } from './tables.ts'

/**
 * Takes an app down: every operation on it answers 410, its link too, and the same page cannot
 * come back. False when there is no such app.
 */
export async function takeDown(house: House, id: string, reason: string): Promise<boolean> {
  const app = await find(house, id)
  if (!app) return false
  const at = house.clock.now()
  const page = app.version > 0 ? await theVersion(house, id, app.version) : undefined
  await house.db.tx(async (db) => {
    await db
      .update(apps)
      .set({ takenDown: at, takenDownFor: reason, listed: 'off', updated: at })
      .where(eq(apps.id, id))
    if (page) await noteBadPage(db, { sha256: page.sha256, reason, at })
  })
  return true
}

/** Undoes a takedown; the app is live again, off Explore. False when none was taken down. */
export async function putBack(house: House, id: string): Promise<boolean> {
  const app = await find(house, id)
  if (!app || app.takenDown === null) return false
  const page = app.version > 0 ? await theVersion(house, id, app.version) : undefined
  await house.db.tx(async (db) => {
    await db
      .update(apps)
      .set({ takenDown: null, takenDownFor: null, updated: house.clock.now() })
      .where(eq(apps.id, id))
    if (page) await forgetBadPage(db, page.sha256)
  })
  return true
}
