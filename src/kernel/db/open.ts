import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { isPostgresUrl } from '../config/setting-types.ts'
import type { Engine } from './engine.ts'
import { createSqlite, migratePostgres, migrateSqlite } from './migrate.ts'
import { openSqlite } from './sqlite.ts'

interface DatabaseLocation {
  databaseUrl?: string
  /** Its address without a pooler. */
  databaseDirectUrl?: string
  dataDir: string
}

/** Name of the SQLite file in a data folder and in a backup. */
export const databaseFile = 'berth.sqlite'

/** Returns whether a database exists. A command on a mistyped folder must not create one. */
export const hasDatabase = (where: DatabaseLocation): boolean =>
  Boolean(where.databaseUrl) || existsSync(join(where.dataDir, databaseFile))

/**
 * Opens the database and migrates it to this program's schema: PostgreSQL for a postgres:// URL,
 * otherwise a SQLite file in the data folder. Throws NewerSchemaError.
 */
export async function openEngine(where: DatabaseLocation): Promise<Engine> {
  try {
    return await open(where)
  } catch (error) {
    // A driver's message does not name the database.
    if (!(error instanceof Error && 'code' in error)) throw error
    const place = where.databaseUrl ? 'DATABASE_URL' : join(where.dataDir, databaseFile)
    throw new Error(`${place}: ${error.message}`, { cause: error })
  }
}

async function open({
  databaseUrl,
  databaseDirectUrl,
  dataDir,
}: DatabaseLocation): Promise<Engine> {
  if (databaseUrl && isPostgresUrl(databaseUrl)) {
    const directUrl = databaseDirectUrl || undefined
    await migratePostgres(directUrl ?? databaseUrl)
    // Load the driver only when it is needed.
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(databaseUrl, undefined, directUrl)
  }
  if (databaseUrl) throw new Error('DATABASE_URL must start with postgres://.')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, databaseFile)
  createSqlite(file)
  migrateSqlite(file)
  return openSqlite(file)
}
