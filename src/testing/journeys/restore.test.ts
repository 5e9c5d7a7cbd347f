/** A restore from the console: the server restarts with the backup, and a kill leaves one whole. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { FormBrowser, hiddenFields } from '../fixtures/form-browser.ts'
import { password } from '../fixtures/people.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import type { SendRequest, TestResponse } from '../fixtures/test-server.ts'
import { freePort } from '../free-port.ts'
import { type ServerProcess, startServerProcess, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'

setDefaultTimeout(180_000)
const place = '/console/backups'
let folder: ReturnType<typeof temporaryFolder>
let server: ServerProcess
let port = 0
beforeEach(async () => {
  folder = temporaryFolder('berth-restore-')
  port = freePort()
  server = await start()
})
afterEach(async () => {
  server.kill('SIGKILL')
  await server.exited
  folder.remove()
})

const data = (): string => join(folder.path, 'data')
const start = (): Promise<ServerProcess> => startServerProcess(data(), { port })
const inData = (prefix: string): string[] =>
  readdirSync(data()).filter((name) => name.startsWith(prefix))

/** Sends a request of a browser to the process. */
const request: SendRequest = async (method, path, { headers = {}, body } = {}) => {
  const { origin } = server
  const response = await fetch(origin + path, {
    method,
    headers: { ...headers, ...(headers['origin'] && { origin }) },
    redirect: 'manual',
    ...(body instanceof Uint8Array && { body: new Uint8Array(body) }),
  })
  const bytes = await response.bytes()
  const text = new TextDecoder().decode(bytes)
  const { status } = response
  const read: TestResponse = {
    status,
    headers: response.headers,
    body: text,
    bytes,
    code: undefined,
    text: () => text,
  }
  return read
}

async function publish(key: string, title: string): Promise<string> {
  const html = `<!doctype html><title>${title}</title>`
  return textAt(await (await server.call('POST', '/api/apps', key, { html })).json(), 'app.id')
}

const statusOf = async (id: string): Promise<number> =>
  (await server.call('GET', `/a/${id}`)).status

/** Returns the operator, who made a backup with one app of two. */
async function prepare() {
  const olga = new FormBrowser({ request })
  const link = new URL(server.operatorUrl ?? '').pathname
  await olga.fill(link, link, { name: 'olga', password })
  const key = await server.newKey()
  const kept = await publish(key, 'Kept')
  await olga.fill(place, place, {})
  const backup = await until(
    async () => /\/console\/backups\/([\dTZ-]+)"/.exec(await olga.read(place))?.[1],
  )
  const later = await publish(key, 'Later')
  const restore = async () => {
    const { token = '' } = hiddenFields(await olga.read(place), place)
    return olga.send(`${place}/${backup}`, { token, act: 'restore' })
  }
  return { olga, kept, later, restore }
}

test('the console restores a backup, and the data before it stays whole', async () => {
  const { olga, kept, later, restore } = await prepare()
  expect((await restore()).status).toBe(303)
  // The process stays, and serves again at the same address.
  await until(async () => (await statusOf(later).catch(() => 0)) === 404)
  expect(await statusOf(kept)).toBe(200)
  const [before = ''] = inData('before-restore-')
  expect(readdirSync(join(data(), before))).toContain('berth.sqlite')
  expect(inData('restor')).toEqual([])
  // Sessions do not come back with a backup.
  expect((await olga.open(place)).status).not.toBe(200)
  await olga.fill('/sign-in', '/sign-in', { name: 'olga', password })
  expect(await olga.read(place)).toContain(before)
  expect(await olga.read('/console/audit')).toContain('Backup restored')
})

test('a kill during a restore leaves the old state or the restored one', async () => {
  const { kept, later, restore } = await prepare()
  for (const moment of ['restoring-', 'restored-']) {
    const isMoment = (): boolean => inData(moment).length > 0 || inData('before-restore').length > 0
    void restore().catch(() => undefined)
    await until(isMoment)
    server.kill('SIGKILL')
    await server.exited
    server = await start()
    expect(await statusOf(kept)).toBe(200)
    const [before] = inData('before-restore-')
    expect(await statusOf(later)).toBe(before === undefined ? 200 : 404)
    if (before !== undefined) {
      expect(existsSync(join(data(), before, 'berth.sqlite'))).toBe(true)
      expect(moment).toBe('restored-')
    }
    expect(inData('restor')).toEqual([])
  }
  expect(inData('before-restore-')).toHaveLength(1)
})
