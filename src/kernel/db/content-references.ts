import { asc, gt, inArray } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'

import type { Db } from './engine.ts'

/** Returns queries over a column of content names, for the storage sweep and backups. */
export const contentReferences = (column: AnySQLiteColumn<{ data: string }>) => ({
  /** Returns those of `names` that a row refers to. Pass a few hundred at most. */
  async namedIn(db: Db, names: string[]): Promise<Set<string>> {
    const rows = await db
      .selectDistinct({ name: column })
      .from(column.table)
      .where(inArray(column, names))
    return new Set(rows.flatMap(({ name }) => name ?? []))
  },
  /** Returns up to `limit` names that rows refer to, in order, after the name `after`. */
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
