import { join } from 'node:path'

import type { Config } from '../config/settings.ts'
import type { AppContext } from '../context.ts'
import { type Clock, iso } from '../core/time.ts'
import { checkIntegrity } from '../db/integrity.ts'
import { migrateSqlite, NewerSchemaError, schemaVersion } from '../db/migrate.ts'
import { databaseFile } from '../db/open.ts'
import { snapshot } from '../db/snapshot.ts'
import { openCopy } from '../db/sqlite.ts'
import { doctor } from '../ledger/doctor.ts'
import * as files from '../storage/backup.ts'
import { backupName } from '../storage/backups.ts'
import { isFull } from '../storage/durable.ts'
import { closeExchange, exchange, finishExchange, openExchange } from '../storage/exchange.ts'
import { ownFolder } from '../storage/owner.ts'
import { openSecret } from '../storage/secret.ts'
import { version } from '../version.ts'
import { done, failed, type Outcome } from './outcome.ts'
import { allNamed } from './stored.ts'

const onPostgres =
  'On PostgreSQL, keep a pg_dump of the database and a copy of the data folder: berth backup and ' +
  'berth restore are for SQLite.'

/**
 * Proves a backup as `restore` does, in a folder of its own that is removed then: nothing is
 * replaced. Throws an Error that says what is wrong with the backup.
 */
export async function check(dataDir: string, dir: string, stamp: string): Promise<Outcome> {
  const manifest = await files.readManifest(dir)
  if (manifest.schema > schemaVersion())
    throw new NewerSchemaError(manifest.schema, schemaVersion())
  const to = openExchange(dataDir, stamp)
  try {
    const copied = await prove(dir, manifest, to)
    return done(`It can be restored: the books balance, and ${said(copied)}.`)
  } finally {
    await closeExchange(to)
  }
}

const said = ({ files, bytes }: files.Copied): string =>
  `${files} file${files === 1 ? '' : 's'}, ${bytes.toLocaleString('en')} bytes`

/**
 * Copies the database as of one moment, then the stored files that it names, into a new folder
 * `dir`, beside a working house. Throws when the folder is not empty, its disk is full or a stored
 * file is missing; what was copied until then is removed.
 */
export async function backup(ctx: AppContext, dir: string): Promise<Outcome> {
  if (!ctx.db.file) return failed(onPostgres)
  return ctx.state.fileWork.run(async () => {
    await files.makeFolder(dir)
    try {
      const copied = await copyTo(ctx, dir)
      return done(`The backup is in ${dir}: the database and ${said(copied)}.`)
    } catch (error) {
      await files.emptyFolder(dir)
      if (!isFull(error)) throw error
      throw new Error(
        `The disk of ${dir} is full, so nothing of the backup was kept. Make room there, or name a ` +
          'folder on another disk.',
      )
    }
  })
}

async function copyTo({ config: { dataDir }, clock, db }: AppContext, dir: string) {
  const file = join(dir, databaseFile)
  await snapshot(db, file)
  const copy = openCopy(file)
  const copied = await files
    .copyFiles(dataDir, dir, allNamed(copy.read), false)
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
 * Proves a backup, then puts it in the place of the data folder's content, which is kept beside it.
 * A backup of an older schema is brought to this program's. Throws an Error that says what is wrong
 * with the backup, and FolderInUse; then nothing was replaced.
 */
export async function restore(config: Config, dir: string, clock: Clock): Promise<Outcome> {
  if (config.databaseUrl) return failed(onPostgres)
  const manifest = await files.readManifest(dir)
  if (manifest.schema > schemaVersion())
    throw new NewerSchemaError(manifest.schema, schemaVersion())
  const release = ownFolder(config.dataDir)
  try {
    const stamp = backupName(iso(clock.now()))
    const copied = await prove(dir, manifest, openExchange(config.dataDir, stamp))
    const aside = exchange(config.dataDir, stamp)
    const text = `Restored the backup of ${manifest.created}: the database and ${said(copied)}.`
    if (aside === undefined) return done(text)
    const before = `What was here before is in ${aside}; remove it when all is well.`
    return done(`${text} ${before}`)
  } finally {
    finishExchange(config.dataDir)
    release()
  }
}

/** Puts a backup together in `to` and proves what stands there then. */
async function prove(dir: string, manifest: files.Manifest, to: string): Promise<files.Copied> {
  const file = join(to, databaseFile)
  await files.copyDurably(join(dir, databaseFile), file)
  if ((await files.hashFile(file)) !== manifest.sha256) {
    throw new Error(`The database in ${dir} is damaged: it is not the one that was written.`)
  }
  checkIntegrity(file)
  migrateSqlite(file)
  const db = openCopy(file)
  try {
    const books = await doctor({ db })
    if (!books.ok) throw new Error(books.text)
    const copied = await files.copyFiles(dir, to, allNamed(db.read), true)
    await files.copySmallFiles(dir, to)
    await openSecret(to)
    return copied
  } finally {
    await db.close()
  }
}
