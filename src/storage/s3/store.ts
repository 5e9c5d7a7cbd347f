import { Cache } from '../../core/cache.ts'
import { currentClient } from '../../core/client.ts'
import { sha256 } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import { type Clock, minute } from '../../core/time.ts'
import {
  contentName,
  type FileState,
  type IsReferenced,
  type Storage,
  type StoredContent,
  type SweepResult,
  type Usage,
} from '../storage.ts'
import { type Bucket, S3Client, wrongContent } from './client.ts'
import { FileCache } from './file-cache.ts'
import { s3PartBytes } from './limits.ts'
import {
  changedMsOf,
  copyObject,
  deleteObject,
  keyOf,
  listObjects,
  probe,
  putObject,
  trashKeyOf,
} from './objects.ts'
import { recoverObject } from './recover.ts'
import { startProblem } from './start-problem.ts'
import { sweepBucket } from './sweep.ts'

/** Options of a store: the bucket, and the folder and size of its local cache. */
export interface S3StoreOptions extends Bucket {
  cacheDir: string
  cacheBytes: number
  freeFloorBytes: number
  clock: Clock
  log?: Log
}

/** Content that this process put a moment ago is not put again. Far below the age of a sweep. */
const recentMs = 10 * minute
const recentMax = 10_000

/**
 * Opens storage in a bucket of an S3-compatible store, with a cache in a local folder. Any number
 * of processes may use a bucket. Throws an Error that says why the bucket cannot be used.
 */
export async function openS3Store(options: S3StoreOptions): Promise<Storage> {
  const client = new S3Client(options, options)
  await probe(client).catch((error: unknown) => {
    throw startProblem(error, options)
  })
  const cache = await FileCache.open(options.cacheDir, options.cacheBytes, options)
  return new S3Store(client, cache, options)
}

/** Verified bytes; "cached" for a large file, which went to the cache. */
type Download = Uint8Array | 'cached'

class S3Store implements Storage {
  private readonly uploads = new Map<string, Promise<void>>()
  private readonly downloads = new Map<string, Promise<Download | undefined>>()
  private readonly recent: Cache<true>

  constructor(
    private readonly client: S3Client,
    private readonly cache: FileCache,
    private readonly options: S3StoreOptions,
  ) {
    this.recent = new Cache<true>(recentMax, { clock: options.clock, ms: recentMs })
  }

  async put(bytes: Uint8Array): Promise<StoredContent> {
    currentClient().charge('bytes', bytes.byteLength)
    const name = sha256(bytes)
    if (!this.recent.get(name)) await share(this.uploads, name, () => this.upload(name, bytes))
    return { sha256: name, bytes: bytes.length }
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    if (!contentName.test(name)) return undefined
    const cached = await this.cache.read(name)
    if (cached) return cached
    const found = await share(this.downloads, name, () => this.download(name))
    return found === 'cached' ? this.cache.read(name) : found
  }

  async open(name: string): Promise<Blob | undefined> {
    if (!contentName.test(name)) return undefined
    const cached = await this.cache.open(name)
    if (cached) return cached
    const found = await share(this.downloads, name, () => this.download(name))
    if (found === undefined) return undefined
    // The cache has the file, unless its disk is full.
    const again = await this.cache.open(name)
    return found === 'cached' ? again : (again ?? new Blob([new Uint8Array(found)]))
  }

  async has(name: string): Promise<boolean> {
    if (!contentName.test(name)) return false
    return (await changedMsOf(this.client, keyOf(name))) !== undefined
  }

  async remove(name: string): Promise<void> {
    if (!contentName.test(name)) return
    this.recent.delete(name)
    await this.cache.remove(name)
    await deleteObject(this.client, keyOf(name))
    await deleteObject(this.client, trashKeyOf(name))
  }

  sweep(isReferenced: IsReferenced, olderThanMs: number): Promise<SweepResult> {
    const before = this.options.clock.now() - olderThanMs
    return sweepBucket(this.client, isReferenced, before)
  }

  async usage(): Promise<Usage> {
    const total: Usage = { files: 0, bytes: 0, free: this.free() }
    for await (const page of listObjects(this.client, keyOf(''))) {
      for (const { bytes } of page.filter(({ name }) => contentName.test(name))) {
        total.files += 1
        total.bytes += bytes
      }
    }
    return total
  }

  free(): number {
    return this.cache.free()
  }

  hasFreeSpace(): boolean {
    return true
  }

  requireFreeSpace(): void {
    // A bucket has no limit, and the cache checks the space of its disk.
  }

  recover(name: string): Promise<FileState> {
    return recoverObject(this.client, name)
  }

  async problem(): Promise<string | undefined> {
    // Unlike HEAD, an error of GET has a reason.
    const request = { method: 'GET', key: 'check' } as const
    await this.client.send(request, (response) => response.text(), 1).catch(() => undefined)
    return this.client.problem
  }

  private async upload(name: string, bytes: Uint8Array): Promise<void> {
    await putObject(this.client, keyOf(name), bytes, name)
    this.recent.set(name, true)
    await this.keep(name, bytes)
  }

  /** Downloads content, if a sweep moved it to the trash from there. */
  private async download(name: string): Promise<Download | undefined> {
    const found = await this.fetch(name)
    if (found) return found
    const isRestored = await copyObject(this.client, trashKeyOf(name), keyOf(name))
    return isRestored ? this.fetch(name) : undefined
  }

  /** Fetches and verifies content. */
  private async fetch(name: string): Promise<Download | undefined> {
    const request = { method: 'GET', key: keyOf(name) } as const
    const found = await this.client.send<Download>(request, async (response) => {
      const { headers, body } = response
      const length = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
      if (length > s3PartBytes && body) {
        await this.cache.writeStream(name, body)
        return 'cached'
      }
      const bytes = await response.bytes()
      if (sha256(bytes) !== name) throw wrongContent(name)
      return bytes
    })
    if (found !== undefined && found !== 'cached') await this.keep(name, found)
    return found
  }

  /** Writes verified content to the cache. The storage works without. */
  private async keep(name: string, bytes: Uint8Array): Promise<void> {
    await this.cache
      .write(name, bytes)
      .catch((error: unknown) => this.options.log?.error('s3.cache', error))
  }
}

/** Runs work for a name once at a time: callers that come meanwhile share its result. */
function share<Result>(
  running: Map<string, Promise<Result>>,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const known = running.get(name)
  if (known) return known
  const result = work().finally(() => running.delete(name))
  running.set(name, result)
  return result
}
