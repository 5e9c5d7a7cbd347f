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

/** Files of a data folder beside its database and its stored files. */
export const smallFiles = ['link-secret', 'settings-secret', 'first-app', 'models.json']

/** Settlements that wait for the database. */
export const settlementsJournal = 'settlements.journal'

/** Entries that a restore replaces in a data folder. Settings, lock and socket stay. */
const replaced = [
  'berth.sqlite',
  'berth.sqlite-wal',
  'berth.sqlite-shm',
  'files',
  // It has outcomes of holds that the database before the restore has.
  settlementsJournal,
  ...smallFiles,
]

const stagingPrefix = 'restoring-'
const readyPrefix = 'restored-'
const replacedPrefix = 'replaced-'

/** Returns the folder in which the restore with a stamp is assembled. */
export const stagingFolder = (dataDir: string, stamp: string): string =>
  join(dataDir, stagingPrefix + stamp)

/**
 * Creates the folder inside a data folder in which a restore is assembled and verified. It is on
 * the same file system, so the verified files themselves are moved. `stamp` names this restore.
 */
export function createStagingFolder(dataDir: string, stamp: string): string {
  const dir = stagingFolder(dataDir, stamp)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  mkdirSync(dir, { mode: 0o700 })
  return dir
}

/** Removes the staging folder of a restore that was only verified. */
export const removeStagingFolder = (dir: string): Promise<void> =>
  rm(dir, { recursive: true, force: true })

/**
 * Decides that the staged files replace the content of the data folder, by one rename. Before it
 * nothing changes. After it, the next owner of the folder swaps them in, even after a crash
 * (`finishRestores`). A server may own the folder and serve its content until then.
 */
export function commitRestore(dataDir: string, stamp: string): void {
  const staging = stagingFolder(dataDir, stamp)
  for (const name of readdirSync(staging, { recursive: true, encoding: 'utf8' })) {
    chownToFolderOwner(dataDir, join(staging, name))
  }
  sync(staging)
  renameSync(staging, join(dataDir, readyPrefix + stamp))
  sync(dataDir)
}

/**
 * Replaces the content of the data folder with the staged files. Returns the folder of the previous
 * content, if there was any.
 */
export function swapIn(dataDir: string, stamp: string): string | undefined {
  commitRestore(dataDir, stamp)
  finishRestores(dataDir)
  const previous = previousDataPath(dataDir, stamp)
  if (readdirSync(previous).length > 0) return previous
  rmdirSync(previous)
  return undefined
}

/** Finishes committed restores and removes uncommitted ones. Only for the folder's owner. */
export function finishRestores(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(stagingPrefix)) rmSync(join(dataDir, name), { recursive: true })
    if (name.startsWith(readyPrefix)) finish(dataDir, name.slice(readyPrefix.length))
  }
}

/** Gives a file that root created to the owner of the data folder, who runs the server. */
export function chownToFolderOwner(dataDir: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dataDir)
  lchownSync(path, uid, gid)
}

const previousPrefix = 'before-restore-'
const previousDataPath = (dataDir: string, stamp: string): string =>
  join(dataDir, previousPrefix + stamp)

/** Lists the folders with the data before each restore, newest first. */
export const listPreviousData = (dataDir: string): string[] =>
  readdirSync(dataDir)
    .filter((name) => name.startsWith(previousPrefix))
    .toSorted()
    .toReversed()

/** Moves the old content aside, then the new content in. Each step can be repeated. */
function finish(dataDir: string, stamp: string): void {
  const ready = join(dataDir, readyPrefix + stamp)
  const going = join(dataDir, replacedPrefix + stamp)
  const aside = previousDataPath(dataDir, stamp)
  if (!existsSync(aside)) {
    mkdirSync(going, { recursive: true, mode: 0o700 })
    chownToFolderOwner(dataDir, going)
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
