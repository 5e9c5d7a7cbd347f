import {
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** What a data folder keeps beside its database and its stored files. */
export const smallFiles = ['link-secret', 'first-app', 'models.json']

/** What a restore replaces in a data folder. Its settings, lock and socket stay. */
const replaced = ['berth.sqlite', 'berth.sqlite-wal', 'berth.sqlite-shm', 'files', ...smallFiles]

const beingMade = 'restoring-'
const readyToMove = 'restored-'
const beingMovedAside = 'replaced-'

/**
 * Makes a folder inside a data folder in which a restore is put together and proved: on the same
 * file system, so that what is proved is itself what takes the place. `stamp` names this restore.
 */
export function openExchange(dataDir: string, stamp: string): string {
  const dir = join(dataDir, beingMade + stamp)
  mkdirSync(dir, { mode: 0o700 })
  return dir
}

/** Removes what was put together, where it was only to be proved. */
export const closeExchange = (dir: string): Promise<void> =>
  rm(dir, { recursive: true, force: true })

/**
 * Replaces the content of the data folder by what was put together, and answers where the earlier
 * content is now, if there was any. One rename decides: before it nothing is replaced, and after it
 * whoever owns the folder next finishes what a crash left (`finishExchange`).
 */
export function exchange(dataDir: string, stamp: string): string | undefined {
  const made = join(dataDir, beingMade + stamp)
  for (const name of readdirSync(made, { recursive: true, encoding: 'utf8' })) {
    giveToOwner(dataDir, join(made, name))
  }
  sync(made)
  renameSync(made, join(dataDir, readyToMove + stamp))
  sync(dataDir)
  finishExchange(dataDir)
  const aside = asideOf(dataDir, stamp)
  if (readdirSync(aside).length > 0) return aside
  rmdirSync(aside)
  return undefined
}

/** Finishes a restore that was decided on, and removes one that was not. For the folder's owner. */
export function finishExchange(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(beingMade)) rmSync(join(dataDir, name), { recursive: true })
    if (name.startsWith(readyToMove)) finish(dataDir, name.slice(readyToMove.length))
  }
}

/** What root makes in a data folder is for who owns the folder, and is to open the house. */
export function giveToOwner(dataDir: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dataDir)
  lchownSync(path, uid, gid)
}

const asideOf = (dataDir: string, stamp: string): string => join(dataDir, `before-restore-${stamp}`)

/** Each step can be done again. The old goes aside first; its folder is named when all is in. */
function finish(dataDir: string, stamp: string): void {
  const ready = join(dataDir, readyToMove + stamp)
  const going = join(dataDir, beingMovedAside + stamp)
  const aside = asideOf(dataDir, stamp)
  if (!existsSync(aside)) {
    mkdirSync(going, { recursive: true, mode: 0o700 })
    giveToOwner(dataDir, going)
    moveAll(replaced, dataDir, going)
    renameSync(going, aside)
    sync(dataDir)
  }
  moveAll(readdirSync(ready), ready, dataDir)
  rmdirSync(ready)
  sync(dataDir)
}

function moveAll(names: string[], from: string, to: string): void {
  for (const name of names) {
    if (existsSync(join(from, name))) renameSync(join(from, name), join(to, name))
  }
  sync(to)
}

function sync(dir: string): void {
  const folder = openSync(dir, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
