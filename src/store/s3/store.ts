import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { currentClient } from '../../kernel/client.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { sha256 } from '../../kernel/ids.ts'
import { Cache } from '../../kernel/lazy.ts'
import type { Log } from '../../kernel/log.ts'
import { type Clock, minute } from '../../kernel/time.ts'
import { contentPath, type DiskSpaceOptions, listContents } from '../disk.ts'
import { isMissing } from '../durable.ts'
import {
  contentName,
  type FileState,
  type IsReferenced,
  type Storage,
  type StoredContent,
  type SweepResult,
  type Usage,
} from '../storage.ts'
import {
  type Bucket,
  S3Client,
  S3Error,
  s3PartBytes,
  startProblem,
  wrongContent,
} from './client.ts'
import { FileCache } from './file-cache.ts'
import {
  abortOldUploads,
  changedMsOf,
  copyObject,
  deleteObject,
  keyOf,
  type ListedObject,
  listObjects,
  probe,
  putObject,
  trashKeyOf,
} from './objects.ts'

/** Options of a store: the bucket, and the folder and size of its local cache. */
interface S3StoreOptions extends Bucket {
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

/**
 * Brings content back that the bucket lacks: from the trash, or from its last version where the
 * bucket has versions.
 */
async function recoverObject(client: S3Client, name: string): Promise<FileState> {
  if ((await changedMsOf(client, keyOf(name))) !== undefined) return 'present'
  if (await copyObject(client, trashKeyOf(name), keyOf(name))) return 'recovered'
  const version = await findVersion(client, keyOf(name))
  if (version === undefined) return 'missing'
  return (await copyObject(client, keyOf(name), keyOf(name), version)) ? 'recovered' : 'missing'
}

/** Returns the newest version of a deleted object; undefined in a bucket without versions. */
async function findVersion(client: S3Client, key: string): Promise<string | undefined> {
  const query = { versions: '', prefix: client.prefix + key }
  try {
    const xml = await client.attempt({ method: 'GET', key: '', query }, (response) =>
      response.text(),
    )
    const [block = ''] = /<Version>.*?<\/Version>/s.exec(xml) ?? []
    return /<VersionId>([^<]+)</.exec(block)?.[1]
  } catch (error) {
    const isUnsupported = error instanceof S3Error && (error.status === 501 || error.status === 400)
    if (isUnsupported) return undefined
    throw error
  }
}

/**
 * Removes unreferenced content of a bucket in two steps. The first moves it to the trash, from
 * where a read brings it back: another process may have put it between the check and the deletion.
 * The second, in a sweep after the same age, restores what a row references by then and deletes
 * the rest. Sweeps of several processes may overlap.
 */
async function sweepBucket(
  client: S3Client,
  isReferenced: IsReferenced,
  before: number,
): Promise<SweepResult> {
  const done: SweepResult = { files: 0, removed: 0, bytes: 0 }
  for await (const page of listObjects(client, keyOf(''))) {
    const contents = page.filter(({ name }) => contentName.test(name))
    done.files += contents.length
    const old = contents.filter(({ changedMs }) => changedMs < before)
    for (const { name, bytes } of (await split(old, isReferenced)).unreferenced) {
      if (!(await discard(client, name, before))) continue
      done.removed += 1
      done.bytes += bytes
    }
  }
  for await (const page of listObjects(client, trashKeyOf(''))) {
    const old = page.filter(({ name, changedMs }) => contentName.test(name) && changedMs < before)
    const { referenced, unreferenced } = await split(old, isReferenced)
    for (const { name } of referenced) await restore(client, name)
    for (const { name } of [...referenced, ...unreferenced]) {
      await deleteObject(client, trashKeyOf(name))
    }
  }
  await abortOldUploads(client, before)
  return done
}

async function split(objects: ListedObject[], isReferenced: IsReferenced) {
  const names = objects.map(({ name }) => name)
  const found = names.length > 0 ? await isReferenced(names) : new Set<string>()
  return {
    referenced: objects.filter(({ name }) => found.has(name)),
    unreferenced: objects.filter(({ name }) => !found.has(name)),
  }
}

/** Moves content to the trash, unless it was put again since the listing. */
async function discard(client: S3Client, name: string, before: number): Promise<boolean> {
  const changedMs = await changedMsOf(client, keyOf(name))
  if (changedMs === undefined || changedMs >= before) return false
  if (!(await copyObject(client, keyOf(name), trashKeyOf(name)))) return false
  await deleteObject(client, keyOf(name))
  return true
}

/** Copies content back from the trash, unless it is there. */
async function restore(client: S3Client, name: string): Promise<boolean> {
  if ((await changedMsOf(client, keyOf(name))) !== undefined) return true
  return copyObject(client, trashKeyOf(name), keyOf(name))
}

/** Returns the bucket of the settings. */
export const bucketOf = (config: Config): Bucket => ({
  endpoint: config.s3Endpoint,
  bucket: config.s3Bucket,
  region: config.s3Region,
  accessKeyId: config.s3AccessKeyId,
  secretAccessKey: config.s3SecretAccessKey,
  prefix: config.s3Prefix,
  pathStyle: config.s3PathStyle,
})

/** Opens storage in the bucket of the settings, with its cache in the data folder. */
export const openBucket = (config: Config, options: DiskSpaceOptions): Promise<Storage> =>
  openS3Store({
    ...bucketOf(config),
    ...options,
    cacheDir: join(config.dataDir, 's3-cache'),
    cacheBytes: config.s3CacheBytes,
  })

/** Files that were copied, that were there, and the names of damaged ones, which were not. */
export interface CopyToBucketResult {
  copied: number
  skipped: number
  damaged: string[]
}

const atOnce = 8

/**
 * Copies the files of the data folder into the bucket of the settings. Each is hashed when it is
 * read, and the store checks the same hash. Files that the bucket has in the same size are skipped.
 */
export async function copyToBucket(
  config: Config,
  parts: { clock: Clock },
): Promise<CopyToBucketResult> {
  const client = new S3Client(bucketOf(config), parts)
  await probe(client).catch((error: unknown) => {
    throw startProblem(error, bucketOf(config))
  })
  const there = new Map<string, number>()
  for await (const page of listObjects(client, keyOf(''))) {
    for (const { name, bytes } of page) if (contentName.test(name)) there.set(name, bytes)
  }
  const result: CopyToBucketResult = { copied: 0, skipped: 0, damaged: [] }
  const dir = join(config.dataDir, 'files')
  for await (const names of listContents(dir)) {
    for (let at = 0; at < names.length; at += atOnce) {
      await Promise.all(names.slice(at, at + atOnce).map((name) => copyOne(name)))
    }
  }
  return result

  async function copyOne(name: string): Promise<void> {
    const path = contentPath(dir, name)
    if (there.get(name) === Bun.file(path).size) return void (result.skipped += 1)
    const bytes = await readFile(path).catch((error: unknown) => {
      // A running server removed it.
      if (isMissing(error)) return undefined
      throw error
    })
    if (!bytes) return
    if (sha256(bytes) !== name) return void result.damaged.push(name)
    await putObject(client, keyOf(name), bytes, name)
    result.copied += 1
  }
}
