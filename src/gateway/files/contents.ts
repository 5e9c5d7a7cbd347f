import { and, asc, gt, inArray, isNotNull } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { gatewayFiles } from './tables.ts'

type Column = typeof gatewayFiles.sha256 | typeof gatewayFiles.wordsSha256

const namedIn =
  (column: Column) =>
  async (db: Db, sha256s: string[]): Promise<Set<string>> => {
    const rows = await db
      .selectDistinct({ sha256: column })
      .from(gatewayFiles)
      .where(inArray(column, sha256s))
    return new Set(rows.flatMap((row) => row.sha256 ?? []))
  }

const namedAfter =
  (column: Column) =>
  async (db: Db, after: string, limit: number): Promise<string[]> => {
    const rows = await db
      .selectDistinct({ sha256: column })
      .from(gatewayFiles)
      .where(and(isNotNull(column), gt(column, after)))
      .orderBy(asc(column))
      .limit(limit)
    return rows.flatMap((row) => row.sha256 ?? [])
  }

/** The stored contents that files name: their bytes, and the words that were read out of them. */
export const contents = [gatewayFiles.sha256, gatewayFiles.wordsSha256].map((column) => ({
  /** Which of these a file names (the store's sweep asks, some hundred at once). */
  namedIn: namedIn(column),
  /** Those that files name, in order, at most `limit`, going on after one of them. */
  namedAfter: namedAfter(column),
}))
