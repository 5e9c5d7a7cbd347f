import { join } from 'node:path'

import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { currentProgress } from '../../kernel/progress.ts'
import { lookUp } from '../../kernel/schema.ts'
import type { RunningWork } from '../../kernel/state/process-state.ts'
import { type Clock, day, hour, iso, minute } from '../../kernel/time.ts'
import { workerAt } from '../../kernel/worker-pool.ts'
import type { ArchiveMessage } from '../../store/archive.worker.ts'
import {
  type Archive,
  archiveName,
  type ArchiveRequest,
  archiveTime,
  decryptBackup,
  openPlace,
  type PlaceSettings,
} from '../../store/archives.ts'
import { backupName } from '../../store/backups.ts'
import { createStagingFolder, removeStagingFolder } from '../../store/restore-swap.ts'
import { type AfterCheck, createBackup, restoreBackup, verifyBackup } from './backup.ts'
import { type CommandResult, failed, failedWith, succeeded } from './command-result.ts'

const unitMs: Record<string, number> = { m: minute, h: hour, d: day, w: 7 * day }

/** Parses a time such as 30m, as BACKUP_EVERY has it, into milliseconds. */
export const durationOf = (text: string): number =>
  Number.parseInt(text, 10) * (lookUp(unitMs, text.slice(-1)) ?? 0)

/**
 * Returns the archives to keep of those that are listed newest first: the newest of each of the
 * last hours, days and weeks of `keep`, such as 24h,7d,4w. Periods are those of UTC.
 */
export function selectKept(archives: Archive[], keep: string): Set<string> {
  const kept = new Set(archives.slice(0, 1).map(({ name }) => name))
  for (const rule of keep.split(',')) {
    const periodMs = durationOf(`1${rule.slice(-1)}`)
    const periods = new Set<number>()
    for (const { name } of archives) {
      const period = Math.floor(archiveTime(name) / periodMs)
      if (periods.has(period)) continue
      if (periods.size >= Number.parseInt(rule, 10)) break
      periods.add(period)
      kept.add(name)
    }
  }
  return kept
}

/** The settings of encrypted backups, which a worker receives. */
export type ArchiveConfig = PlaceSettings &
  Pick<Config, 'dataDir' | 'backupTo' | 'backupPassphrase'>

export const archiveConfig = (config: Config): ArchiveConfig => ({
  ...placeSettings(config),
  dataDir: config.dataDir,
  backupTo: config.backupTo,
  backupPassphrase: config.backupPassphrase,
})

const placeSettings = (config: PlaceSettings): PlaceSettings => ({
  backupS3Endpoint: config.backupS3Endpoint,
  backupS3Region: config.backupS3Region,
  backupS3AccessKeyId: config.backupS3AccessKeyId,
  backupS3SecretAccessKey: config.backupS3SecretAccessKey,
})

/** Runs `writeArchive` in a worker, because it computes for seconds. Returns the bytes. */
function writeInWorker(request: ArchiveRequest): Promise<number> {
  const worker = workerAt('store/archive.worker.ts')()
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const report = currentProgress()
  worker.onmessage = ({ data }: MessageEvent<ArchiveMessage>) => {
    if ('done' in data) report?.('encrypting', data.done)
    else if ('bytes' in data) resolve(data.bytes)
    else reject(new Error(data.failure))
  }
  worker.onerror = (event) => reject(new Error(event.message))
  worker.postMessage(request)
  return promise.finally(() => worker.terminate())
}

/** The place of archives, and which of them to keep. */
interface Plan {
  to: string
  keep: string
  /** The logarithm of scrypt's cost, where it is not the usual one. */
  workFactor?: number | undefined
}
/** The plan of a command. Default: that of the settings. */
type PlanInput = { [name in keyof Plan]?: Plan[name] | undefined }

/**
 * Writes an encrypted backup, and removes those that the plan does not keep. The data is copied to
 * a folder first, which the next start removes after a crash. Throws `busy`.
 */
export async function archiveBackup(
  ctx: AppContext,
  { to = ctx.config.backupTo, keep = ctx.config.backupKeep, workFactor }: PlanInput = {},
): Promise<CommandResult> {
  const { config, clock, state } = ctx
  const name = backupName(iso(clock.now()))
  const work: Pick<RunningWork, 'what' | 'name'> = { what: 'archived', name }
  const result = await startWork(ctx, work, () =>
    writeAndPrune(ctx, name, { to, keep, workFactor }),
  )
  if (to === config.backupTo) state.backupWork.lastArchive = { ...result, at: clock.now() }
  return result
}

async function writeAndPrune(
  ctx: AppContext,
  name: string,
  { to, keep, workFactor }: Plan,
): Promise<CommandResult> {
  const { config, clock } = ctx
  const { backupPassphrase: passphrase } = config
  if (to === '') return failed('Set BACKUP_TO, or name a place: berth backup --to <folder>')
  if (passphrase === '') return failed('Set BACKUP_PASSPHRASE for the server and start it again.')
  const settings = placeSettings(config)
  const dir = createStagingFolder(config.dataDir, name)
  try {
    const copied = await createBackup(ctx, dir)
    if (!copied.ok) return copied
    const bytes = await writeInWorker({ dir, name, to, passphrase, workFactor, settings })
    const place = openPlace(to, settings, clock)
    const archives = await place.list()
    const kept = selectKept(archives, keep)
    const old = archives.filter((archive) => !kept.has(archive.name))
    for (const archive of old) await place.remove(archive.name)
    const counts = `${kept.size} kept${old.length > 0 ? `, ${old.length} removed` : ''}`
    return succeeded(
      `${archiveName(name)} is in ${to}: ${bytes.toLocaleString('en')} bytes, ${counts}.`,
      { archive: archiveName(name), to, bytes, kept: kept.size, removed: old.length },
    )
  } finally {
    await removeStagingFolder(dir)
  }
}

/** The pause after a failed attempt. */
const retryMs = 5 * minute

/** Writes the next backup of BACKUP_TO when it is due. */
export async function runBackupSchedule(ctx: AppContext, plan?: PlanInput): Promise<void> {
  const { config, clock, state } = ctx
  if (config.backupTo === '' || state.backupWork.running) return
  const { lastArchive } = state.backupWork
  if (lastArchive && !lastArchive.ok && clock.now() - lastArchive.at < retryMs) return
  const newest = lastArchive?.ok ? undefined : await findNewest(ctx).catch(() => undefined)
  const lastAt = newest ? archiveTime(newest.name) : lastArchive?.ok ? lastArchive.at : -Infinity
  if (clock.now() - lastAt >= durationOf(config.backupEvery)) await archiveBackup(ctx, plan)
}

/** Returns the newest archive in BACKUP_TO. Throws an Error where the place does not work. */
const findNewest = async ({ config, clock }: { config: ArchiveConfig; clock: Clock }) =>
  (await openPlace(config.backupTo, placeSettings(config), clock).list())[0]

/** The state of the encrypted backups, as a sentence; undefined where there are none. */
export async function describeArchives(
  ctx: AppContext,
): Promise<{ isOld: boolean; text: string; newest?: Archive } | undefined> {
  const { config, clock, state } = ctx
  if (config.backupTo === '') return undefined
  const { lastArchive } = state.backupWork
  const failure =
    lastArchive && !lastArchive.ok ? ` The last attempt failed: ${lastArchive.text}` : ''
  try {
    const newest = await findNewest(ctx)
    if (!newest) return { isOld: true, text: `${config.backupTo} has no backup yet.${failure}` }
    const at = archiveTime(newest.name)
    const isOld = clock.now() - at > 2 * durationOf(config.backupEvery)
    const text = `The newest backup in ${config.backupTo} is of ${iso(at)}.${failure}`
    return { isOld, text, newest }
  } catch (error) {
    return { isOld: true, text: `${config.backupTo} cannot be read: ${String(error)}` }
  }
}

/**
 * Unpacks an archive, by default the newest one of BACKUP_TO, into a folder inside `scratch`.
 * Returns the folder.
 */
async function unpack(
  config: ArchiveConfig,
  clock: Clock,
  file: string | undefined,
  scratch: string,
): Promise<string> {
  if (config.backupPassphrase === '')
    throw new Error('Set BACKUP_PASSPHRASE to that of the server that made the backup.')
  const dir = join(scratch, 'backup')
  const source = file ?? (await fetchNewest(config, clock, scratch))
  await decryptBackup(source, dir, config.backupPassphrase)
  return dir
}

async function fetchNewest(config: ArchiveConfig, clock: Clock, scratch: string) {
  if (config.backupTo === '') throw new Error('Name an archive, or set BACKUP_TO.')
  const newest = await findNewest({ config, clock })
  if (!newest) throw new Error(`${config.backupTo} has no backup.`)
  const to = join(scratch, newest.name)
  await openPlace(config.backupTo, placeSettings(config), clock).copy(newest.name, to)
  return to
}

const createScratch = ({ dataDir }: ArchiveConfig, clock: Clock): string =>
  createStagingFolder(dataDir, `${backupName(iso(clock.now()))}-archive`)

/** Restores an archive into a scratch folder, and checks it as `berth doctor` does. */
export async function verifyArchive(
  config: ArchiveConfig,
  clock: Clock,
  file: string | undefined,
  { stamp = backupName(iso(clock.now())), after }: { stamp?: string; after?: AfterCheck } = {},
): Promise<CommandResult> {
  const scratch = createScratch(config, clock)
  try {
    const dir = await unpack(config, clock, file, scratch)
    return await verifyBackup(config.dataDir, dir, stamp, after)
  } finally {
    await removeStagingFolder(scratch)
  }
}

/** Replaces the data folder with an archive, as `restoreBackup` does with a folder. */
export const restoreArchive = (
  config: Config,
  clock: Clock,
  file: string | undefined,
): Promise<CommandResult> =>
  restoreBackup(config, () => unpack(config, clock, file, createScratch(config, clock)), clock)

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
