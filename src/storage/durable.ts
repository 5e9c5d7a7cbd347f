import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

import { newId } from '../core/ids.ts'
import { errorCodeOf } from '../core/text.ts'

/** How a file is written: where until it is whole, and what it gets besides its bytes. */
interface Way {
  temp?: string
  /** Permission bits. */
  mode?: number
  /** Its time of change, in milliseconds. */
  changedMs?: number
}

/** Makes what a folder lists survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Makes a file that stands already, and its place in its folder, survive a power cut. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.datasync()
  } finally {
    await file.close()
  }
  await syncFolder(dirname(path))
}

/**
 * Writes `bytes` to `path` so that a reader sees all of them or none, and that they survive a power
 * cut once the promise answers. `temp` lies on the same file system and is gone in every case.
 */
export async function writeDurably(
  path: string,
  bytes: Uint8Array,
  { temp = `${path}.${newId()}`, mode = 0o644, changedMs }: Way = {},
): Promise<void> {
  try {
    const file = await open(temp, 'wx', mode)
    try {
      await file.writeFile(bytes)
      if (changedMs !== undefined) await file.utimes(changedMs / 1_000, changedMs / 1_000)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(temp, path)
  } catch (error) {
    await unlink(temp).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(path))
}

const fullOrShut = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM'])

/** Whether an error of the file system means "no room" or "not allowed to write". */
export const cannotWrite = (error: unknown): boolean => fullOrShut.has(errorCodeOf(error))

const full = new Set(['ENOSPC', 'EDQUOT'])

/** Whether there was no room on a disk: for a file, or for a database in the words of SQLite. */
export const isFull = (error: unknown): boolean =>
  full.has(errorCodeOf(error)) ||
  (error instanceof Error && error.message.includes('database or disk is full'))

/** Whether an error of the file system means that there is no such file. */
export const isMissing = (error: unknown): boolean => errorCodeOf(error) === 'ENOENT'
