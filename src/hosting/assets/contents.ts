import { asc, gt, inArray } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { assets } from './tables.ts'

/** Which of these stored contents an asset names (the store's sweep asks, some hundred at once). */
export async function contentsIn(db: Db, sha256s: string[]): Promise<Set<string>> {
  const rows = await db
    .selectDistinct({ sha256: assets.sha256 })
    .from(assets)
    .where(inArray(assets.sha256, sha256s))
  return new Set(rows.map((row) => row.sha256))
}

/** The stored contents that assets name, in order, at most `limit`, going on after one of them. */
export async function contentsAfter(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectDistinct({ sha256: assets.sha256 })
    .from(assets)
    .where(gt(assets.sha256, after))
    .orderBy(asc(assets.sha256))
    .limit(limit)
  return rows.map((row) => row.sha256)
}
