import { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { messageOf } from '../core/text.ts'
import { finishExchange, giveToOwner } from './exchange.ts'

/** Another process owns the data folder. */
export class FolderInUse extends Error {
  constructor(dir: string) {
    super(`Another Berth is running on the data folder ${dir}.`)
    this.name = 'FolderInUse'
  }
}

/** The data folder is no place where this process may write. */
class FolderShut extends Error {
  constructor(dir: string, why: unknown) {
    super(`The data folder ${dir} cannot be written to: ${messageOf(why)}.`)
    this.name = 'FolderShut'
  }
}

/**
 * Makes this process the one owner of a data folder, until it ends, however it ends: the system
 * itself drops the lock that SQLite holds on `owner.lock`. Finishes what a killed restore began.
 * Answers how to let go earlier. Throws FolderInUse, FolderShut.
 */
export function ownFolder(dir: string): () => void {
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
  giveToOwner(dir, join(dir, 'owner.lock'))
  finishExchange(dir)
  return () => lock.close()
}

/** What an owner writes to, as far as it stands already. */
const written = ['', 'owner.lock', 'berth.sqlite', 'files']

function checkWritable(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    for (const name of written.filter((name) => existsSync(join(dir, name)))) {
      accessSync(join(dir, name), constants.W_OK)
    }
  } catch (error) {
    throw new FolderShut(dir, error)
  }
}
