import { constants, existsSync } from 'node:fs'
import { copyFile, link, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { currentProgress } from '../kernel/progress.ts'
import { errorCodeOf } from '../kernel/text.ts'
import { contentPath } from './disk.ts'
import { isMissing, syncFile, syncFolder, writeDurably } from './durable.ts'
import { smallFiles } from './restore-swap.ts'
import { type Entry, tar } from './tar.ts'

/** Content of backup.json. It is written last, so an unfinished backup has none. */
const Manifest = Type.Object({
  format: Type.Literal(1),
  /** Version of the program that made the backup. */
  berth: Type.String(),
  schema: Type.Integer({ minimum: 1 }),
  created: Type.String(),
  /** Number of stored files, and their bytes. */
  files: Type.Integer({ minimum: 0 }),
  bytes: Type.Integer({ minimum: 0 }),
  /** Hash of the database file. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

export type Manifest = Static<typeof Manifest>

/** Number of files and bytes that were copied. */
export type CopyResult = Pick<Manifest, 'files' | 'bytes'>

const manifestPath = (dir: string): string => join(dir, 'backup.json')
const filesIn = (dir: string): string => join(dir, 'files')

/** Counts the stored files of a folder, those that no row references included. */
export async function countStored(dir: string): Promise<number> {
  let count = 0
  for (const folder of await readdir(filesIn(dir)).catch(() => [])) {
    count += (await readdir(join(filesIn(dir), folder)).catch(() => [])).length
  }
  return count
}

/** Returns the bytes of all files below a folder. */
export async function bytesIn(dir: string): Promise<number> {
  let bytes = 0
  for await (const { path } of filesOf(dir, '')) bytes += Bun.file(path).size
  return bytes
}

/** Creates the folder of a new backup. Throws when it is not empty. */
export async function makeFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  if ((await readdir(dir)).length > 0) {
    throw new Error(`${dir} is not empty. Choose a new folder for the backup.`)
  }
}

/** Removes the content of an unfinished backup's folder. */
export async function emptyFolder(dir: string): Promise<void> {
  for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true })
}

/** Writes backup.json, which makes the folder a backup. */
export const writeManifest = (dir: string, manifest: Manifest): Promise<unknown> =>
  writeDurably(manifestPath(dir), Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`))

/** Reads backup.json. Throws an Error when the folder holds no complete backup. */
export async function readManifest(dir: string): Promise<Manifest> {
  const text = await readFile(manifestPath(dir), 'utf8').catch((error: unknown) => {
    if (!isMissing(error)) throw error
    const next = 'Name a folder or an archive that berth backup wrote.'
    throw new Error(`${dir} is not a complete backup: it has no backup.json. ${next}`)
  })
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch {
    throw new Error(`${manifestPath(dir)} is damaged: it is not JSON. Use another backup.`)
  }
  if (Value.Check(Manifest, manifest)) return manifest
  const next = 'Use the version of berth that wrote it, or a newer one.'
  throw new Error(`${manifestPath(dir)} has a format that this program cannot read. ${next}`)
}

/**
 * Copies stored files from one folder's `files` to another's: as hard links on the same file system
 * (stored files never change), otherwise as durable copies. `prove` hashes each copy. `total` is
 * how many there are at most. Throws an Error that names a missing or damaged file.
 */
export async function copyFiles(
  from: string,
  to: string,
  pages: AsyncIterable<string[]>,
  { prove, total }: { prove: boolean; total: number },
): Promise<CopyResult> {
  const report = currentProgress()
  const done: CopyResult = { files: 0, bytes: 0 }
  const folders = new Set<string>()
  await mkdir(filesIn(to))
  for await (const names of pages) {
    for (const folder of new Set(names.map((name) => name.slice(0, 2)))) {
      await mkdir(join(filesIn(to), folder), { recursive: true })
      folders.add(folder)
    }
    for (const size of await Promise.all(names.map((name) => copyOne(from, to, name, prove)))) {
      done.files += 1
      done.bytes += size
    }
    report?.(prove ? 'verifying files' : 'copying files', Math.min(1, done.files / total))
  }
  for (const folder of folders) await syncFolder(join(filesIn(to), folder))
  await syncFolder(filesIn(to))
  return done
}

async function copyOne(from: string, to: string, name: string, prove: boolean): Promise<number> {
  const path = contentPath(filesIn(to), name)
  try {
    await link(contentPath(filesIn(from), name), path)
  } catch (error) {
    if (!cannotLink(error)) throw error
    await copyDurably(contentPath(filesIn(from), name), path)
  }
  if (prove && (await hashFile(path)) !== name) {
    throw new Error(`The stored file ${name} in ${from} is damaged.`)
  }
  return Bun.file(path).size
}

const noLink = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOENT'])

/** Returns whether to copy instead. For a missing file, the copy reports the error. */
const cannotLink = (error: unknown): boolean => noLink.has(errorCodeOf(error))

/** Copies a file that does not change. The copy survives a power failure. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`${from} is missing.`) : error
  })
  await syncFile(to)
}

/** Copies a data folder's other files. Only the link secret is required. */
export async function copySmallFiles(from: string, to: string): Promise<void> {
  for (const name of smallFiles) {
    const isPresent = name === 'link-secret' || existsSync(join(from, name))
    if (isPresent) await copyDurably(join(from, name), join(to, name))
  }
}

/** Returns the SHA-256 of a file of any size, in hex. */
export async function hashFile(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk)
  return hasher.digest('hex')
}

const namePattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/

/** Returns a backup's folder name from its ISO time: "2026-05-04T12-00-00-000Z". */
export const backupName = (iso: string): string => iso.replaceAll(/[:.]/g, '-')

const folderOf = (dataDir: string): string => join(dataDir, 'backups')

/** Returns the path of a backup in a data folder; undefined for an invalid name. */
export const backupPath = (dataDir: string, name: string): string | undefined =>
  namePattern.test(name) ? join(folderOf(dataDir), name) : undefined

/** A backup in the data folder. Without a manifest it is incomplete. */
export interface BackupInfo {
  name: string
  manifest: Manifest | undefined
  /** Bytes of its database. Its files are hard links, which take no space. */
  databaseBytes: number
}

/** Lists the backups in a data folder, newest first. */
export async function listBackups(dataDir: string): Promise<BackupInfo[]> {
  const names = await readdir(folderOf(dataDir)).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const known = names.filter((name) => namePattern.test(name)).toSorted()
  return Promise.all(
    known.toReversed().map((name) => readBackup(join(folderOf(dataDir), name), name)),
  )
}

async function readBackup(dir: string, name: string): Promise<BackupInfo> {
  const [manifest, file] = await Promise.all([
    readManifest(dir).catch(() => undefined),
    stat(join(dir, 'berth.sqlite')).catch(() => undefined),
  ])
  return { name, manifest, databaseBytes: file?.size ?? 0 }
}

/** Removes a backup's folder. */
export const removeBackup = (dir: string): Promise<void> =>
  rm(dir, { recursive: true, force: true })

/** Streams a backup as one tar archive. `berth restore` reads its unpacked folder. */
export function backupArchive(dir: string, name: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = tar(filesOf(dir, `berth-${name}`))
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(to) {
      const { done, value } = await pieces.next()
      if (done) to.close()
      else to.enqueue(value)
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}

/** Yields every file below a folder, reading one folder at a time. */
async function* filesOf(dir: string, name: string): AsyncGenerator<Entry> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const [path, inside] = [join(dir, entry.name), `${name}/${entry.name}`]
    if (entry.isDirectory()) yield* filesOf(path, inside)
    else if (entry.isFile()) yield { name: inside, path }
  }
}
