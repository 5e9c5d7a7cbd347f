import { SQL } from 'bun'

import { databaseUrl } from '../config/load.ts'
import { newId } from '../core/ids.ts'
import type { Engine } from '../db/engine.ts'
import { openPostgres } from '../db/postgres.ts'

const nameOf = (url: string) => new URL(url).pathname.slice(1)

async function asOwner(statement: string): Promise<void> {
  const sql = new SQL(databaseUrl(), { max: 1 })
  await sql.unsafe(statement)
  await sql.end()
}

/** Makes an empty database of its own on the server of DATABASE_URL and answers its address. */
export async function createDatabase(): Promise<string> {
  const url = new URL(databaseUrl())
  url.pathname = `/berth_test_${newId()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, 'x')}`
  await asOwner(`create database ${nameOf(url.href)}`)
  return url.href
}

export const dropDatabase = (url: string): Promise<void> =>
  asOwner(`drop database if exists ${nameOf(url)} with (force)`)

/** Deletes every row but the record of migrations, without triggers or the order of references. */
const emptyAll = `do $$ declare t text; begin
  perform set_config('session_replication_role', 'replica', true);
  for t in select quote_ident(tablename) from pg_tables
    where schemaname = 'public' and tablename <> 'schema_migrations'
  loop execute 'delete from ' || t; end loop; end $$`

interface Spare {
  engine: Engine
  admin: SQL
}

/**
 * Databases with the same schema, made by `migrate` and lent to one test at a time. Closing gives
 * one back, emptied: making a database takes a hundred times as long.
 */
export function lender(migrate: (url: string) => Promise<void>): () => Promise<Engine> {
  const spares: Spare[] = []
  const make = async (): Promise<Spare> => {
    const url = await createDatabase()
    await migrate(url)
    return { engine: await openPostgres(url), admin: new SQL(url, { max: 1 }) }
  }
  return async () => {
    const spare = spares.pop() ?? (await make())
    let closed = false
    return {
      ...spare.engine,
      tx: (work) =>
        closed ? Promise.reject(new Error('The database is closed.')) : spare.engine.tx(work),
      close: async () => {
        if (closed) return
        closed = true
        await spare.admin.unsafe(emptyAll)
        spares.push(spare)
      },
    }
  }
}
