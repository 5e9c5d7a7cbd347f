import { and, type SQL, sql, type SQLWrapper } from 'drizzle-orm'

import { newId } from '../core/ids.ts'
import { dialect } from './dialect.ts'
import type { Db } from './engine.ts'

/** This process, as the rows name it that it works on. */
export const thisProcess = newId()

const called = 'berth '

/** What its sessions on a PostgreSQL server are called: that server ends those of who died. */
export const sessionName = called + thisProcess

/**
 * Whether the process that a column names has ended. A SQLite database has one owner, so all others
 * have; PostgreSQL may serve several, which are there as long as one of their sessions is.
 */
export function hasEnded(process: SQLWrapper): SQL | undefined {
  const isOther = sql`${process} <> ${thisProcess}`
  if (dialect === 'sqlite') return isOther
  const session = sql`select 1 from pg_stat_activity where application_name = ${called} || ${process}`
  return and(isOther, sql`not exists (${session})`)
}

/** Whether another process is on this database: a server, or one of its commands. */
export async function hasOthers(db: Db): Promise<boolean> {
  if (dialect === 'sqlite') return false
  const isOther = sql`datname = current_database() and application_name like ${`${called}%`}
    and application_name <> ${sessionName}`
  const others = await db
    .select({ pid: sql<number>`pid` })
    .from(sql`pg_stat_activity`)
    .where(isOther)
    .limit(1)
  return others.length > 0
}
