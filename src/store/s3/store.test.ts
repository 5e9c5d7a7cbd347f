/** Storage in a bucket, against OpenStack Swift behind a proxy that injects faults. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { sha256 } from '../../kernel/ids.ts'
import { openLog } from '../../kernel/log.ts'
import { hour, minute, systemClock } from '../../kernel/time.ts'
import { hang, s3Error, type S3Proxy, startS3Proxy } from '../../testing/fixtures/s3-proxy.ts'
import { hasS3Server, type S3Server, startS3Server } from '../../testing/fixtures/s3-server.ts'
import { testStorage } from '../../testing/fixtures/storage-suite.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { contentPath, diskFull } from '../disk.ts'
import type { Storage } from '../storage.ts'
import { type Bucket, bucketUrl, mb, S3Client, s3PartBytes } from './client.ts'
import { openS3Store } from './store.ts'

const start = systemClock.now()
const clock = { ms: start, now: () => clock.ms }
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const none = async () => new Set<string>()

let server: S3Server
let proxy: S3Proxy
let bucket: Bucket
let store: Storage
let lines: Record<string, unknown>[] = []
let folders: ReturnType<typeof temporaryFolder>[] = []
const log = openLog(clock, (line) => void lines.push(JSON.parse(line)))

/** Opens the bucket as another process does, with a cache of its own. */
async function open(
  more: Partial<Bucket> & { cacheBytes?: number; cacheDir?: string; freeFloorBytes?: number } = {},
) {
  const folder = temporaryFolder('berth-s3-')
  folders.push(folder)
  const cache = { cacheDir: join(folder.path, 'cache'), cacheBytes: 256 * mb }
  return openS3Store({ ...bucket, ...cache, freeFloorBytes: 0, clock, log, ...more })
}

describe.skipIf(!hasS3Server)('in a bucket', () => {
  beforeAll(async () => {
    server = await startS3Server()
    proxy = startS3Proxy(server.url, clock)
  })
  afterAll(async () => {
    await proxy?.stop()
    await server?.stop()
  })
  beforeEach(async () => {
    clock.ms = start
    lines = []
    // A busy machine takes longer than the limit of production.
    bucket = { ...(await server.createBucket(proxy.url)), attemptMs: 30_000 }
    store = await open()
  })
  afterEach(() => {
    proxy.inject = undefined
    for (const folder of folders.splice(0)) folder.remove()
  })

  testStorage(async () => ({ store, reopen: open, clock }))

  const objectRequests = () => proxy.requests.filter((one) => one.includes('/files/'))

  test('reads content of this process and verified content without the bucket', async () => {
    const { sha256: name } = await store.put(bytesOf('near'))
    const other = await open()
    await other.read(name)
    proxy.requests = []
    await Promise.all([
      store.read(name),
      other.read(name),
      other.open(name),
      store.put(bytesOf('near')),
    ])
    expect(objectRequests()).toEqual([])
  })

  test('keeps its cache over a restart and replaces damaged files in it', async () => {
    const cacheDir = join(folders.at(-1)?.path ?? '', 'cache')
    const names = await Promise.all(['one', 'two'].map((text) => store.put(bytesOf(text))))
    const [one, two] = names.map(({ sha256 }) => sha256)
    writeFileSync(contentPath(cacheDir, one ?? ''), 'cut')
    writeFileSync(join(cacheDir, 'tmp', 'unfinished'), 'x')
    const again = await open({ cacheDir })
    proxy.requests = []
    expect(Buffer.from((await again.read(one ?? '')) ?? '').toString()).toBe('one')
    expect(Buffer.from((await again.read(two ?? '')) ?? '').toString()).toBe('two')
    expect(objectRequests()).toEqual([`GET /${bucket.bucket}/files/${one}`])
    expect(readdirSync(join(cacheDir, 'tmp'))).toEqual([])
  })

  test('uploads large content in parts, streams it back and forgets it past the bound', async () => {
    const large = new Uint8Array(2 * s3PartBytes + 5).fill(3)
    const { sha256: name } = await store.put(large)
    expect(proxy.requests.filter((one) => one.includes('partNumber='))).toHaveLength(3)
    const cacheBytes = large.length + 10
    const other = await open({ cacheBytes })
    const blob = await other.open(name)
    expect(blob?.size).toBe(large.length)
    expect(await blob?.slice(-6).bytes()).toEqual(large.slice(-6))
    expect(sha256((await other.read(name)) ?? '')).toBe(name)
    const { sha256: next } = await other.put(new Uint8Array(100))
    proxy.requests = []
    expect(await other.read(next)).toHaveLength(100)
    expect(objectRequests()).toEqual([])
    expect(await other.read(name)).toHaveLength(large.length)
    expect(objectRequests()).toEqual([`GET /${bucket.bucket}/files/${name}`])
  }, 60_000)

  test('try_again: the disk of the cache is full, which is no problem of the bucket', async () => {
    const { sha256: large } = await store.put(new Uint8Array(s3PartBytes + 1))
    const { sha256: small } = await store.put(bytesOf('small'))
    const other = await open({ freeFloorBytes: Number.MAX_SAFE_INTEGER })
    proxy.requests = []
    const rejection = await other.read(large).catch((error) => error)
    expect(rejection).toMatchObject({ errorName: 'try_again', details: [{ why: diskFull }] })
    expect(objectRequests()).toEqual([`GET /${bucket.bucket}/files/${large}`])
    expect(await other.read(small)).toEqual(bytesOf('small'))
    expect(await other.problem()).toBeUndefined()
  })

  test('a failed part aborts the upload and stores nothing', async () => {
    proxy.inject = (request) =>
      request.url.includes('partNumber=2') ? s3Error(503, 'SlowDown') : undefined
    const rejection = await store.put(new Uint8Array(s3PartBytes + 1)).catch((error) => error)
    expect(rejection).toMatchObject({ errorName: 'try_again' })
    proxy.inject = undefined
    expect(await store.usage()).toMatchObject({ files: 0 })
    expect(proxy.requests.some((one) => /^DELETE .*uploadId=/.test(one))).toBe(true)
  }, 60_000)

  test('repeats requests after errors that pass', async () => {
    let errors = 0
    proxy.inject = () =>
      ++errors <= 2 ? s3Error(errors === 1 ? 503 : 400, 'RequestTimeout') : undefined
    const { sha256: name } = await store.put(bytesOf('third time'))
    const other = await open()
    errors = 0
    expect(await other.read(name)).toHaveLength(10)
    expect(lines).toEqual([])
  })

  test('try_again: the store answers 503, then it recovers', async () => {
    const { sha256: kept } = await store.put(bytesOf('kept'))
    const other = await open()
    proxy.inject = () => s3Error(503, 'ServiceUnavailable')
    proxy.requests = []
    const all = [store.put(bytesOf('new')), other.read(kept), other.open(kept), store.has(kept)]
    for (const result of await Promise.allSettled(all)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { errorName: 'try_again' } })
    }
    expect(await store.problem()).toBe('ServiceUnavailable: Injected.')
    expect(Buffer.from((await store.read(kept)) ?? '').toString()).toBe('kept')
    expect(proxy.requests.length).toBeLessThanOrEqual(4 * 3 + 1)
    expect(lines[0]).toMatchObject({ level: 'error', event: 's3.failed' })
    proxy.inject = undefined
    expect(await store.problem()).toBeUndefined()
    await store.put(bytesOf('new'))
    expect(await store.usage()).toMatchObject({ files: 2 })
  })

  test('try_again: the store hangs', async () => {
    const client = new S3Client({ ...bucket, attemptMs: 1_000 }, { clock })
    const get = () => client.send({ method: 'GET', key: 'check' }, (response) => response.text())
    proxy.inject = hang
    proxy.requests = []
    await expect(get()).rejects.toMatchObject({ errorName: 'try_again' })
    expect(proxy.requests).toHaveLength(3)
    await expect(get()).rejects.toMatchObject({ errorName: 'try_again' })
    expect(proxy.requests).toHaveLength(4)
    expect(client.problem).toContain('did not respond in time')
  })

  test('has the bucket in the path, or in the host', () => {
    const aws = { ...bucket, endpoint: 'https://s3.eu-central-1.amazonaws.com', bucket: 'files' }
    expect(bucketUrl(aws)).toBe('https://s3.eu-central-1.amazonaws.com/files/')
    const inHost = 'https://files.s3.eu-central-1.amazonaws.com/'
    expect(bucketUrl({ ...aws, pathStyle: false })).toBe(inHost)
  })

  test('try_again: the store lies about content, and the lie is neither served nor kept', async () => {
    const { sha256: small } = await store.put(bytesOf('true'))
    const { sha256: large } = await store.put(new Uint8Array(s3PartBytes + 1))
    const other = await open()
    proxy.inject = (request, path) =>
      request.method === 'GET' && path.includes('/files/')
        ? async (from) => {
            const bytes = await from.bytes()
            bytes[1] = 120
            return new Response(bytes)
          }
        : undefined
    await expect(other.read(small)).rejects.toMatchObject({ errorName: 'try_again' })
    await expect(other.open(large)).rejects.toMatchObject({ errorName: 'try_again' })
    expect(JSON.stringify(lines)).toContain('wrong content')
    proxy.inject = undefined
    expect(Buffer.from((await other.read(small)) ?? '').toString()).toBe('true')
    expect(sha256((await other.read(large)) ?? '')).toBe(large)
  }, 60_000)

  test('the store rejects an upload that was changed on the way', async () => {
    let isChanged = false
    proxy.inject = (request) => {
      if (request.method !== 'PUT' || isChanged) return undefined
      isChanged = true
      const headers = new Headers(request.headers)
      headers.set('host', new URL(proxy.url).host)
      const { pathname } = new URL(request.url)
      return fetch(server.url + pathname, { method: 'PUT', headers, body: 'forge' })
    }
    const { sha256: name } = await store.put(bytesOf('truth'))
    expect(isChanged).toBe(true)
    const other = await open()
    expect(Buffer.from((await other.read(name)) ?? '').toString()).toBe('truth')
  })

  test('a read brings back content that a sweep discarded, and the next sweep keeps it', async () => {
    const { sha256: name } = await store.put(bytesOf('needed'))
    clock.ms += 2 * hour
    expect(await store.sweep(none, hour)).toMatchObject({ removed: 1 })
    expect(await store.has(name)).toBe(false)
    const other = await open()
    expect(Buffer.from((await other.read(name)) ?? '').toString()).toBe('needed')
    expect(await store.has(name)).toBe(true)
  })

  test('content that is put while a sweep deletes it is not lost', async () => {
    const { sha256: name } = await store.put(bytesOf('contested'))
    const [second, third] = [await open(), await open()]
    clock.ms += 2 * hour
    let isPut = false
    proxy.inject = (request, path) => {
      if (request.method !== 'DELETE' || !path.endsWith(`/files/${name}`) || isPut) return undefined
      isPut = true
      // The sweep has checked the content and copied it: now another process puts it.
      const put = second.put(bytesOf('contested'))
      return async (response) => {
        await put
        return response
      }
    }
    const rows = async () => new Set(isPut ? [name] : [])
    await store.sweep(rows, hour)
    expect(isPut).toBe(true)
    proxy.inject = undefined
    // Whichever of the two came first, the object is deleted now.
    const client = new S3Client({ ...bucket, endpoint: server.url }, { clock })
    await client.send({ method: 'DELETE', key: `files/${name}` }, async () => true)
    expect(Buffer.from((await third.read(name)) ?? '').toString()).toBe('contested')
    clock.ms += 2 * hour
    await store.sweep(rows, hour)
    const fourth = await open()
    expect(await fourth.read(name)).toHaveLength(9)
  })

  test('a sweep ends uploads that a dead process began', async () => {
    const client = new S3Client({ ...bucket, endpoint: server.url }, { clock })
    const key = `files/${sha256('half')}`
    const query = { uploads: '' }
    await client.send({ method: 'POST', key, query }, async () => true)
    const list = () =>
      client.send({ method: 'GET', key: '', query }, async (response) => response.text())
    await store.sweep(none, hour)
    expect(await list()).toContain('<Upload>')
    clock.ms += 2 * hour
    await store.sweep(none, hour)
    expect(await list()).not.toContain('<Upload>')
  })

  test('the second sweep restores what a row references by then and deletes the rest', async () => {
    const { sha256: late } = await store.put(bytesOf('late row'))
    const { sha256: orphan } = await store.put(bytesOf('orphan'))
    clock.ms += 2 * hour
    expect(await store.sweep(none, hour)).toMatchObject({ removed: 2 })
    expect(await store.sweep(none, hour)).toMatchObject({ files: 0, removed: 0 })
    clock.ms += 2 * hour
    await store.sweep(async () => new Set([late]), hour)
    expect(await store.has(late)).toBe(true)
    const other = await open()
    expect(await other.read(orphan)).toBeUndefined()
    expect(await store.usage()).toMatchObject({ files: 1 })
  })

  test('a sweep reads listings of several pages in bounded batches', async () => {
    proxy.inject = (request) => {
      const isListing = request.url.includes('prefix=files')
      return isListing
        ? listing(new URL(request.url).searchParams.get('start-after') ?? '')
        : undefined
    }
    const sizes: number[] = []
    const all = async (names: string[]) => {
      sizes.push(names.length)
      return new Set(names)
    }
    expect(await store.sweep(all, minute)).toMatchObject({ files: 1_100, removed: 0 })
    expect(sizes).toEqual([500, 500, 100])
  })

  test('a start names the setting that is wrong', async () => {
    const rejects = (more: Partial<Bucket>, text: string) =>
      expect(open(more)).rejects.toThrow(text)
    await rejects({ bucket: 'berth-missing' }, 'S3_BUCKET berth-missing does not exist')
    await rejects({ secretAccessKey: 'wrong' }, 'S3_SECRET_ACCESS_KEY does not belong')
    await rejects({ accessKeyId: 'test:nobody' }, 'S3_ACCESS_KEY_ID')
    await rejects(
      { endpoint: 'http://127.0.0.1:1' },
      'S3_ENDPOINT http://127.0.0.1:1 cannot be reached',
    )
    proxy.inject = () => s3Error(403, 'RequestTimeTooSkewed')
    await rejects({}, 'The clock of this machine differs')
    proxy.inject = () => s3Error(503, 'ServiceUnavailable')
    await rejects({}, 'does not work right now')
    proxy.inject = (request) =>
      request.method === 'PUT' ? s3Error(403, 'AccessDenied') : undefined
    await rejects({}, 'may not read, write and list')
  }, 60_000)

  test('a prefix separates servers in one bucket', async () => {
    const other = await open({ prefix: 'other/' })
    const { sha256: name } = await store.put(bytesOf('mine'))
    expect(await other.read(name)).toBeUndefined()
    clock.ms += 2 * hour
    expect(await other.sweep(none, hour)).toMatchObject({ files: 0 })
    expect(await store.has(name)).toBe(true)
  })
})

/** Returns the page of a listing of 1,100 objects. */
function listing(after: string): Response {
  const from = after === '' ? 0 : Number.parseInt(after.slice(-8), 16) + 1
  const names = Array.from({ length: Math.min(500, 1_100 - from) }, (_, index) =>
    (from + index).toString(16).padStart(64, '0'),
  )
  const contents = names.map(
    (name) =>
      `<Contents><Key>files/${name}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>` +
      `<Size>1</Size></Contents>`,
  )
  const isTruncated = from + 500 < 1_100
  return new Response(
    `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${contents.join('')}</ListBucketResult>`,
    { headers: { 'content-type': 'application/xml' } },
  )
}
