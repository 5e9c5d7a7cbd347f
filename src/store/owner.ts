import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** Another process owns the data folder. */
export class FolderInUse extends Error {
  constructor(dir: string) {
    super(`Another Berth is running on the data folder ${dir}.`)
    this.name = 'FolderInUse'
  }
}

/**
 * Makes this process the one owner of a data folder, until it ends, however it ends: the system
 * itself drops the lock that SQLite holds on `owner.lock`. Answers how to let go earlier.
 * Throws FolderInUse.
 */
export function ownFolder(dir: string): () => void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const lock = new Database(join(dir, 'owner.lock'), { create: true })
  try {
    lock.run('pragma journal_mode = off')
    lock.run('pragma locking_mode = exclusive')
    lock.run('begin exclusive')
  } catch (error) {
    lock.close()
    if (error instanceof Error && /locked|busy/i.test(error.message)) throw new FolderInUse(dir)
    throw error
  }
  return () => lock.close()
}
