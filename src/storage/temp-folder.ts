import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { sha256 } from '../core/ids.ts'

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
