import { join } from 'node:path'

import { deleteLinksWithout } from '../../apps/audience/audience.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Engine } from '../../kernel/db/engine.ts'
import {
  databaseFile,
  hasDatabase,
  migrateSqlite,
  NewerSchemaError,
  schemaVersion,
} from '../../kernel/db/open.ts'
import { checkIntegrity, openCopy, openSqlite, snapshot } from '../../kernel/db/sqlite.ts'
import { currentProgress } from '../../kernel/progress.ts'
import { type Clock, iso } from '../../kernel/time.ts'
import { version } from '../../kernel/version.ts'
import { revokeAsIn } from '../../money/keys/keys.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { commandLine, recordAudit } from '../../people/audit/audit.ts'
import { deleteSignInsWithout, endAllSessions } from '../../people/identities.ts'
import * as files from '../../store/backups.ts'
import { isFull } from '../../store/durable.ts'
import { lockFolder } from '../../store/folder-lock.ts'
import {
  createStagingFolder,
  finishRestores,
  removeStagingFolder,
  swapIn,
} from '../../store/restore-swap.ts'
import { openSecret } from '../../store/signed-url.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { listReferenced } from './referenced-files.ts'

/** A restore, as the audit log of the restored database has it. */
interface Restore {
  by: string
  /** The name of the backup. */
  item: string
}

const unreadable =
  'The previous database could not be read: keys, share links and sign-in methods that were revoked since the backup are valid again.'

const namedMax = 5

/** Returns a warning about the keys that the previous database does not have. */
function unknownKeys(prefixes: string[]): string {
  if (prefixes.length === 0) return ''
  const more = prefixes.length - namedMax
  const named = prefixes.slice(0, namedMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
  return `The previous database does not have these keys, which stay valid: ${named}. Revoke those that must not.`
}

/** Ends in `copy` what ended in the database of a file. Returns the live keys that it lacks. */
async function endAsIn(copy: Engine, file: string, now: number): Promise<string[]> {
  // A read-only connection would leave files of its own beside the database.
  const { read, close } = await openSqlite(file)
  try {
    return await copy.tx(async (db) => {
      const unknown = await revokeAsIn(db, read, now)
      await deleteLinksWithout(db, read)
      await deleteSignInsWithout(db, read)
      return unknown
    })
  } finally {
    await close()
  }
}

/**
 * Ends in the verified copy in `dir` what a backup must not bring back: all sessions, and the keys,
 * share links and sign-in methods that ended since, as far as the database in the file `replaced`
 * shows them. Records the restore. Returns a warning about what that database does not show, or ''.
 */
export async function endSinceBackup(
  { clock }: { clock: Clock },
  dir: string,
  replaced: string | undefined,
  { by, item }: Restore,
): Promise<string> {
  const copy = await openSqlite(join(dir, databaseFile))
  try {
    const warning =
      replaced === undefined
        ? ''
        : await endAsIn(copy, replaced, clock.now()).then(
            unknownKeys,
            // It may be damaged, or of an earlier version.
            () => unreadable,
          )
    await copy.tx(async (db) => {
      await endAllSessions(db)
      await recordAudit({ clock }, db, { by, did: 'restore backup', item, why: warning })
    })
    return warning
  } finally {
    await copy.close()
  }
}

const onPostgres =
  'berth backup and berth restore support only SQLite. For PostgreSQL, keep a pg_dump of the ' +
  'database and a copy of the data folder, or a bucket with versions: see docs/backup.md.'

/** The end of a verified copy: it is removed, or stays for `commitRestore`. */
export type AfterCheck = 'remove' | 'stage'

/**
 * Verifies a backup as `restoreBackup` does, in the staging folder `stamp`. Throws an Error that
 * describes the damage.
 */
export async function verifyBackup(
  dataDir: string,
  dir: string,
  stamp: string,
  after: AfterCheck = 'remove',
): Promise<CommandResult> {
  const manifest = await files.readManifest(dir)
  if (manifest.schema > schemaVersion())
    throw new NewerSchemaError(manifest.schema, schemaVersion())
  const to = createStagingFolder(dataDir, stamp)
  let isKept = false
  try {
    const copied = await copyAndVerify(dir, manifest, to)
    isKept = after === 'stage'
    const text = `The backup is valid: all balances match the ledger, ${sizeOf(copied)}.`
    return succeeded(text, { created: manifest.created, ...copied })
  } finally {
    if (!isKept) await removeStagingFolder(to)
  }
}

const sizeOf = ({ files, bytes }: files.CopyResult): string =>
  `${files} file${files === 1 ? '' : 's'}, ${bytes.toLocaleString('en')} bytes`

/**
 * Copies a snapshot of the database and the files that it references into the new folder `dir`,
 * while the server runs. Throws where the folder is not empty, its disk is full or a stored file is
 * missing; the partial copy is removed.
 */
export async function createBackup(ctx: AppContext, dir: string): Promise<CommandResult> {
  if (!ctx.db.file) return failed(onPostgres)
  return ctx.state.fileWork.run(async () => {
    await files.makeFolder(dir)
    try {
      const copied = await copyTo(ctx, dir)
      const text = `The backup is in ${dir}: the database and ${sizeOf(copied)}.`
      return succeeded(text, { folder: dir, ...copied })
    } catch (error) {
      await files.emptyFolder(dir)
      if (!isFull(error)) throw error
      throw new Error(
        `The disk of ${dir} is full. The backup was removed. Free space, or use a folder on another ` +
          'disk.',
      )
    }
  })
}

async function copyTo({ config: { dataDir }, clock, db }: AppContext, dir: string) {
  const file = join(dir, databaseFile)
  await snapshot(db, file)
  const copy = openCopy(file)
  const copied = await files
    .copyFiles(dataDir, dir, listReferenced(copy.read), {
      prove: false,
      total: currentProgress() ? await files.countStored(dataDir) : 0,
    })
    .finally(() => copy.close())
  await files.copySmallFiles(dataDir, dir)
  await files.writeManifest(dir, {
    format: 1,
    berth: version,
    schema: schemaVersion(),
    created: iso(clock.now()),
    ...copied,
    sha256: await files.hashFile(file),
  })
  return copied
}

/**
 * Verifies a backup, migrates it to the current schema, ends in it what ended since, and replaces
 * the content of the data folder with it. The old content stays in a folder beside it. `from` is
 * the folder of the backup, or unpacks one while this process owns the data folder. Throws
 * FolderInUse, and an Error that describes a damaged backup; then nothing is replaced.
 */
export async function restoreBackup(
  config: Config,
  from: string | (() => Promise<string>),
  clock: Clock,
): Promise<CommandResult> {
  if (config.databaseUrl) return failed(onPostgres)
  const release = lockFolder(config.dataDir)
  try {
    const dir = typeof from === 'string' ? from : await from()
    const manifest = await files.readManifest(dir)
    if (manifest.schema > schemaVersion())
      throw new NewerSchemaError(manifest.schema, schemaVersion())
    const stamp = files.backupName(iso(clock.now()))
    const staging = createStagingFolder(config.dataDir, stamp)
    const copied = await copyAndVerify(dir, manifest, staging)
    const replaced = hasDatabase(config) ? join(config.dataDir, databaseFile) : undefined
    const entry = { by: commandLine, item: manifest.created }
    const warning = await endSinceBackup({ clock }, staging, replaced, entry)
    const aside = swapIn(config.dataDir, stamp)
    const done = `Restored the backup of ${manifest.created}: the database and ${sizeOf(copied)}.`
    const text = `${done} Everyone signs in again.${warning && ` ${warning}`}`
    const data = { created: manifest.created, ...copied, ...(warning && { warning }) }
    if (aside === undefined) return succeeded(text, data)
    const before = `The previous data is in ${aside}. Remove it once everything works.`
    return succeeded(`${text} ${before}`, { ...data, before: aside })
  } finally {
    finishRestores(config.dataDir)
    release()
  }
}

/** Copies a backup into `to`, migrates it and verifies the copy. */
async function copyAndVerify(
  dir: string,
  manifest: files.Manifest,
  to: string,
): Promise<files.CopyResult> {
  const file = join(to, databaseFile)
  await files.copyDurably(join(dir, databaseFile), file)
  if ((await files.hashFile(file)) !== manifest.sha256) {
    throw new Error(
      `The database in ${dir} is damaged: its checksum differs from the backup's manifest.`,
    )
  }
  checkIntegrity(file)
  migrateSqlite(file)
  const db = openCopy(file)
  try {
    const ledger = await doctor({ db })
    if (!ledger.ok) throw new Error(ledger.text)
    const copied = await files.copyFiles(dir, to, listReferenced(db.read), {
      prove: true,
      total: manifest.files,
    })
    await files.copySmallFiles(dir, to)
    await openSecret(to)
    return copied
  } finally {
    await db.close()
  }
}
