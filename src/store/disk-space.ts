import { statfsSync } from 'node:fs'

import { ApiError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { type Clock, isWithin, minute, stopwatch } from '../kernel/time.ts'

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
