import { mkdirSync, rmSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { LRUCache } from 'lru-cache'

import { newId } from '../../kernel/ids.ts'
import { second } from '../../kernel/time.ts'
import { hashFile } from '../backups.ts'
import { contentPath, DiskSpace, type DiskSpaceOptions, listContents } from '../disk.ts'
import { s3CachedFilesMax, wrongContent } from './client.ts'

/** A response may still open a file that was handed to it, so files outlive their entry. */
const unlinkAfterMs = 30 * second

interface Entry {
  bytes: number
  /** False for a file of an earlier process, which may have been cut off by a power failure. */
  isVerified: boolean
}

/**
 * Files of a bucket in a local folder, by the hash of their content. Past its bytes the file that
 * was used longest ago goes. It may be emptied at any time, and writes to it are not synced.
 */
export class FileCache {
  private readonly entries: LRUCache<string, Entry>
  private readonly space: DiskSpace

  private constructor(
    private readonly dir: string,
    bytesMax: number,
    options: DiskSpaceOptions,
  ) {
    this.space = new DiskSpace(dir, options)
    this.entries = new LRUCache<string, Entry>({
      max: s3CachedFilesMax,
      maxSize: bytesMax,
      sizeCalculation: ({ bytes }) => Math.max(1, bytes),
      noDisposeOnSet: true,
      dispose: (_entry, name) => this.unlinkLater(name),
    })
  }

  /** Opens a cache. It keeps the files of an earlier process, the oldest first to go. */
  static async open(dir: string, bytesMax: number, options: DiskSpaceOptions): Promise<FileCache> {
    rmSync(join(dir, 'tmp'), { recursive: true, force: true })
    mkdirSync(join(dir, 'tmp'), { recursive: true })
    const cache = new FileCache(dir, bytesMax, options)
    const found: { name: string; bytes: number; at: number }[] = []
    for await (const names of listContents(dir)) {
      for (const name of names) {
        const file = await stat(contentPath(dir, name))
        found.push({ name, bytes: file.size, at: file.mtimeMs })
      }
    }
    for (const { name, bytes } of found.toSorted((one, other) => one.at - other.at)) {
      cache.entries.set(name, { bytes, isVerified: false })
      if (!cache.entries.has(name)) await unlink(contentPath(dir, name))
    }
    return cache
  }

  /** Returns the bytes free on the disk of the cache. */
  free(): number {
    return this.space.free()
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    if (!(await this.find(name))) return undefined
    // A file that someone removed is missing from the cache, and not from the storage.
    return await readFile(contentPath(this.dir, name)).catch(() => this.forget(name))
  }

  async open(name: string): Promise<Blob | undefined> {
    if (!(await this.find(name))) return undefined
    const file = Bun.file(contentPath(this.dir, name))
    return (await file.exists()) ? file : this.forget(name)
  }

  /** Writes content that was verified, unless the disk has no space for it. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    if (this.entries.has(name) || !this.space.take(bytes.length)) return
    await this.place(name, bytes.length, (temp) => writeFile(temp, bytes, { flag: 'wx' }))
  }

  /**
   * Writes content as it arrives. Throws an S3Error and keeps nothing where it differs from its
   * name; throws `try_again` without disk space.
   */
  async writeStream(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const hasher = new Bun.CryptoHasher('sha256')
    let bytes = 0
    const temp = join(this.dir, 'tmp', newId())
    try {
      const file = await open(temp, 'wx')
      try {
        for await (const chunk of chunks) {
          this.space.require(chunk.length)
          hasher.update(chunk)
          bytes += chunk.length
          await file.writeFile(chunk)
        }
      } finally {
        await file.close()
      }
      if (hasher.digest('hex') !== name) throw wrongContent(name)
      await this.place(name, bytes, () => Promise.resolve(), temp)
    } finally {
      await rm(temp, { force: true })
    }
  }

  async remove(name: string): Promise<void> {
    this.entries.delete(name)
    await rm(contentPath(this.dir, name), { force: true })
  }

  private async place(
    name: string,
    bytes: number,
    write: (temp: string) => Promise<void>,
    temp = join(this.dir, 'tmp', newId()),
  ): Promise<void> {
    try {
      await write(temp)
      await mkdir(join(this.dir, name.slice(0, 2)), { recursive: true })
      await rename(temp, contentPath(this.dir, name))
    } catch (error) {
      await rm(temp, { force: true })
      throw error
    }
    this.entries.set(name, { bytes, isVerified: true })
    if (!this.entries.has(name)) this.unlinkLater(name)
  }

  /** Returns whether the cache has a file. The first use of an earlier process's file hashes it. */
  private async find(name: string): Promise<boolean> {
    const entry = this.entries.get(name)
    if (!entry || entry.isVerified) return entry !== undefined
    const hash = await hashFile(contentPath(this.dir, name)).catch(() => '')
    if (hash === name) {
      entry.isVerified = true
      return true
    }
    await this.remove(name)
    return false
  }

  private forget(name: string): undefined {
    this.entries.delete(name)
  }

  private unlinkLater(name: string): void {
    const unlinkUnused = (): void => {
      if (!this.entries.has(name)) rmSync(contentPath(this.dir, name), { force: true })
    }
    setTimeout(unlinkUnused, unlinkAfterMs).unref()
  }
}
