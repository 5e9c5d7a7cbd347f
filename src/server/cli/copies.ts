import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Config } from '../../kernel/config/settings.ts'
import { copyRows } from '../../kernel/db/copy-rows.ts'
import { databaseFile, migrateSqlite, openEngine } from '../../kernel/db/open.ts'
import { listOtherProcesses } from '../../kernel/db/replicas/presence.ts'
import { systemClock } from '../../kernel/time.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { FolderInUse, lockFolder } from '../../store/folder-lock.ts'
import { moveFiles } from '../../store/place.ts'
import { durationOf, restoreArchive, verifyArchive } from '../operator/archives.ts'
import { restoreBackup } from '../operator/backup.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'
import { printNote } from './terminal.ts'

const usage =
  'usage: DATABASE_URL=postgres://… berth copy postgres | sqlite. It copies the SQLite database of ' +
  'the data folder into DATABASE_URL, or back.'

/**
 * `berth copy`: moves an instance between SQLite and PostgreSQL while no server runs. The files
 * stay in the data folder. All rows are compared after the copy, and every balance is checked.
 */
export async function databaseCopy(config: Config, words: string[]): Promise<CommandResult> {
  const [to, ...more] = words
  if ((to !== 'postgres' && to !== 'sqlite') || more.length > 0) return failed(usage)
  if (config.databaseUrl === '') return failed(usage)
  const file = join(config.dataDir, databaseFile)
  if (to === 'postgres' && !existsSync(file)) return failed(`There is no database ${file}.`)
  const unlock = lockFolder(config.dataDir)
  try {
    const db = await openEngine(config)
    try {
      if ((await listOtherProcesses(db.read)).length > 0) {
        return failed('A server uses DATABASE_URL. Stop all its servers first.')
      }
      migrateSqlite(file)
      const url = config.databaseDirectUrl || config.databaseUrl
      const tables = await copyRows(file, url, to)
      // Both databases have the same rows now, and this process reads PostgreSQL.
      const ledger = await doctor({ db })
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      const proof = tables
        .filter((table) => table.rows > 0)
        .map((table) => `${table.hash.slice(0, 16)}  ${table.table} (${table.rows})`)
      const next =
        to === 'postgres'
          ? 'Start the server with DATABASE_URL and the same data folder.'
          : 'Start the server without DATABASE_URL and with the same data folder.'
      const text = [
        ...proof,
        `Copied ${rows.toLocaleString('en')} rows of ${tables.length} tables. Both databases have equal hashes.`,
        ledger.text,
        next,
      ].join('\n')
      const data = { to, rows, tables, ledger: ledger.text }
      return ledger.ok ? succeeded(text, data) : failed(text, data)
    } finally {
      await db.close()
    }
  } finally {
    unlock()
  }
}

const needsBucket =
  'berth storage copy copies the files of the data folder into a bucket. Set S3_ENDPOINT, ' +
  'S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY of the bucket first.'

/**
 * Copies the files of the data folder into the bucket of the settings. It may run beside a server
 * and be repeated: files that are there are skipped. Without a server on the folder, the bucket
 * then becomes the place of the files.
 */
export async function storageCopy(config: Config): Promise<CommandResult> {
  if (config.s3Bucket === '') return failed(needsBucket)
  const unlock = tryLock(config.dataDir)
  try {
    const { copyToBucket } = await import('../../store/s3/store.ts')
    const { copied, skipped, damaged } = await copyToBucket(config, { clock: systemClock })
    const data = { copied, skipped, damaged }
    const counts = `${copied} files copied, ${skipped} were in the bucket already.`
    if (damaged.length > 0) {
      const list = damaged.slice(0, 20).join('\n')
      return failed(
        `${counts} ${damaged.length} files are damaged and were not copied: their content differs ` +
          `from their name. Restore them from a backup:\n${list}`,
        { ...data, usesBucket: false },
      )
    }
    if (!unlock) {
      return succeeded(
        `${counts} A server uses the data folder: stop it and run this command again, which copies ` +
          'only what is new.',
        { ...data, usesBucket: false },
      )
    }
    const db = await openEngine(config)
    await moveFiles(db, config).finally(() => db.close())
    return succeeded(`${counts} Start the server with the same settings: it uses the bucket now.`, {
      ...data,
      usesBucket: true,
    })
  } finally {
    unlock?.()
  }
}

/** Locks the data folder; undefined while a server uses it. */
function tryLock(dataDir: string): (() => void) | undefined {
  try {
    return lockFolder(dataDir)
  } catch (error) {
    if (error instanceof FolderInUse) return undefined
    throw error
  }
}

const isArchive = (path: string): boolean => path.endsWith('.age')

/** `berth backup verify [archive]`: restores an archive into a scratch folder and checks it. */
export async function verify(config: Config, [file, ...more]: string[]): Promise<CommandResult> {
  return more.length > 0
    ? failed('usage: berth backup verify [archive]')
    : verifyArchive(config, systemClock, file)
}

/** `berth restore`: replaces the data folder with a backup. */
export async function restore(config: Config, [from, ...more]: string[]): Promise<CommandResult> {
  if (!from || more.length > 0) {
    return failed('usage: berth restore <folder | archive | newest> [--data ./data]')
  }
  if (from === 'newest') return restoreArchive(config, systemClock, undefined)
  return isArchive(from)
    ? restoreArchive(config, systemClock, from)
    : restoreBackup(config, from, systemClock)
}

/** Runs backups until Ctrl-C. A failure is printed, and the next one runs at its time. */
export async function backUpEvery(every: string, run: () => Promise<void>): Promise<never> {
  for (;;) {
    await run().catch((error: unknown) => printNote(String(error)))
    await Bun.sleep(durationOf(every))
  }
}
