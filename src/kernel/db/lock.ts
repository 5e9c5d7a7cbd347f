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
 * Serializes transactions that use the same `name` until they end. Use it where a limit is counted
 * before a row is added and there is no row to lock yet. Take it first in a transaction, and only
 * one. SQLite's transactions already run one at a time.
 */
export async function lock(db: Db, name: string): Promise<void> {
  if (dialect === 'postgres') await takeLock(db).execute({ name })
}
