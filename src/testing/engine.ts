import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { SQL } from 'bun'

import { databaseUrl } from '../config.ts'
import { newId } from '../core/ids.ts'
import { dialect } from '../db/dialect.ts'
import type { Engine } from '../db/engine.ts'
import { migratePostgres, migrateSqlite } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { openTemporary } from '../db/sqlite.ts'

let image: Uint8Array | undefined
let template: Promise<string> | undefined

/** An empty, migrated database for one test. Close it: on PostgreSQL it is dropped then. */
export async function freshEngine(): Promise<Engine> {
  if (dialect === 'sqlite') return openTemporary((image ??= migratedImage()))
  template ??= migratedTemplate()
  const url = await createDatabase(await template)
  const engine = await openPostgres(url)
  return { ...engine, close: () => engine.close().then(() => dropDatabase(url)) }
}

/** The bytes of a SQLite database that has every migration and no rows. */
function migratedImage(): Uint8Array {
  const path = join(tmpdir(), `berth-image-${newId()}.sqlite`)
  try {
    migrateSqlite(path)
    return readFileSync(path)
  } finally {
    rmSync(path, { force: true })
  }
}

async function migratedTemplate(): Promise<string> {
  const url = await createDatabase('template1')
  await migratePostgres(url)
  return nameOf(url)
}

const nameOf = (url: string) => new URL(url).pathname.slice(1)

async function asOwner(statement: string): Promise<void> {
  const sql = new SQL(databaseUrl(), { max: 1 })
  await sql.unsafe(statement)
  await sql.end()
}

/**
 * Makes a database of its own on the server of DATABASE_URL (PostgreSQL 15 or later) and answers
 * its address. Copying files takes half as long as the usual way.
 */
export async function createDatabase(from: string): Promise<string> {
  const url = new URL(databaseUrl())
  url.pathname = `/berth_test_${newId()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, 'x')}`
  await asOwner(`create database ${nameOf(url.href)} template ${from} strategy file_copy`)
  return url.href
}

export const dropDatabase = (url: string): Promise<void> =>
  asOwner(`drop database if exists ${nameOf(url)} with (force)`)
