import { sql } from 'drizzle-orm'

import { dialect } from './dialect.ts'
import type { Db } from './engine.ts'
import { prepared } from './query.ts'

const takeLock = prepared((db) =>
  db
    .select({ taken: sql<number>`1` })
    .from(sql`pg_advisory_xact_lock(hashtextextended(${sql.placeholder('name')}, 0))`)
    .prepare(),
)

/**
 * Lets one unit of work at a time pass for this name, until it ends: for what must be counted
 * before it is added to, where there is no row to lock yet. Take it first, and only one. SQLite's
 * units of work already run one after the other.
 */
export async function lock(db: Db, name: string): Promise<void> {
  if (dialect === 'postgres') await takeLock(db).execute({ name })
}
