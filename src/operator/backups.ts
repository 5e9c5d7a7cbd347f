import { join } from 'node:path'

import { onceFor } from '../core/once.ts'
import { iso } from '../core/time.ts'
import { note } from '../hosting/moderation/audit.ts'
import type { House } from '../house.ts'
import { backupsMax } from '../limits.ts'
import { Refusal } from '../refusals.ts'
import * as kept from '../store/backups.ts'
import { backup, type check } from './backup.ts'
import { failedBy, type Outcome } from './outcome.ts'

/** What is being done with a backup just now, since when. */
interface Running {
  what: 'made' | 'checked'
  name: string
  since: number
}

interface State {
  running: Running | undefined
  /** How the last work on a backup ended, by its name. */
  ended: Map<string, Outcome>
}

const stateOf = onceFor((_house: House): State => ({ running: undefined, ended: new Map() }))

/** The backups in the data folder, the newest first, what runs, and how the last work ended. */
export async function listBackups(
  house: House,
): Promise<{ backups: kept.KeptBackup[]; running: Running | undefined; ended: State['ended'] }> {
  const { running, ended } = stateOf(house)
  return { backups: await kept.listBackups(house.config.dataDir), running, ended }
}

function theBackup({ config }: House, name: string): string {
  const dir = kept.backupPath(config.dataDir, name)
  if (dir === undefined) throw new Refusal('not_found', { what: 'backup' })
  return dir
}

/** Begins work on a backup: one at a time. How it ended is told by `listBackups`. */
function begin(
  house: House,
  { what, name }: Pick<Running, 'what' | 'name'>,
  work: () => Promise<Outcome>,
): void {
  const state = stateOf(house)
  if (state.running) throw new Refusal('busy', { what: 'Another backup' })
  state.running = { what, name, since: house.clock.now() }
  void work()
    .catch((error: unknown) => {
      house.log.fault('backup', error, { name })
      return failedBy(error)
    })
    .then((outcome) => {
      state.ended.set(name, outcome)
      state.running = undefined
    })
}

/** Begins a backup into the data folder. Refuses busy, try_again, bad_request past `backupsMax`. */
export async function makeBackup(house: House, by: string): Promise<void> {
  house.store.checkRoom(0)
  if ((await kept.listBackups(house.config.dataDir)).length >= backupsMax) {
    const problem = `There are ${backupsMax} backups already. Remove one first.`
    throw new Refusal('bad_request', { problem })
  }
  const name = kept.backupName(iso(house.clock.now()))
  const dir = theBackup(house, name)
  begin(house, { what: 'made', name }, async () => {
    const outcome = await backup(house, dir)
    const entry = { by, did: 'backup', item: name, why: outcome.ok ? '' : outcome.text }
    await house.db.tx((db) => note(house, db, entry))
    return outcome
  })
}

/** Inside the compiled binary every module has the program's own folder as its folder. */
const workerFile = join(
  import.meta.dir,
  Bun.isStandaloneExecutable ? 'operator/check-worker.ts' : 'check-worker.ts',
)

/** Begins to prove a backup, in a thread of its own. Refuses busy, not_found. */
export function checkBackup(house: House, name: string): void {
  const dir = theBackup(house, name)
  const stamp = kept.backupName(iso(house.clock.now()))
  begin(house, { what: 'checked', name }, async () => {
    const worker = new Worker(workerFile)
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    worker.onmessage = (event: MessageEvent<Outcome>) => resolve(event.data)
    worker.onerror = (event) => reject(new Error(event.message))
    const words: Parameters<typeof check> = [house.config.dataDir, dir, stamp]
    worker.postMessage(words)
    return promise.finally(() => worker.terminate())
  })
}

/** Removes a backup. Refuses not_found, and busy while something is done with one. */
export async function removeBackup(house: House, name: string, by: string): Promise<void> {
  const dir = theBackup(house, name)
  const state = stateOf(house)
  if (state.running) throw new Refusal('busy', { what: 'Another backup' })
  await kept.removeBackup(dir)
  state.ended.delete(name)
  await house.db.tx((db) => note(house, db, { by, did: 'remove backup', item: name, why: '' }))
}

/** A whole backup as a tar archive. Refuses not_found. */
export async function downloadBackup(house: House, name: string): Promise<ReadableStream> {
  const dir = theBackup(house, name)
  const all = await kept.listBackups(house.config.dataDir)
  if (!all.some((one) => one.name === name && one.manifest)) {
    throw new Refusal('not_found', { what: 'backup' })
  }
  return kept.backupArchive(dir, name)
}
