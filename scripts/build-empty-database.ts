/**
 * `bun scripts/build-empty-database.ts <file>`: writes an empty SQLite database with all
 * migrations, compressed. See createSqlite.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { migrateSqlite } from '../src/kernel/db/open.ts'

/** Writes the database to `out`. */
export async function buildEmptyDatabase(out: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'empty-database-'))
  try {
    const file = join(folder, 'empty.sqlite')
    migrateSqlite(file)
    const database = new Database(file)
    database.run('pragma wal_checkpoint(truncate)')
    database.close()
    await Bun.write(out, Bun.zstdCompressSync(await Bun.file(file).bytes(), { level: 19 }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const [out] = Bun.argv.slice(2)
if (import.meta.main && out !== undefined) await buildEmptyDatabase(out)
