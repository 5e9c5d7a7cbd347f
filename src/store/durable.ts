import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

import { newId } from '../kernel/ids.ts'
import { errorCodeOf } from '../kernel/text.ts'

/** Options of `writeDurably`: the temporary path, and the file's mode and time. */
interface WriteOptions {
  temp?: string
  /** Permission bits. */
  mode?: number
  /** Modification time, in milliseconds since 1970. */
  changedMs?: number
}

/** Syncs a folder's entries, so that they survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Syncs an existing file and its folder entry. */
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
 * Writes a file at `path` atomically: a reader sees all of it or nothing. It survives a power
 * failure once the promise resolves to its bytes. `temp` must be on the same file system and is
 * always removed.
 */
export async function writeDurably(
  path: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  { temp = `${path}.${newId()}`, mode = 0o644, changedMs }: WriteOptions = {},
): Promise<number> {
  let bytes = 0
  try {
    const file = await open(temp, 'wx', mode)
    try {
      for await (const piece of content instanceof Uint8Array ? [content] : content) {
        await file.writeFile(piece)
        bytes += piece.byteLength
      }
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
  return bytes
}

const notWritable = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM'])

/** Returns whether a file system error means a full disk or no permission to write. */
export const cannotWrite = (error: unknown): boolean => notWritable.has(errorCodeOf(error))

const full = new Set(['ENOSPC', 'EDQUOT'])

/** Returns whether a disk was full, for a file or for SQLite. */
export const isFull = (error: unknown): boolean =>
  full.has(errorCodeOf(error)) ||
  (error instanceof Error && error.message.includes('database or disk is full'))

/** Returns whether a file system error means that the file does not exist. */
export const isMissing = (error: unknown): boolean => errorCodeOf(error) === 'ENOENT'
