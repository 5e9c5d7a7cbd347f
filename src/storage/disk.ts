import {
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  utimesSync,
} from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { newId, sha256 } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import { type Clock, isWithin, minute, stopwatch } from '../core/time.ts'
import { ApiError } from '../errors.ts'
import { cannotWrite, isMissing, syncFile, syncFolder, writeDurably } from './durable.ts'
import type { IsReferenced, Storage, Stored, Swept, Usage } from './store.ts'

interface DiskOptions {
  /** Bytes that stay free on the disk: below this nothing is written. */
  freeFloorBytes: number
  clock: Clock
  /** Is told, at most once a minute, that nothing is written any more. */
  log?: Log
}

/** Where a content lies in a store's folder. */
export const contentPath = (dir: string, name: string): string => join(dir, name.slice(0, 2), name)

const folderName = /^[0-9a-f]{2}$/
const contentName = /^[0-9a-f]{64}$/
const sweepBatch = 500
/** What was free so long ago is believed, if others cannot have filled so much more meanwhile. */
const believedMs = 100
const filledBytesMax = 256 * 1_048_576
const noRoom = 'There is no room for new files just now.'

/**
 * A store in a folder: `<dir>/ab/<sha256>`, where `ab` are its first two digits. There are at most
 * 256 folders, so that a put soon syncs one file and one folder and nothing else. Unfinished files
 * live in `<dir>/tmp`, so that opening needs to empty that folder alone. One process owns `dir`.
 */
export async function openDiskStore(dir: string, options: DiskOptions): Promise<Storage> {
  const store = new DiskStore(dir, options, await readFolders(dir))
  if (store.free() < options.freeFloorBytes) store.tellFull()
  return store
}

class DiskStore implements Storage {
  private readonly writing = new Map<string, Promise<void>>()
  private lookedAt = -Infinity
  private seen = 0
  private toldAt = -Infinity

  constructor(
    private readonly dir: string,
    private readonly options: DiskOptions,
    private readonly folders: Set<string>,
  ) {}

  async put(bytes: Uint8Array): Promise<Stored> {
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

  async sweep(isReferenced: IsReferenced, olderThanMs: number): Promise<Swept> {
    const done: Swept = { files: 0, removed: 0, bytes: 0 }
    const before = this.options.clock.now() - olderThanMs
    for await (const names of batches(this.dir)) {
      done.files += names.length
      const old = names.filter((name) => sizeIfOld(this.pathOf(name), before) !== undefined)
      const kept = old.length > 0 ? await isReferenced(old) : new Set<string>()
      for (const name of old) {
        const bytes = kept.has(name) ? undefined : removeIfOld(this.pathOf(name), before)
        if (bytes === undefined) continue
        done.removed += 1
        done.bytes += bytes
      }
    }
    return done
  }

  async usage(): Promise<Usage> {
    const total: Usage = { files: 0, bytes: 0, free: this.free() }
    for await (const names of batches(this.dir)) {
      for (const name of names) {
        total.files += 1
        total.bytes += (await stat(this.pathOf(name)).catch(orUndefined))?.size ?? 0
      }
    }
    return total
  }

  checkRoom(bytes: number): void {
    const { freeFloorBytes } = this.options
    const isNear = this.seen - bytes < freeFloorBytes + filledBytesMax
    if (isNear || stopwatch() - this.lookedAt >= believedMs) {
      this.lookedAt = stopwatch()
      this.seen = this.free()
    }
    if (this.seen - bytes < freeFloorBytes) {
      this.tellFull()
      throw new ApiError('try_again', { why: noRoom })
    }
    this.seen -= bytes
  }

  tellFull(): void {
    const { clock, log, freeFloorBytes } = this.options
    if (isWithin(clock, this.toldAt, minute)) return
    this.toldAt = clock.now()
    log?.warn('disk.full', { freeBytes: this.free(), DISK_FLOOR_BYTES: freeFloorBytes })
  }

  free(): number {
    const disk = statfsSync(this.dir)
    return disk.bavail * disk.bsize
  }

  private pathOf(name: string): string {
    return contentPath(this.dir, name)
  }

  private async write(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.pathOf(name)
    const now = this.options.clock.now()
    try {
      if (touch(path, now)) return await syncFile(path)
      this.checkRoom(bytes.length)
      await this.makeFolder(name.slice(0, 2))
      const temp = join(this.dir, 'tmp', newId())
      await writeDurably(path, bytes, { temp, changedMs: now })
    } catch (error) {
      if (cannotWrite(error)) throw new ApiError('try_again', { why: noRoom })
      throw error
    }
  }

  /** Sees that a folder stands, and will after a power cut. */
  private async makeFolder(folder: string): Promise<void> {
    if (this.folders.has(folder)) return
    mkdirSync(join(this.dir, folder), { recursive: true })
    await syncFolder(this.dir)
    this.folders.add(folder)
  }
}

/** Removes files that were never finished; answers the folders that stand, made to last. */
async function readFolders(dir: string): Promise<Set<string>> {
  const temp = join(dir, 'tmp')
  mkdirSync(temp, { recursive: true })
  for (const name of readdirSync(temp)) rmSync(join(temp, name), { force: true })
  const there = readdirSync(dir).filter((name) => folderName.test(name))
  if (there.length > 0) await syncFolder(dir)
  return new Set(there)
}

/** Every name in the store, a bounded number at a time. */
async function* batches(dir: string): AsyncGenerator<string[]> {
  for (const folder of (await readdir(dir)).filter((name) => folderName.test(name))) {
    const names = (await readdir(join(dir, folder))).filter((name) => contentName.test(name))
    for (let at = 0; at < names.length; at += sweepBatch) yield names.slice(at, at + sweepBatch)
  }
}

/** Marks a file as put now; false when there is none. One step, so no sweep comes between. */
function touch(path: string, nowMs: number): boolean {
  try {
    utimesSync(path, nowMs / 1_000, nowMs / 1_000)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** The size of a file last put before a moment; undefined for a younger or a missing one. */
function sizeIfOld(path: string, beforeMs: number): number | undefined {
  const file = statSync(path, { throwIfNoEntry: false })
  return file && file.mtimeMs < beforeMs ? file.size : undefined
}

/** Looks and removes in one step: a put that touched the file meanwhile keeps it. */
function removeIfOld(path: string, beforeMs: number): number | undefined {
  const size = sizeIfOld(path, beforeMs)
  if (size !== undefined) unlinkSync(path)
  return size
}

function orUndefined(error: unknown): undefined {
  if (isMissing(error)) return undefined
  throw error
}
