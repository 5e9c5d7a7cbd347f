import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { isPostgresUrl } from '../config/values.ts'
import type { Engine } from './engine.ts'
import { migratePostgres, migrateSqlite } from './migrate.ts'
import { openSqlite } from './sqlite.ts'

interface Where {
  databaseUrl?: string
  dataDir: string
}

/** The SQLite database in a data folder, and in a backup of one. */
export const databaseFile = 'berth.sqlite'

/** Whether there is a database already: a command on a mistyped folder must not make one. */
export const hasDatabase = (where: Where): boolean =>
  Boolean(where.databaseUrl) || existsSync(join(where.dataDir, databaseFile))

/**
 * Opens the house's database and brings it to this program's schema: PostgreSQL when a
 * postgres:// address is given, otherwise a SQLite file in the data folder. Throws NewerSchema.
 */
export async function openEngine(where: Where): Promise<Engine> {
  try {
    return await open(where)
  } catch (error) {
    // A driver says what is wrong, and not where.
    if (!(error instanceof Error && 'code' in error)) throw error
    const place = where.databaseUrl ? 'DATABASE_URL' : join(where.dataDir, databaseFile)
    throw new Error(`${place}: ${error.message}`, { cause: error })
  }
}

async function open({ databaseUrl, dataDir }: Where): Promise<Engine> {
  if (databaseUrl && isPostgresUrl(databaseUrl)) {
    await migratePostgres(databaseUrl)
    // Its driver is loaded only where it is used.
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(databaseUrl)
  }
  if (databaseUrl) throw new Error('DATABASE_URL is no postgres:// address.')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, databaseFile)
  migrateSqlite(file)
  return openSqlite(file)
}
