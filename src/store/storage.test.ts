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

import { ApiError } from '../kernel/errors.ts'
import { openLog } from '../kernel/log.ts'
import { hour, minute } from '../kernel/time.ts'
import { testStorage } from '../testing/fixtures/storage-suite.ts'
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

testStorage(async () => ({ store, reopen: open, clock }))

test('reads no other file', async () => {
  writeFileSync(join(dir, 'other'), 'not yours')
  for (const name of ['other', '../other', 'ab/../../other']) {
    expect(await store.read(name)).toBeUndefined()
    await store.remove(name)
  }
  expect(existsSync(join(dir, 'other'))).toBe(true)
})

test('leaves no unfinished files after concurrent puts of equal content', async () => {
  const content = new Uint8Array(300_000).fill(7)
  await Promise.all(Array.from({ length: 40 }, () => store.put(content)))
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
})

test('removes unfinished files on open', async () => {
  writeFileSync(join(dir, 'tmp', 'half'), 'half of someth')
  await open()
  expect(readdirSync(join(dir, 'tmp'))).toEqual([])
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
