import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { sha256 } from '../core/ids.ts'

/**
 * Lends the owner of a data folder a folder outside it, which is gone with all that is in it once
 * `work` is done. It has one at a time: another that is there was left by a process that died.
 */
export async function withScratch<T>(
  dataDir: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const own = `berth-scratch-${sha256(resolve(dataDir)).slice(0, 12)}-`
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(own))
  // One that somebody else made is theirs to remove.
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
