import { join } from 'node:path'

import type { AppContext } from '../context.ts'
import { iso } from '../core/time.ts'
import { ApiError } from '../errors.ts'
import { note } from '../hosting/audit/audit.ts'
import { backupsMax } from '../limits.ts'
import type { BackupWork, RunningWork } from '../state/backup-work.ts'
import * as kept from '../storage/backups.ts'
import { backup, type check } from './backup.ts'
import { failedBy, type Outcome } from './outcome.ts'

/** The backups in the data folder, the newest first, what runs, and how the last work ended. */
export async function listBackups(
  ctx: AppContext,
): Promise<Pick<BackupWork, 'running' | 'results'> & { backups: kept.KeptBackup[] }> {
  const { running, results } = ctx.state.backupWork
  return { backups: await kept.listBackups(ctx.config.dataDir), running, results }
}

function theBackup({ config }: AppContext, name: string): string {
  const dir = kept.backupPath(config.dataDir, name)
  if (dir === undefined) throw new ApiError('not_found', { what: 'backup' })
  return dir
}

/** Begins work on a backup: one at a time. How it ended is told by `listBackups`. */
function begin(
  ctx: AppContext,
  { what, name }: Pick<RunningWork, 'what' | 'name'>,
  work: () => Promise<Outcome>,
): void {
  const state = ctx.state.backupWork
  if (state.running) throw new ApiError('busy', { what: 'Another backup' })
  state.running = { what, name, since: ctx.clock.now() }
  void work()
    .catch((error: unknown) => {
      ctx.log.fault('backup', error, { name })
      return failedBy(error)
    })
    .then((outcome) => {
      state.results.set(name, outcome)
      state.running = undefined
    })
}

/** Begins a backup into the data folder. Refuses busy, try_again, bad_request past `backupsMax`. */
export async function makeBackup(ctx: AppContext, by: string): Promise<void> {
  ctx.storage.checkRoom(0)
  if ((await kept.listBackups(ctx.config.dataDir)).length >= backupsMax) {
    const problem = `There are ${backupsMax} backups already. Remove one first.`
    throw new ApiError('bad_request', { problem })
  }
  const name = kept.backupName(iso(ctx.clock.now()))
  const dir = theBackup(ctx, name)
  begin(ctx, { what: 'made', name }, async () => {
    const outcome = await backup(ctx, dir)
    const entry = { by, did: 'backup', item: name, why: outcome.ok ? '' : outcome.text }
    await ctx.db.tx((db) => note(ctx, db, entry))
    return outcome
  })
}

/** Inside the compiled binary every module has the program's own folder as its folder. */
const workerFile = join(
  import.meta.dir,
  Bun.isStandaloneExecutable ? 'operator/check-worker.ts' : 'check-worker.ts',
)

/** Begins to prove a backup, in a thread of its own. Refuses busy, not_found. */
export function checkBackup(ctx: AppContext, name: string): void {
  const dir = theBackup(ctx, name)
  const stamp = kept.backupName(iso(ctx.clock.now()))
  begin(ctx, { what: 'checked', name }, async () => {
    const worker = new Worker(workerFile)
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    worker.onmessage = (event: MessageEvent<Outcome>) => resolve(event.data)
    worker.onerror = (event) => reject(new Error(event.message))
    const words: Parameters<typeof check> = [ctx.config.dataDir, dir, stamp]
    worker.postMessage(words)
    return promise.finally(() => worker.terminate())
  })
}

/** Removes a backup. Refuses not_found, and busy while something is done with one. */
export async function removeBackup(ctx: AppContext, name: string, by: string): Promise<void> {
  const dir = theBackup(ctx, name)
  const state = ctx.state.backupWork
  if (state.running) throw new ApiError('busy', { what: 'Another backup' })
  await kept.removeBackup(dir)
  state.results.delete(name)
  await ctx.db.tx((db) => note(ctx, db, { by, did: 'remove backup', item: name, why: '' }))
}

/** A whole backup as a tar archive. Refuses not_found. */
export async function downloadBackup(ctx: AppContext, name: string): Promise<ReadableStream> {
  const dir = theBackup(ctx, name)
  const all = await kept.listBackups(ctx.config.dataDir)
  if (!all.some((one) => one.name === name && one.manifest)) {
    throw new ApiError('not_found', { what: 'backup' })
  }
  return kept.backupArchive(dir, name)
}
