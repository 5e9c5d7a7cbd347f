import { asc, gt, inArray } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { versions } from './tables.ts'

/** Which of these stored packs a version names (the store's sweep asks). */
export async function packsIn(db: Db, packs: string[]): Promise<Set<string>> {
  const rows = await db
    .selectDistinct({ pack: versions.pack })
    .from(versions)
    .where(inArray(versions.pack, packs))
  return new Set(rows.map((row) => row.pack))
}

/** The stored packs that versions name, in order, at most `limit`, going on after one of them. */
export async function packsAfter(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectDistinct({ pack: versions.pack })
    .from(versions)
    .where(gt(versions.pack, after))
    .orderBy(asc(versions.pack))
    .limit(limit)
  return rows.map((row) => row.pack)
}
