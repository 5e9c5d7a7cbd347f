import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sha256 } from '../core/ids.ts'
import { openLog } from '../core/log.ts'
import { hour, minute } from '../core/time.ts'
import { ApiError } from '../errors.ts'
import { openDiskStore } from './disk.ts'
import type { Storage } from './store.ts'

let dir = ''
let store: Storage
const start = Date.UTC(2030, 0, 1)
const clock = { ms: start, now: () => clock.ms }
const open = (freeFloorBytes = 0): Promise<Storage> => openDiskStore(dir, { freeFloorBytes, clock })
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-store-'))
  clock.ms = start
  store = await open()
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('bytes come back under the hash of what they are', async () => {
  const stored = await store.put(bytesOf('a lamp'))
  expect(stored).toEqual({ sha256: sha256('a lamp'), bytes: 6 })
  expect(await store.read(stored.sha256)).toEqual(Buffer.from('a lamp'))
  expect(await store.has(stored.sha256)).toBe(true)
  const again = await open()
  expect(await again.read(stored.sha256)).toEqual(Buffer.from('a lamp'))
})

test('what is not there, or is no hash, is not found and reaches no other file', async () => {
  writeFileSync(join(dir, 'other'), 'not yours')
  for (const name of [
    sha256('nothing'),
    '',
    'other',
    '../other',
    'ab/../../other',
    'A'.repeat(64),
  ]) {
    expect(await store.read(name)).toBeUndefined()
    expect(await store.has(name)).toBe(false)
    await store.remove(name)
  }
  expect(existsSync(join(dir, 'other'))).toBe(true)
})

test('the same content is kept once, however many put it at once', async () => {
  const content = new Uint8Array(300_000).fill(7)
  const all = await Promise.all(Array.from({ length: 40 }, () => store.put(content)))
  const more = await store.put(content)
  expect(new Set([...all, more].map((one) => one.sha256)).size).toBe(1)
  expect(await store.usage()).toMatchObject({ files: 1, bytes: 300_000 })
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('many contents at once are all kept whole', async () => {
  const contents = Array.from({ length: 60 }, (_, index) => bytesOf(`${index}`.repeat(5_000)))
  const all = await Promise.all(contents.map((content) => store.put(content)))
  for (const [index, { sha256: name }] of all.entries()) {
    expect(sha256((await store.read(name)) ?? '')).toBe(sha256(contents[index] ?? ''))
  }
})

test('remove takes the bytes away, and they can be put again', async () => {
  const { sha256: name } = await store.put(bytesOf('gone'))
  await store.remove(name)
  await store.remove(name)
  expect(await store.has(name)).toBe(false)
  await store.put(bytesOf('gone'))
  expect(await store.has(name)).toBe(true)
})

test('a file that was never finished is gone after the next open', async () => {
  writeFileSync(join(dir, 'tmp', 'half'), 'half of someth')
  await open()
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('a sweep removes what no row names, and nothing that was put lately', async () => {
  const named = await store.put(bytesOf('named'))
  const orphan = await store.put(bytesOf('orphan'))
  clock.ms += 2 * hour
  const young = await store.put(bytesOf('young'))
  const asked: string[] = []
  const isReferenced = async (names: string[]) => {
    asked.push(...names)
    return new Set([named.sha256])
  }
  expect(await store.sweep(isReferenced, hour)).toEqual({ files: 3, removed: 1, bytes: 6 })
  expect(asked.sort()).toEqual([named.sha256, orphan.sha256].sort())
  expect(await store.has(named.sha256)).toBe(true)
  expect(await store.has(young.sha256)).toBe(true)
  expect(await store.has(orphan.sha256)).toBe(false)
})

test('an orphan that is put again while the sweep asks about it stays', async () => {
  const { sha256: name } = await store.put(bytesOf('back again'))
  clock.ms += 2 * hour
  const putMeanwhile = async () => {
    await store.put(bytesOf('back again'))
    return new Set<string>()
  }
  expect(await store.sweep(putMeanwhile, hour)).toMatchObject({ removed: 0 })
  expect(await store.read(name)).toEqual(Buffer.from('back again'))
})

test('a sweep asks in bounded batches', async () => {
  mkdirSync(join(dir, 'ab'))
  // Names that share a folder, made directly: 1,100 puts would say nothing more.
  for (let index = 0; index < 1_100; index += 1) {
    writeFileSync(join(dir, 'ab', `ab${index.toString(16).padStart(62, '0')}`), 'x')
  }
  const sizes: number[] = []
  const isReferenced = async (names: string[]) => {
    sizes.push(names.length)
    return new Set(names)
  }
  clock.ms = Date.UTC(2100, 0, 1)
  expect(await store.sweep(isReferenced, hour)).toMatchObject({ files: 1_100, removed: 0 })
  expect(sizes).toEqual([500, 500, 100])
})

test('a sweep that cannot ask removes nothing', async () => {
  await store.put(bytesOf('kept'))
  clock.ms += 2 * hour
  const isReferenced = () => Promise.reject(new Error('the database is away'))
  await expect(store.sweep(isReferenced, hour)).rejects.toThrow('the database is away')
  expect(await store.usage()).toMatchObject({ files: 1 })
})

test('the operator is told why nothing is written, at once and then once a minute', async () => {
  const told: unknown[] = []
  const log = openLog(clock, (line) => void told.push(JSON.parse(line)))
  const freeFloorBytes = Number.MAX_SAFE_INTEGER
  const full = await openDiskStore(dir, { freeFloorBytes, clock, log })
  const facts = { freeBytes: expect.any(Number), DISK_FLOOR_BYTES: freeFloorBytes }
  expect(told).toEqual([{ at: expect.any(String), level: 'warn', event: 'disk.full', ...facts }])
  for (const ms of [0, minute - 1, minute]) {
    clock.ms = start + ms
    expect(() => full.checkRoom(1)).toThrow(ApiError)
  }
  expect(told).toHaveLength(2)
})

test('under the free-disk floor nothing new is written, and the rest stays readable', async () => {
  const { sha256: name } = await store.put(bytesOf('before'))
  const low = await open(Number.MAX_SAFE_INTEGER)
  const refused = await low.put(bytesOf('after')).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ refusal: 'try_again' })
  expect(() => low.checkRoom(1)).toThrow(ApiError)
  expect(await low.put(bytesOf('before'))).toMatchObject({ sha256: name })
  expect(await low.read(name)).toEqual(Buffer.from('before'))
  expect(await low.usage()).toMatchObject({ files: 1 })
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('a file has no more rights than the folder gives, and is not executable', async () => {
  const { sha256: name } = await store.put(bytesOf('plain'))
  expect(statSync(join(dir, name.slice(0, 2), name)).mode & 0o111).toBe(0)
})
