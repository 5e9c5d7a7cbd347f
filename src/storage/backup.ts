import { constants, existsSync } from 'node:fs'
import { copyFile, link, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { errorCodeOf } from '../core/text.ts'
import { contentPath } from './disk.ts'
import { isMissing, syncFile, syncFolder, writeDurably } from './durable.ts'
import { smallFiles } from './exchange.ts'

/** What backup.json says of a backup: it is written last, so that a half one has none. */
const Manifest = Type.Object({
  format: Type.Literal(1),
  /** The version of the program that made it. */
  berth: Type.String(),
  schema: Type.Integer({ minimum: 1 }),
  created: Type.String(),
  /** Stored files, and the bytes they hold. */
  files: Type.Integer({ minimum: 0 }),
  bytes: Type.Integer({ minimum: 0 }),
  /** Of the database. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

export type Manifest = Static<typeof Manifest>

/** How many files and bytes were copied. */
export type Copied = Pick<Manifest, 'files' | 'bytes'>

const manifestPath = (dir: string): string => join(dir, 'backup.json')
const filesIn = (dir: string): string => join(dir, 'files')

/** Makes the folder of a new backup. Throws when there is something in it. */
export async function makeFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  if ((await readdir(dir)).length > 0) {
    throw new Error(`${dir} is not empty. A backup takes a new folder.`)
  }
}

/** Removes what stands in the folder of a backup that could not be finished. */
export async function emptyFolder(dir: string): Promise<void> {
  for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true })
}

/** Writes backup.json: from then on the folder is a backup. */
export const writeManifest = (dir: string, manifest: Manifest): Promise<void> =>
  writeDurably(manifestPath(dir), Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`))

/** Reads backup.json. Throws an Error that says so when the folder holds no whole backup. */
export async function readManifest(dir: string): Promise<Manifest> {
  const text = await readFile(manifestPath(dir), 'utf8').catch((error: unknown) => {
    if (!isMissing(error)) throw error
    throw new Error(`${dir} holds no whole backup: it has no backup.json.`)
  })
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch {
    throw new Error(`${manifestPath(dir)} is damaged: it is not JSON.`)
  }
  if (Value.Check(Manifest, manifest)) return manifest
  throw new Error(`${manifestPath(dir)} is of another format than this program reads.`)
}

/**
 * Brings the stored files of these names from one folder's `files` into another's: as hard links
 * on the same file system, for they never change, else as durable copies. With `prove`, each is
 * hashed once it has arrived. Throws an Error that names a file that is missing or damaged.
 */
export async function copyFiles(
  from: string,
  to: string,
  pages: AsyncIterable<string[]>,
  prove: boolean,
): Promise<Copied> {
  const done: Copied = { files: 0, bytes: 0 }
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

/** Not on this file system; a file that is missing is told by the copy that is tried next. */
const cannotLink = (error: unknown): boolean => noLink.has(errorCodeOf(error))

/** Copies a file that nobody writes to; the copy survives a power cut. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`${from} is missing.`) : error
  })
  await syncFile(to)
}

/** Copies what a data folder keeps in files of their own, of which the secret of links must be. */
export async function copySmallFiles(from: string, to: string): Promise<void> {
  for (const name of smallFiles) {
    const isThere = name === 'link-secret' || existsSync(join(from, name))
    if (isThere) await copyDurably(join(from, name), join(to, name))
  }
}

/** The SHA-256 of a file of any size, in hex. */
export async function hashFile(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk)
  return hasher.digest('hex')
}
