import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { newId } from '../core/ids.ts'
import { dialect } from '../db/dialect.ts'
import type { Engine } from '../db/engine.ts'
import { migratePostgres, migrateSqlite } from '../db/migrate.ts'
import { openTemporary } from '../db/sqlite.ts'
import { lender } from './databases.ts'

const lend = lender((url) => migratePostgres(url))
let image: Uint8Array | undefined

/** An empty, migrated database for one test, which closes it. */
export const freshEngine = (): Promise<Engine> =>
  dialect === 'postgres' ? lend() : openTemporary((image ??= migratedImage()))

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
