/**
 * A server whose disk fills up: it reports the problem, stores nothing partially and recovers by
 * itself.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { noise } from '../fixtures/random.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../processes/server-process.ts'

const mb = 1_048_576
const mayMount = Bun.spawnSync(['unshare', '--mount', 'true']).success
const needsMount = (title: string): boolean => {
  if (!mayMount) console.log(`skipped: ${title} (no tmpfs may be mounted: run the tests as root)`)
  return mayMount
}

let dir = ''
let disk = ''
let ctx: ServerProcess | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-full-'))
  disk = join(dir, 'disk')
  mkdirSync(disk)
})
afterEach(async () => {
  ctx?.kill('SIGKILL')
  await ctx?.exited
  ctx = undefined
  Bun.spawnSync(['umount', disk])
  rmSync(dir, { recursive: true })
})

const mount = (size: string): void => {
  const { success } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk])
  if (!success) throw new Error('no tmpfs could be mounted')
}

let pages = 0

/** Returns a new page, which compresses badly. */
const pageOf = (bytes: number): string =>
  `<!doctype html><title>Big</title><p>${noise(Math.min(65_536, bytes / 2), (pages += 1)).toBase64()}${'lamp '.repeat(bytes / 10)}`

interface Rejection {
  status: number
  code: unknown
}

async function toRejection(response: Response): Promise<Rejection> {
  const body: unknown = await response.json()
  return { status: response.status, code: Reflect.get(Object(body), 'code') }
}

const tryAgain = { status: 503, code: 'try_again' }

/**
 * Publishes until a request fails. Returns the acknowledged pages by app, and the failed response.
 */
async function publishUntilFull(its: ServerProcess, key: string, bytes: number) {
  const kept = new Map<string, string>()
  for (let tries = 0; tries < 200; tries += 1) {
    const html = pageOf(bytes)
    const response = await its.call('POST', '/api/apps', key, { html })
    if (response.status !== 201) return { kept, rejected: await toRejection(response) }
    kept.set(textAt(await response.json(), 'app.id'), html)
  }
  throw new Error('the disk was never full')
}

async function expectAll(
  its: ServerProcess,
  key: string,
  kept: Map<string, string>,
): Promise<void> {
  for (const [id, html] of kept) {
    expect(await (await its.call('GET', `/api/apps/${id}/html`, key)).text()).toBe(html)
    expect((await its.call('GET', `/a/${id}`)).status).toBe(200)
  }
  const list: unknown = await (await its.call('GET', '/api/apps?limit=100', key)).json()
  const apps: unknown = Reflect.get(Object(list), 'apps')
  expect(Array.isArray(apps) && apps.length).toBe(kept.size)
}

test('a full disk rejects publishes, serves reads and recovers with free space', async () => {
  if (!needsMount('a full disk')) return
  mount('12m')
  ctx = await startServerProcess(join(disk, 'data'), { env: { DISK_FLOOR_BYTES: '0' } })
  const key = await ctx.newKey()
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, new Uint8Array(3 * mb))

  const { kept, rejected } = await publishUntilFull(ctx, key, 200_000)
  expect(rejected).toEqual(tryAgain)
  expect(kept.size).toBeGreaterThan(5)
  // The rest is filled too, so that the database finds no free page.
  for (let size = mb; size >= 1; size = Math.floor(size / 4)) {
    for (let count = 0; count < 8; count += 1) {
      try {
        writeFileSync(join(disk, `crumb-${size}-${count}`), new Uint8Array(size))
      } catch {
        break
      }
    }
  }
  const [app = ''] = kept.keys()
  const image = noise(60_000, 0)
  const json = new TextEncoder().encode(JSON.stringify([...image]))
  const asset = `/api/apps/${app}/assets/a.json`
  expect(await toRejection(await ctx.call('PUT', asset, key, json))).toEqual(tryAgain)
  const notes = Array.from({ length: 60 }, (_, index) => ({ about: `line ${index}` }))
  const changes: Rejection[] = []
  for (const note of notes) {
    const response = await ctx.call('PATCH', '/api/me', key, note)
    if (response.status !== 200) changes.push(await toRejection(response))
  }
  expect(changes.length).toBeGreaterThan(0)
  for (const change of changes) expect(change).toEqual({ status: 503, code: 'not_ready' })
  expect(await toRejection(await ctx.call('POST', '/api/keys'))).toEqual(tryAgain)
  expect((await ctx.call('GET', '/healthz')).status).toBe(200)
  await expectAll(ctx, key, kept)
  expect(readdirSync(join(disk, 'data/files/tmp'))).toEqual([])

  for (const name of readdirSync(disk).filter((name) => !name.startsWith('data')))
    rmSync(join(disk, name))
  const logged = statSync(join(disk, 'data.log')).size
  const again = await ctx.call('POST', '/api/apps', key, { html: pageOf(200_000) })
  expect(again.status).toBe(201)
  expect((await ctx.call('PATCH', '/api/me', key, { about: 'room again' })).status).toBe(200)
  expect((await ctx.call('PUT', asset, key, json)).status).toBe(201)

  ctx.kill('SIGTERM')
  expect(await ctx.exited).toBe(0)
  expect(statSync(join(disk, 'data.log')).size).toBeGreaterThan(logged)
  const doctor = await runBerth(['doctor', '--data', join(disk, 'data')])
  expect(doctor.err).toMatch(/The ledger is sound.*GB of disk space are free/s)
  expect(doctor.code).toBe(1)
}, 60_000)

test('a file size limit rejects writes, serves reads and loses nothing', async () => {
  const under = ['/bin/sh', '-c', 'ulimit -f 4000; exec "$@"', 'sh']
  ctx = await startServerProcess(join(disk, 'data'), { under })
  const key = await ctx.newKey()
  const big = await ctx.call('POST', '/api/apps', key, { html: pageOf(3_900_000) })
  expect(await toRejection(big)).toEqual(tryAgain)
  const html = pageOf(2_000)
  const made = await ctx.call('POST', '/api/apps', key, { html })
  expect(made.status).toBe(201)
  const kept = new Map([[textAt(await made.json(), 'app.id'), html]])

  let about = ''
  let rejected: Response | undefined
  for (let count = 0; count < 500 && !rejected; count += 1) {
    const response = await ctx.call('PATCH', '/api/me', key, { about: `line ${count}` })
    if (response.status === 200) about = `line ${count}`
    else rejected = response
  }
  expect(rejected && (await toRejection(rejected))).toEqual({ status: 503, code: 'not_ready' })
  await expectAll(ctx, key, kept)
  expect(readdirSync(join(disk, 'data/files/tmp'))).toEqual([])
  ctx.kill('SIGTERM')
  expect(await ctx.exited).toBe(0)

  ctx = await startServerProcess(join(disk, 'data'))
  await expectAll(ctx, key, kept)
  expect(textAt(await (await ctx.call('GET', '/api/me', key)).json(), 'about')).toBe(about)
}, 60_000)

test('below the configured floor nothing new is stored, although space is left', async () => {
  if (!needsMount('the floor of a disk')) return
  mount('26m')
  ctx = await startServerProcess(join(disk, 'data'), { env: { DISK_FLOOR_BYTES: String(16 * mb) } })
  const key = await ctx.newKey()
  expect((await ctx.call('GET', '/readyz')).status).toBe(200)
  const ballast = ['before', 'after'].map((name) => join(disk, name))
  writeFileSync(ballast[0] ?? '', new Uint8Array(2 * mb))
  const { kept, rejected } = await publishUntilFull(ctx, key, 400_000)
  expect(rejected).toEqual(tryAgain)
  writeFileSync(ballast[1] ?? '', new Uint8Array(2 * mb))
  expect(await (await ctx.call('GET', '/readyz')).json()).toEqual({ ok: true, disk: 'full' })
  const line = { about: 'no room for a line' }
  expect(await toRejection(await ctx.call('PATCH', '/api/me', key, line))).toEqual({
    status: 503,
    code: 'not_ready',
  })
  expect(await toRejection(await ctx.call('POST', '/api/keys'))).toEqual(tryAgain)
  await expectAll(ctx, key, kept)
  for (const file of ballast) rmSync(file)
  expect((await ctx.call('PATCH', '/api/me', key, line)).status).toBe(200)
  expect((await ctx.call('GET', '/readyz')).status).toBe(200)
}, 60_000)
