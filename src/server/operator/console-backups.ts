import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { backupsMax } from '../../kernel/limits.ts'
import type { BackupWork } from '../../kernel/state/process-state.ts'
import { iso } from '../../kernel/time.ts'
import { workerAt } from '../../kernel/worker-pool.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import * as storage from '../../store/backups.ts'
import { commitRestore, listPreviousData, stagingFolder } from '../../store/restore-swap.ts'
import { archiveConfig, startWork } from './archives.ts'
import { createBackup, endSinceBackup } from './backup.ts'
import type { CommandResult } from './command-result.ts'
import type { BackupCheck } from './verify-backup.worker.ts'

/** Lists the backups in the data folder, newest first, with the work on them. */
export async function listBackups(ctx: AppContext): Promise<
  Pick<BackupWork, 'running' | 'results'> & {
    backups: storage.BackupInfo[]
    /** Folders with the data before each restore, newest first. */
    previous: string[]
  }
> {
  const { running, results } = ctx.state.backupWork
  const { dataDir } = ctx.config
  const backups = await storage.listBackups(dataDir)
  return { backups, previous: listPreviousData(dataDir), running, results }
}

/** Throws `not_found`. */
function getBackupPath({ config }: AppContext, name: string): string {
  const dir = storage.backupPath(config.dataDir, name)
  if (dir === undefined) throw new ApiError('not_found', { what: 'backup' })
  return dir
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

function checkInWorker(check: BackupCheck): Promise<CommandResult> {
  const worker = workerAt('server/operator/verify-backup.worker.ts')()
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>()
  worker.onmessage = (event: MessageEvent<CommandResult>) => resolve(event.data)
  worker.onerror = (event) => reject(new Error(event.message))
  worker.postMessage(check)
  return promise.finally(() => worker.terminate())
}

/** Starts to verify a backup in a worker. Throws `busy` and `not_found`. */
export function startBackupCheck(ctx: AppContext, name: string): void {
  const dir = getBackupPath(ctx, name)
  const stamp = storage.backupName(iso(ctx.clock.now()))
  const config = archiveConfig(ctx.config)
  void startWork(ctx, { what: 'checked', name }, () =>
    checkInWorker({ config, dir, stamp, after: 'remove' }),
  )
}

/** The name of the newest encrypted backup, as `berth restore` has it. */
export const newest = 'newest'

/**
 * Starts to restore a backup: verifies a copy of it in a worker while the server runs, ends in it
 * what ended since, decides by one rename, and starts the server again, which swaps the copy in.
 * The data before it stays in a folder beside it. Throws `busy`, `not_found`, and `bad_request`
 * where the server cannot restart.
 */
export function startRestore(ctx: AppContext, name: string, by: string): void {
  const { config, clock, state, db } = ctx
  const { restart } = state.backupWork
  const { file } = db
  if (!file) rejectRequest('The console cannot restore backups of PostgreSQL. Use pg_restore.')
  if (!restart) {
    rejectRequest('This server cannot restart itself. Stop it and run: berth restore <folder>')
  }
  const dir = name === newest ? undefined : getBackupPath(ctx, name)
  const stamp = storage.backupName(iso(clock.now()))
  const check = { config: archiveConfig(config), dir, stamp, after: 'stage' } as const
  void startWork(ctx, { what: 'restored', name }, async () => {
    const result = await checkInWorker(check)
    if (!result.ok) return result
    await endSinceBackup(ctx, stagingFolder(config.dataDir, stamp), file, { by, item: name })
    commitRestore(config.dataDir, stamp)
    ctx.log.info('restore', { name, by })
    restart()
    return result
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
