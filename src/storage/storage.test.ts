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
import type { Storage } from './storage.ts'

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

test('returns bytes by their hash', async () => {
  const stored = await store.put(bytesOf('a lamp'))
  expect(stored).toEqual({ sha256: sha256('a lamp'), bytes: 6 })
  expect(await store.read(stored.sha256)).toEqual(Buffer.from('a lamp'))
  expect(await store.has(stored.sha256)).toBe(true)
  const again = await open()
  expect(await again.read(stored.sha256)).toEqual(Buffer.from('a lamp'))
})

test('does not find missing content or invalid names, and reads no other file', async () => {
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

test('stores equal content once under concurrent puts', async () => {
  const content = new Uint8Array(300_000).fill(7)
  const all = await Promise.all(Array.from({ length: 40 }, () => store.put(content)))
  const more = await store.put(content)
  expect(new Set([...all, more].map((one) => one.sha256)).size).toBe(1)
  expect(await store.usage()).toMatchObject({ files: 1, bytes: 300_000 })
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('stores many contents concurrently', async () => {
  const contents = Array.from({ length: 60 }, (_, index) => bytesOf(`${index}`.repeat(5_000)))
  const all = await Promise.all(contents.map((content) => store.put(content)))
  for (const [index, { sha256: name }] of all.entries()) {
    expect(sha256((await store.read(name)) ?? '')).toBe(sha256(contents[index] ?? ''))
  }
})

test('removes content, which can be put again', async () => {
  const { sha256: name } = await store.put(bytesOf('gone'))
  await store.remove(name)
  await store.remove(name)
  expect(await store.has(name)).toBe(false)
  await store.put(bytesOf('gone'))
  expect(await store.has(name)).toBe(true)
})

test('removes unfinished files on open', async () => {
  writeFileSync(join(dir, 'tmp', 'half'), 'half of someth')
  await open()
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('a sweep removes unreferenced content, except recent puts', async () => {
  const named = await store.put(bytesOf('named'))
  const orphan = await store.put(bytesOf('orphan'))
  clock.ms += 2 * hour
  const young = await store.put(bytesOf('young'))
  const queried: string[] = []
  const isReferenced = async (names: string[]) => {
    queried.push(...names)
    return new Set([named.sha256])
  }
  expect(await store.sweep(isReferenced, hour)).toEqual({ files: 3, removed: 1, bytes: 6 })
  expect(queried.sort()).toEqual([named.sha256, orphan.sha256].sort())
  expect(await store.has(named.sha256)).toBe(true)
  expect(await store.has(young.sha256)).toBe(true)
  expect(await store.has(orphan.sha256)).toBe(false)
})

test('a sweep keeps an orphan that is put again meanwhile', async () => {
  const { sha256: name } = await store.put(bytesOf('back again'))
  clock.ms += 2 * hour
  const putMeanwhile = async () => {
    await store.put(bytesOf('back again'))
    return new Set<string>()
  }
  expect(await store.sweep(putMeanwhile, hour)).toMatchObject({ removed: 0 })
  expect(await store.read(name)).toEqual(Buffer.from('back again'))
})

test('a sweep queries in bounded batches', async () => {
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

test('a sweep whose query fails removes nothing', async () => {
  await store.put(bytesOf('kept'))
  clock.ms += 2 * hour
  const isReferenced = () => Promise.reject(new Error('the database is away'))
  await expect(store.sweep(isReferenced, hour)).rejects.toThrow('the database is away')
  expect(await store.usage()).toMatchObject({ files: 1 })
})

test('warns about a full disk at once, then once a minute', async () => {
  const warnings: unknown[] = []
  const log = openLog(clock, (line) => void warnings.push(JSON.parse(line)))
  const freeFloorBytes = Number.MAX_SAFE_INTEGER
  const full = await openDiskStore(dir, { freeFloorBytes, clock, log })
  const details = { freeBytes: expect.any(Number), DISK_FLOOR_BYTES: freeFloorBytes }
  expect(warnings).toEqual([
    { at: expect.any(String), level: 'warn', event: 'disk.full', ...details },
  ])
  for (const ms of [0, minute - 1, minute]) {
    clock.ms = start + ms
    expect(() => full.requireFreeSpace(1)).toThrow(ApiError)
  }
  expect(warnings).toHaveLength(2)
})

test('writes nothing below the free-space floor and stays readable', async () => {
  const { sha256: name } = await store.put(bytesOf('before'))
  const low = await open(Number.MAX_SAFE_INTEGER)
  const rejection = await low.put(bytesOf('after')).catch((error: unknown) => error)
  expect(rejection).toBeInstanceOf(ApiError)
  expect(rejection).toMatchObject({ errorName: 'try_again' })
  expect(() => low.requireFreeSpace(1)).toThrow(ApiError)
  expect(await low.put(bytesOf('before'))).toMatchObject({ sha256: name })
  expect(await low.read(name)).toEqual(Buffer.from('before'))
  expect(await low.usage()).toMatchObject({ files: 1 })
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('files have no more permissions than the folder and are not executable', async () => {
  const { sha256: name } = await store.put(bytesOf('plain'))
  expect(statSync(join(dir, name.slice(0, 2), name)).mode & 0o111).toBe(0)
})
