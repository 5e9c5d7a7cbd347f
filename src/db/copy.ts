import type { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'

/** Copies a live SQLite database as of one moment; the copy is durable before it has its name. */
export function copyDatabase(database: Database, toFile: string): void {
  const part = `${toFile}.part`
  rmSync(part, { force: true })
  database.run('vacuum into ?', [part])
  const file = openSync(part, 'r+')
  fsyncSync(file)
  closeSync(file)
  renameSync(part, toFile)
}
