import type { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'

/** Writes a consistent copy of a live SQLite database. It is renamed to `toFile` once durable. */
export function copyDatabase(database: Database, toFile: string): void {
  const part = `${toFile}.part`
  rmSync(part, { force: true })
  database.run('vacuum into ?', [part])
  const file = openSync(part, 'r+')
  fsyncSync(file)
  closeSync(file)
  renameSync(part, toFile)
}
