import { asc, gt, inArray } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { made } from './tables.ts'

/** Which of these stored contents were made here (the store's sweep asks, some hundred at once). */
export async function madeIn(db: Db, sha256s: string[]): Promise<Set<string>> {
  const rows = await db
    .selectDistinct({ sha256: made.sha256 })
    .from(made)
    .where(inArray(made.sha256, sha256s))
  return new Set(rows.map((row) => row.sha256))
}

/** The stored contents that were made, in order, at most `limit`, going on after one of them. */
export async function madeAfter(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectDistinct({ sha256: made.sha256 })
    .from(made)
    .where(gt(made.sha256, after))
    .orderBy(asc(made.sha256))
    .limit(limit)
  return rows.map((row) => row.sha256)
}
