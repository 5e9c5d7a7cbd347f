import { and, ne, type SQL, sql, type SQLWrapper } from 'drizzle-orm'

import { newId } from '../../ids.ts'
import { dialect } from '../dialect.ts'
import type { Db } from '../engine.ts'
import { replicas } from './tables.ts'

/** Id of this process, stored in the rows that it works on. */
export const thisProcess = newId()

/** Name of this process's PostgreSQL sessions. */
export const sessionName = `berth ${thisProcess}`

/**
 * Returns a condition: the process that a column names has ended. A SQLite database has one owner,
 * so every other process has ended. On PostgreSQL a server lives while its row exists.
 */
export function hasEnded(process: SQLWrapper): SQL | undefined {
  const isOther = sql`${process} <> ${thisProcess}`
  if (dialect === 'sqlite') return isOther
  return and(isOther, sql`not exists (select 1 from ${replicas} where ${replicas.id} = ${process})`)
}

/** Other servers of a database that are listed. */
const othersMax = 1_000

/** Returns the ids of the other servers that use this database. */
export async function listOtherProcesses(db: Db): Promise<string[]> {
  if (dialect === 'sqlite') return []
  const others = await db
    .select({ id: replicas.id })
    .from(replicas)
    .where(ne(replicas.id, thisProcess))
    .limit(othersMax)
  return others.map(({ id }) => id)
}
