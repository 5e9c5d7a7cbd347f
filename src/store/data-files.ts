import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import type { Engine } from '../kernel/db/engine.ts'
import { readSharedValue, setSharedValue } from '../kernel/db/replicas/shared-values.ts'
import { sha256 } from '../kernel/ids.ts'
import { isMissing, writeDurably } from './durable.ts'

const priceListPath = (dataDir: string): string => join(dataDir, 'models.json')

/**
 * Reads the synced public price lists; undefined before the first sync, null when the file is not
 * JSON.
 */
export async function readPriceList(dataDir: string): Promise<unknown> {
  const file = Bun.file(priceListPath(dataDir))
  if (!(await file.exists())) return undefined
  const text = await file.text()
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Stores the synced price lists atomically. */
export const writePriceList = (dataDir: string, list: unknown): Promise<unknown> =>
  writeDurably(priceListPath(dataDir), Buffer.from(`${JSON.stringify(list, null, 1)}\n`))

const valueName = 'prices'

/** Gives the synced price lists to the servers of a PostgreSQL database. */
export const sharePriceList = (db: Engine, list: unknown): Promise<unknown> =>
  setSharedValue(db, valueName, JSON.stringify(list))

/** Stores the price lists that another server shared here. Returns whether they are new. */
export async function followPriceList(db: Engine, dataDir: string): Promise<boolean> {
  if (db.kind === 'sqlite') return false
  const shared = await readSharedValue(db.read, valueName)
  if (shared === undefined || JSON.stringify(await readPriceList(dataDir)) === shared) return false
  await writePriceList(dataDir, JSON.parse(shared))
  return true
}

const firstAppPath = (dataDir: string): string => join(dataDir, 'first-app')

/**
 * Returns the id of the sample app that the first start published; empty while publishing, or when
 * the process died during it; undefined when it has not started.
 */
export async function readFirstApp(dataDir: string): Promise<string | undefined> {
  const file = Bun.file(firstAppPath(dataDir))
  return (await file.exists()) ? (await file.text()).trim() : undefined
}

/** Records the sample app's id, or '' when publishing starts. The next start prints its link. */
export const writeFirstApp = (dataDir: string, id: string): Promise<unknown> =>
  writeDurably(firstAppPath(dataDir), Buffer.from(id))

/** Removes the record of a sample app that could not be published. */
export const forgetFirstApp = (dataDir: string): Promise<void> => rm(firstAppPath(dataDir))

/** The most bytes that an array has. */
const mappedBytesMax = 2 ** 32 - 1

/**
 * Returns the bytes of a file, mapped into memory where the system can: it may be larger than
 * memory. The file must not become shorter meanwhile. Returns undefined where there is none. Throws
 * an Error for 4 GB or more.
 */
export async function mapFile(path: string): Promise<Uint8Array | undefined> {
  const file = Bun.file(path)
  const size = await file.stat().then(
    (stat) => stat.size,
    (error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    },
  )
  if (size === undefined) return undefined
  if (size > mappedBytesMax) {
    throw new Error(`${path} has ${size.toLocaleString('en')} bytes. The limit is 4 GB.`)
  }
  return process.platform === 'win32' || size === 0 ? file.bytes() : Bun.mmap(path)
}

/** Writes a new file for its owner. Returns its bytes. Throws an Error where it exists. */
export async function writeNew(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  if (await Bun.file(path).exists()) throw new Error(`${path} exists. Name another file.`)
  return writeDurably(path, content, { mode: 0o600 })
}

/**
 * Runs `work` with a temporary folder outside the data folder and removes it afterwards. A data
 * folder has one at a time, so an existing one was left by a dead process and is removed.
 */
export async function withTempFolder<T>(
  dataDir: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const own = `berth-scratch-${sha256(resolve(dataDir)).slice(0, 12)}-`
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(own))
  // Removing another user's folder fails, which is fine.
  await Promise.allSettled(left.map((name) => remove(join(tmpdir(), name))))
  const folder = await mkdtemp(join(tmpdir(), own))
  try {
    return await work(folder)
  } finally {
    await remove(folder)
  }
}

const remove = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })

/** Reads a file that the operator named. Undefined where it is missing or over `bytesMax`. */
export async function readLocalFile(
  path: string,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() && found.size <= bytesMax ? readFile(path) : undefined
}

/** The size of a page on most systems. */
const pageBytes = 4_096

/** Returns the memory that only this process uses; 0 where the system does not tell it. */
export async function readProcessBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')
  const [, resident = 0, shared = 0] = text.split(' ').map(Number)
  return (resident - shared) * pageBytes
}
