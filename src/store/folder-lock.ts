import { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { messageOf } from '../kernel/text.ts'
import { chownToFolderOwner, finishRestores } from './restore-swap.ts'

/** Another process has locked the data folder. */
export class FolderInUse extends Error {
  constructor(dir: string) {
    super(`Another Berth is running on the data folder ${dir}.`)
    this.name = 'FolderInUse'
  }
}

/** This process has no permission to write to the data folder. */
class FolderNotWritable extends Error {
  constructor(dir: string, why: unknown) {
    super(`The data folder ${dir} cannot be written to: ${messageOf(why)}.`)
    this.name = 'FolderShut'
  }
}

/**
 * Locks a data folder for this process until it ends, however it ends: the operating system drops
 * SQLite's lock on `owner.lock`. Finishes restores that were interrupted. Returns a function that
 * unlocks the folder. Throws FolderInUse, FolderNotWritable.
 */
export function lockFolder(dir: string): () => void {
  checkWritable(dir)
  const lock = new Database(join(dir, 'owner.lock'), { create: true })
  try {
    lock.run('pragma journal_mode = memory')
    lock.run('pragma locking_mode = exclusive')
    lock.run('begin exclusive')
  } catch (error) {
    lock.close()
    if (error instanceof Error && /locked|busy/i.test(error.message)) throw new FolderInUse(dir)
    throw error
  }
  chownToFolderOwner(dir, join(dir, 'owner.lock'))
  finishRestores(dir)
  return () => lock.close()
}

/** Entries that the owner writes to, if they exist. */
const written = ['', 'owner.lock', 'berth.sqlite', 'files']

function checkWritable(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    for (const name of written.filter((name) => existsSync(join(dir, name)))) {
      accessSync(join(dir, name), constants.W_OK)
    }
  } catch (error) {
    throw new FolderNotWritable(dir, error)
  }
}
