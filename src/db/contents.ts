import { asc, gt, inArray } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'

import type { Db } from './engine.ts'

/** What the store's sweep and a backup ask of a column that names stored contents. */
export const contentsOf = (column: AnySQLiteColumn<{ data: string }>) => ({
  /** Which of these, some hundred at once, a row names. */
  async namedIn(db: Db, names: string[]): Promise<Set<string>> {
    const rows = await db
      .selectDistinct({ name: column })
      .from(column.table)
      .where(inArray(column, names))
    return new Set(rows.flatMap(({ name }) => name ?? []))
  },
  /** Those that rows name, in order, at most `limit`, going on after one of them. */
  async namedAfter(db: Db, after: string, limit: number): Promise<string[]> {
    const rows = await db
      .selectDistinct({ name: column })
      .from(column.table)
      .where(gt(column, after))
      .orderBy(asc(column))
      .limit(limit)
    return rows.flatMap(({ name }) => name ?? [])
  },
})
