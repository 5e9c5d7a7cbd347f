import { mkdirSync, readdirSync, rmSync, statfsSync, statSync, utimesSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { currentClient } from '../kernel/client.ts'
import { ApiError } from '../kernel/errors.ts'
import { newId, sha256 } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { type Clock, isWithin, minute, stopwatch } from '../kernel/time.ts'
import { cannotWrite, isMissing, syncFile, syncFolder, writeDurably } from './durable.ts'
import {
  contentName,
  type FileState,
  type IsReferenced,
  type Storage,
  type StoredContent,
  type SweepResult,
  type Usage,
} from './storage.ts'

/** The clock and log of a disk, and the bytes to leave free on it. */
export interface DiskSpaceOptions {
  /** Bytes to leave free on the disk. Below this, writes fail. */
  freeFloorBytes: number
  clock: Clock
  /** Gets a warning at most once a minute while writes fail. */
  log?: Log
}

/** A reading of the free space is reused for this long, unless it is within the margin. */
const freeBytesCacheMs = 100
const freeBytesMargin = 256 * 1_048_576

/** The reason of `try_again` on a full disk. */
export const diskFull = 'The server has no disk space for new files.'

/** The free space of the disk that a folder is on. */
export class DiskSpace {
  private checkedAt = -Infinity
  private freeBytes = 0
  private warnedAt = -Infinity

  constructor(
    private readonly dir: string,
    private readonly options: DiskSpaceOptions,
  ) {
    if (this.free() < options.freeFloorBytes) this.warnFull()
  }

  free(): number {
    const disk = statfsSync(this.dir)
    return disk.bavail * disk.bsize
  }

  /** Throws `try_again` when `bytes` more would leave less free space than the floor. */
  require(bytes: number): void {
    if (this.take(bytes)) return
    this.warnFull()
    throw new ApiError('try_again', { why: diskFull })
  }

  /** Counts `bytes` as used where they leave the floor free; otherwise returns false. */
  take(bytes: number): boolean {
    const { freeFloorBytes } = this.options
    const isNear = this.freeBytes - bytes < freeFloorBytes + freeBytesMargin
    if (isNear || stopwatch() - this.checkedAt >= freeBytesCacheMs) {
      this.checkedAt = stopwatch()
      this.freeBytes = this.free()
    }
    if (this.freeBytes - bytes < freeFloorBytes) return false
    this.freeBytes -= bytes
    return true
  }

  private warnFull(): void {
    const { clock, log, freeFloorBytes } = this.options
    if (isWithin(clock, this.warnedAt, minute)) return
    this.warnedAt = clock.now()
    log?.warn('disk.full', { freeBytes: this.free(), DISK_FLOOR_BYTES: freeFloorBytes })
  }
}

/** Returns the path of a content in a storage folder. */
export const contentPath = (dir: string, name: string): string => join(dir, name.slice(0, 2), name)

const folderName = /^[0-9a-f]{2}$/
const sweepBatch = 500
/** No write takes longer. */
const writeMsMax = 10 * minute

/**
 * Opens storage in a folder: `<dir>/ab/<sha256>`, where `ab` are the first two digits. With at most
 * 256 folders, a put usually syncs one file and one folder. Unfinished files of killed processes,
 * in `<dir>/tmp`, are removed here. `isShared`: other servers may be writing there.
 */
export async function openDiskStore(
  dir: string,
  options: DiskSpaceOptions,
  isShared = false,
): Promise<Storage> {
  const unfinishedBefore = isShared ? options.clock.now() - writeMsMax : Infinity
  return new DiskStore(dir, options, await readFolders(dir, unfinishedBefore))
}

class DiskStore implements Storage {
  private readonly writing = new Map<string, Promise<void>>()
  private readonly space: DiskSpace

  constructor(
    private readonly dir: string,
    private readonly options: DiskSpaceOptions,
    private readonly folders: Set<string>,
  ) {
    this.space = new DiskSpace(dir, options)
  }

  async put(bytes: Uint8Array): Promise<StoredContent> {
    currentClient().charge('bytes', bytes.byteLength)
    const name = sha256(bytes)
    const running =
      this.writing.get(name) ?? this.write(name, bytes).finally(() => this.writing.delete(name))
    this.writing.set(name, running)
    await running
    return { sha256: name, bytes: bytes.length }
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    if (!contentName.test(name)) return undefined
    return await readFile(this.pathOf(name)).catch(orUndefined)
  }

  async open(name: string): Promise<Blob | undefined> {
    return (await this.has(name)) ? Bun.file(this.pathOf(name)) : undefined
  }

  async has(name: string): Promise<boolean> {
    if (!contentName.test(name)) return false
    return (await stat(this.pathOf(name)).catch(orUndefined)) !== undefined
  }

  async remove(name: string): Promise<void> {
    if (!contentName.test(name) || !this.folders.has(name.slice(0, 2))) return
    rmSync(this.pathOf(name), { force: true })
    await syncFolder(join(this.dir, name.slice(0, 2)))
  }

  async sweep(isReferenced: IsReferenced, olderThanMs: number): Promise<SweepResult> {
    const done: SweepResult = { files: 0, removed: 0, bytes: 0 }
    const before = this.options.clock.now() - olderThanMs
    for await (const names of listContents(this.dir)) {
      done.files += names.length
      const old = names.filter((name) => sizeIfOld(this.pathOf(name), before) !== undefined)
      const referenced = old.length > 0 ? await isReferenced(old) : new Set<string>()
      for (const name of old) {
        const bytes = referenced.has(name) ? undefined : removeIfOld(this.pathOf(name), before)
        if (bytes === undefined) continue
        done.removed += 1
        done.bytes += bytes
      }
    }
    return done
  }

  async usage(): Promise<Usage> {
    const total: Usage = { files: 0, bytes: 0, free: this.free() }
    for await (const names of listContents(this.dir)) {
      for (const name of names) {
        total.files += 1
        total.bytes += (await stat(this.pathOf(name)).catch(orUndefined))?.size ?? 0
      }
    }
    return total
  }

  requireFreeSpace(bytes: number): void {
    this.space.require(bytes)
  }

  free(): number {
    return this.space.free()
  }

  hasFreeSpace(bytes: number, floors: number): boolean {
    return this.free() - bytes >= floors * this.options.freeFloorBytes
  }

  async recover(name: string): Promise<FileState> {
    return (await this.has(name)) ? 'present' : 'missing'
  }

  async problem(): Promise<undefined> {
    return undefined
  }

  private pathOf(name: string): string {
    return contentPath(this.dir, name)
  }

  private async write(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.pathOf(name)
    const now = this.options.clock.now()
    try {
      if (touch(path, now)) return await syncFile(path)
      this.requireFreeSpace(bytes.length)
      await this.makeFolder(name.slice(0, 2))
      const temp = join(this.dir, 'tmp', newId())
      await writeDurably(path, bytes, { temp, changedMs: now })
    } catch (error) {
      if (cannotWrite(error)) throw new ApiError('try_again', { why: diskFull })
      throw error
    }
  }

  /** Creates a folder that survives a power failure. */
  private async makeFolder(folder: string): Promise<void> {
    if (this.folders.has(folder)) return
    mkdirSync(join(this.dir, folder), { recursive: true })
    await syncFolder(this.dir)
    this.folders.add(folder)
  }
}

/** Removes old unfinished files. Returns the folders that exist, synced to disk. */
async function readFolders(dir: string, unfinishedBefore: number): Promise<Set<string>> {
  const temp = join(dir, 'tmp')
  mkdirSync(temp, { recursive: true })
  for (const name of readdirSync(temp)) removeIfOld(join(temp, name), unfinishedBefore)
  const there = readdirSync(dir).filter((name) => folderName.test(name))
  if (there.length > 0) await syncFolder(dir)
  return new Set(there)
}

/** Yields every stored name, in batches of at most `sweepBatch`. */
export async function* listContents(dir: string): AsyncGenerator<string[]> {
  for (const folder of (await readdir(dir)).filter((name) => folderName.test(name))) {
    const names = (await readdir(join(dir, folder))).filter((name) => contentName.test(name))
    for (let at = 0; at < names.length; at += sweepBatch) yield names.slice(at, at + sweepBatch)
  }
}

/** Sets a file's time to now; false when it does not exist. Synchronous, so no sweep intervenes. */
function touch(path: string, nowMs: number): boolean {
  try {
    utimesSync(path, nowMs / 1_000, nowMs / 1_000)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Returns the size of a file last put before a time; undefined when newer or missing. */
function sizeIfOld(path: string, beforeMs: number): number | undefined {
  const file = statSync(path, { throwIfNoEntry: false })
  return file && file.mtimeMs < beforeMs ? file.size : undefined
}

/** Checks and removes synchronously, so a file that a put has just touched stays. */
function removeIfOld(path: string, beforeMs: number): number | undefined {
  const size = sizeIfOld(path, beforeMs)
  if (size !== undefined) rmSync(path, { force: true })
  return size
}

function orUndefined(error: unknown): undefined {
  if (isMissing(error)) return undefined
  throw error
}
