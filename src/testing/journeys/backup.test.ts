/** A backup while the server writes, and a server restored from it. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../processes/server-process.ts'

let dir = ''
let servers: ServerProcess[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-kept-'))
})
afterEach(async () => {
  for (const ctx of servers) ctx.kill('SIGKILL')
  await Promise.all(servers.map((ctx) => ctx.exited))
  servers = []
  rmSync(dir, { recursive: true })
})

const at = (...names: string[]): string => join(dir, ...names)

async function serve(name: string): Promise<ServerProcess> {
  const ctx = await startServerProcess(at(name))
  servers.push(ctx)
  return ctx
}

async function stop(ctx: ServerProcess): Promise<void> {
  ctx.kill('SIGTERM')
  expect(await ctx.exited).toBe(0)
}

type Pages = Map<string, string>

async function publish(ctx: ServerProcess, key: string, pages: Pages): Promise<void> {
  const html = `<!doctype html><title>${key.slice(-4)} ${pages.size}</title>`.padEnd(9_000, 'lamp ')
  const response = await ctx.call('POST', '/api/apps', key, { html })
  expect(response.status).toBe(201)
  pages.set(textAt(await response.json(), 'app.id'), html)
}

/** Publishes with one key until the work has ended. Returns the acknowledged pages. */
async function publishDuring(
  ctx: ServerProcess,
  key: string,
  work: Promise<unknown>,
  pages: Pages,
) {
  let isOver = false
  void work.finally(() => (isOver = true))
  for (let count = 0; count < 500 && !isOver; count += 1) await publish(ctx, key, pages)
}

const shown = async (ctx: ServerProcess, id: string): Promise<string> =>
  (await ctx.call('GET', `/a/${id}/data`)).text()

test('a backup of a busy server has everything acknowledged before it', async () => {
  const ctx = await serve('data')
  const keys = [await ctx.newKey(), await ctx.newKey()]
  const before: Pages = new Map()
  for (const key of keys) for (let count = 0; count < 4; count += 1) await publish(ctx, key, before)

  const during: Pages = new Map()
  // Runs in another working directory than the server, so a relative path would fail.
  const copying = runBerth(['backup', at('copy'), '--data', at('data')])
  await Promise.all(keys.map((key) => publishDuring(ctx, key, copying, during)))
  expect(await copying).toMatchObject({ code: 0, err: '' })
  await stop(ctx)

  const restored = await runBerth(['restore', at('copy'), '--data', at('fresh')])
  expect(restored).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^Restored .*\n$/),
  })
  const fresh = await serve('fresh')
  for (const [id, html] of before) expect(await shown(fresh, id)).toBe(html)
  for (const [id, html] of during) {
    const there = await fresh.call('GET', `/a/${id}/data`)
    if (there.status !== 404) expect(await there.text()).toBe(html)
  }
  const [key = ''] = keys
  await publish(fresh, key, before)
  await stop(fresh)
  expect((await runBerth(['doctor', '--data', at('fresh')])).out).toContain('sound')
}, 60_000)

test('a restore into a used folder keeps the old data, which can be restored again', async () => {
  const ctx = await serve('data')
  const key = await ctx.newKey()
  const old: Pages = new Map()
  await publish(ctx, key, old)
  await stop(ctx)
  // Without a server, the command opens the folder itself.
  expect(await runBerth(['backup', at('copy'), '--data', at('data')])).toMatchObject({ code: 0 })

  const later = await serve('data')
  const young: Pages = new Map()
  await publish(later, key, young)
  await stop(later)
  expect((await runBerth(['restore', at('copy'), '--data', at('data')])).code).toBe(0)

  const back = await serve('data')
  for (const [id, html] of old) expect(await shown(back, id)).toBe(html)
  for (const id of young.keys()) expect((await back.call('GET', `/a/${id}`)).status).toBe(404)
  await stop(back)

  const aside = readdirSync(at('data')).filter((name) => name.startsWith('before-restore-'))
  expect(aside).toHaveLength(1)
  const forth = await serve(join('data', aside[0] ?? ''))
  for (const [id, html] of [...old, ...young]) expect(await shown(forth, id)).toBe(html)
  await stop(forth)
}, 60_000)

test('a restore of half a backup changes nothing, with and without a server', async () => {
  const ctx = await serve('data')
  const pages: Pages = new Map()
  await publish(ctx, await ctx.newKey(), pages)
  expect((await runBerth(['backup', at('copy'), '--data', at('data')])).code).toBe(0)
  rmSync(at('copy/backup.json'))
  const again = await runBerth(['backup', at('copy'), '--data', at('data')])
  expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is not empty') })
  await stop(ctx)
  const rejected = await runBerth(['restore', at('copy'), '--data', at('none')])
  expect(rejected).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^[^\n]+\n$/) })
  expect(existsSync(at('none/berth.sqlite'))).toBe(false)
  const still = await serve('data')
  for (const [id, html] of pages) expect(await shown(still, id)).toBe(html)
}, 60_000)
