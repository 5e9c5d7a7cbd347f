import { asc, gt, inArray } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { apps } from './tables.ts'

/** Which of these stored contents are the picture of an app (the store's sweep asks). */
export async function iconsIn(db: Db, names: string[]): Promise<Set<string>> {
  const rows = await db
    .selectDistinct({ icon: apps.icon })
    .from(apps)
    .where(inArray(apps.icon, names))
  return new Set(rows.flatMap(({ icon }) => icon ?? []))
}

/** The stored contents that are pictures of apps, in order, at most `limit`. */
export async function iconsAfter(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectDistinct({ icon: apps.icon })
    .from(apps)
    .where(gt(apps.icon, after))
    .orderBy(asc(apps.icon))
    .limit(limit)
  return rows.flatMap(({ icon }) => icon ?? [])
}
