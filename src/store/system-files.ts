import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { sha256 } from '../kernel/ids.ts'

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
