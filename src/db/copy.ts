import type { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'

/** Copies a live SQLite database as of one moment. The copy is durable, or the name is not there. */
export function copyDatabase(database: Database, toFile: string): void {
  const part = `${toFile}.part`
  rmSync(part, { force: true })
  database.run('vacuum into ?', [part])
  const file = openSync(part, 'r+')
  fsyncSync(file)
  closeSync(file)
  renameSync(part, toFile)
}
