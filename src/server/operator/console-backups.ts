import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { backupsMax } from '../../kernel/limits.ts'
import type { BackupWork, RunningWork } from '../../kernel/state/backup-work.ts'
import { iso } from '../../kernel/time.ts'
import { workerAt } from '../../kernel/worker-pool.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import * as storage from '../../store/backups.ts'
import { createBackup, type verifyBackup } from './backup.ts'
import { type CommandResult, failedWith } from './command-result.ts'

/** Lists the backups in the data folder, newest first, with the work on them. */
export async function listBackups(
  ctx: AppContext,
): Promise<Pick<BackupWork, 'running' | 'results'> & { backups: storage.BackupInfo[] }> {
  const { running, results } = ctx.state.backupWork
  return { backups: await storage.listBackups(ctx.config.dataDir), running, results }
}

/** Throws `not_found`. */
function getBackupPath({ config }: AppContext, name: string): string {
  const dir = storage.backupPath(config.dataDir, name)
  if (dir === undefined) throw new ApiError('not_found', { what: 'backup' })
  return dir
}

/** Starts work on a backup, one at a time. `listBackups` returns its result. Throws `busy`. */
export function startWork(
  ctx: AppContext,
  { what, name }: Pick<RunningWork, 'what' | 'name'>,
  work: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const state = ctx.state.backupWork
  if (state.running) throw new ApiError('busy', { what: 'Another backup' })
  state.running = { what, name, since: ctx.clock.now() }
  return work()
    .catch((error: unknown) => {
      ctx.log.error('backup', error, { name })
      return failedWith(error)
    })
    .then((result) => {
      state.results.set(name, result)
      state.running = undefined
      return result
    })
}

/**
 * Starts a backup into the data folder. Throws `busy`, `try_again` on a full disk, and
 * `bad_request` past `backupsMax`.
 */
export async function startBackup(ctx: AppContext, by: string): Promise<void> {
  ctx.storage.requireFreeSpace(0)
  if ((await storage.listBackups(ctx.config.dataDir)).length >= backupsMax)
    rejectRequest(`There are already ${backupsMax} backups, the maximum. Remove one first.`)
  const name = storage.backupName(iso(ctx.clock.now()))
  const dir = getBackupPath(ctx, name)
  void startWork(ctx, { what: 'made', name }, async () => {
    const result = await createBackup(ctx, dir)
    const entry = { by, did: 'backup', item: name, why: result.ok ? '' : result.text }
    await ctx.db.tx((db) => recordAudit(ctx, db, entry))
    return result
  })
}

/** Starts to verify a backup in a worker. Throws `busy` and `not_found`. */
export function startBackupCheck(ctx: AppContext, name: string): void {
  const dir = getBackupPath(ctx, name)
  const stamp = storage.backupName(iso(ctx.clock.now()))
  void startWork(ctx, { what: 'checked', name }, async () => {
    const worker = workerAt('server/operator/verify-backup.worker.ts')()
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>()
    worker.onmessage = (event: MessageEvent<CommandResult>) => resolve(event.data)
    worker.onerror = (event) => reject(new Error(event.message))
    const args: Parameters<typeof verifyBackup> = [ctx.config.dataDir, dir, stamp]
    worker.postMessage(args)
    return promise.finally(() => worker.terminate())
  })
}

/** Removes a backup. Throws `not_found`, and `busy` while work on any backup runs. */
export async function removeBackup(ctx: AppContext, name: string, by: string): Promise<void> {
  const dir = getBackupPath(ctx, name)
  const state = ctx.state.backupWork
  if (state.running) throw new ApiError('busy', { what: 'Another backup' })
  await storage.removeBackup(dir)
  state.results.delete(name)
  await ctx.db.tx((db) => recordAudit(ctx, db, { by, did: 'remove backup', item: name, why: '' }))
}

/** Returns a backup as a tar archive. Throws `not_found`. */
export async function downloadBackup(ctx: AppContext, name: string): Promise<ReadableStream> {
  const dir = getBackupPath(ctx, name)
  const all = await storage.listBackups(ctx.config.dataDir)
  if (!all.some((one) => one.name === name && one.manifest)) {
    throw new ApiError('not_found', { what: 'backup' })
  }
  return storage.backupArchive(dir, name)
}
