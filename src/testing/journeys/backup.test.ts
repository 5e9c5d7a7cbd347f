/** A backup beside a server that is being written to, and what a restore of it serves. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { berth, type Running, serveFolder, textAt } from '../running.ts'

let dir = ''
let houses: Running[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-kept-'))
})
afterEach(async () => {
  for (const house of houses) house.kill('SIGKILL')
  await Promise.all(houses.map((house) => house.exited))
  houses = []
  rmSync(dir, { recursive: true })
})

const at = (...names: string[]): string => join(dir, ...names)

async function serve(name: string): Promise<Running> {
  const house = await serveFolder(at(name))
  houses.push(house)
  return house
}

async function stop(house: Running): Promise<void> {
  house.kill('SIGTERM')
  expect(await house.exited).toBe(0)
}

type Pages = Map<string, string>

async function publish(house: Running, key: string, pages: Pages): Promise<void> {
  const html = `<!doctype html><title>${key.slice(-4)} ${pages.size}</title>`.padEnd(9_000, 'lamp ')
  const response = await house.call('POST', '/api/apps', key, { html })
  expect(response.status).toBe(201)
  pages.set(textAt(await response.json(), 'app.id'), html)
}

/** Publishes with one key until the work has ended; answers the pages that were acknowledged. */
async function publishDuring(house: Running, key: string, work: Promise<unknown>, pages: Pages) {
  let isOver = false
  void work.finally(() => (isOver = true))
  for (let count = 0; count < 500 && !isOver; count += 1) await publish(house, key, pages)
}

const shown = async (house: Running, id: string): Promise<string> =>
  (await house.call('GET', `/a/${id}/data`)).text()

test('a backup beside a busy server holds all that was acknowledged before it', async () => {
  const house = await serve('data')
  const keys = [await house.newKey(), await house.newKey()]
  const before: Pages = new Map()
  for (const key of keys)
    for (let count = 0; count < 4; count += 1) await publish(house, key, before)

  const during: Pages = new Map()
  // From another working folder than the server's, so that a path in words would miss it.
  const copying = berth(['backup', at('copy'), '--data', at('data')])
  await Promise.all(keys.map((key) => publishDuring(house, key, copying, during)))
  expect(await copying).toMatchObject({ code: 0, err: '' })
  await stop(house)

  const restored = await berth(['restore', at('copy'), '--data', at('fresh')])
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
  expect((await berth(['doctor', '--data', at('fresh')])).out).toContain('sound')
}, 60_000)

test('a restore into a used folder leads back, and what was there can lead forth again', async () => {
  const house = await serve('data')
  const key = await house.newKey()
  const old: Pages = new Map()
  await publish(house, key, old)
  await stop(house)
  // Nobody serves: the command opens the folder by itself.
  expect(await berth(['backup', at('copy'), '--data', at('data')])).toMatchObject({ code: 0 })

  const later = await serve('data')
  const young: Pages = new Map()
  await publish(later, key, young)
  await stop(later)
  expect((await berth(['restore', at('copy'), '--data', at('data')])).code).toBe(0)

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

test('a restore of half a backup changes nothing, beside a server or without one', async () => {
  const house = await serve('data')
  const pages: Pages = new Map()
  await publish(house, await house.newKey(), pages)
  expect((await berth(['backup', at('copy'), '--data', at('data')])).code).toBe(0)
  rmSync(at('copy/backup.json'))
  const again = await berth(['backup', at('copy'), '--data', at('data')])
  expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is not empty') })
  await stop(house)
  const refused = await berth(['restore', at('copy'), '--data', at('none')])
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^[^\n]+\n$/) })
  expect(existsSync(at('none/berth.sqlite'))).toBe(false)
  const still = await serve('data')
  for (const [id, html] of pages) expect(await shown(still, id)).toBe(html)
}, 60_000)
