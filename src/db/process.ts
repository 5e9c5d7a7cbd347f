import { and, type SQL, sql, type SQLWrapper } from 'drizzle-orm'

import { newId } from '../core/ids.ts'
import { dialect } from './dialect.ts'
import type { Db } from './engine.ts'

/** Id of this process, stored in the rows that it works on. */
export const thisProcess = newId()

const sessionPrefix = 'berth '

/** Name of this process's PostgreSQL sessions. The server drops the sessions of a dead process. */
export const sessionName = sessionPrefix + thisProcess

/**
 * Returns a condition: the process that a column names has ended. A SQLite database has one owner,
 * so every other process has ended. On PostgreSQL a process lives while it has a session.
 */
export function hasEnded(process: SQLWrapper): SQL | undefined {
  const isOther = sql`${process} <> ${thisProcess}`
  if (dialect === 'sqlite') return isOther
  const session = sql`select 1 from pg_stat_activity where application_name = ${sessionPrefix} || ${process}`
  return and(isOther, sql`not exists (${session})`)
}

/** Returns whether another Berth process, a server or a command, uses this database. */
export async function hasOtherProcesses(db: Db): Promise<boolean> {
  if (dialect === 'sqlite') return false
  const isOther = sql`datname = current_database() and application_name like ${`${sessionPrefix}%`}
    and application_name <> ${sessionName}`
  const others = await db
    .select({ pid: sql<number>`pid` })
    .from(sql`pg_stat_activity`)
    .where(isOther)
    .limit(1)
  return others.length > 0
}
