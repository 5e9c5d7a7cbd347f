import { and, eq } from 'drizzle-orm'

import { newId } from '../../core/ids.ts'
import type { Db } from '../../db/engine.ts'
import type { House } from '../../house.ts'
import { rulesVersion } from '../../scan/rules.ts'
import type { Agent } from '../agents/agents.ts'
import { addVersion, type App, findable, type NewApp } from './apps.ts'
import type { KeptPage } from './pages.ts'
import type { Origin } from './present.ts'
import { apps } from './tables.ts'

/** Makes an app with its version 1, inside a transaction. Refuses publishes_limit, storage_full. */
export async function insertApp(
  house: House,
  db: Db,
  maker: Agent,
  wanted: NewApp & Partial<Origin>,
  page: KeptPage,
): Promise<App> {
  const at = house.clock.now()
  const row = { ...wanted, id: newId(), maker: maker.id, version: 0, bytes: 0 }
  const isListed = wanted.listed === 'on'
  const [app] = await db
    .insert(apps)
    .values({
      ...row,
      ...{ words: findable(wanted), rules: rulesVersion, created: at, updated: at },
      ...(isListed && { listedVersion: 1, listedAt: at }),
    })
    .returning()
  if (!app) throw new Error('the new app was not kept')
  return addVersion(house, db, app, page, { via: wanted.remixOf ? 'remix' : 'html', note: '' })
}

/** Makes an app that is still to be built, inside a transaction: version 0, seen by its maker. */
export async function insertBuilding(house: House, db: Db, maker: Agent, wanted: NewApp) {
  const at = house.clock.now()
  const row = { ...wanted, listed: 'off' as const, id: newId(), maker: maker.id, version: 0 }
  const [app] = await db
    .insert(apps)
    .values({
      ...{ ...row, bytes: 0, words: findable(wanted), rules: rulesVersion },
      ...{ created: at, updated: at },
    })
    .returning()
  if (!app) throw new Error('the new app was not kept')
  return app
}

/** Removes an app whose first build did not land, inside the transaction that ends the build. */
export const dropBuilding = (db: Db, id: string) =>
  db.delete(apps).where(and(eq(apps.id, id), eq(apps.version, 0)))
