import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { openServedSession } from '../../testing/browsers/session.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
beforeAll(async () => {
  t = await startTestServer()
})
afterAll(() => t.close())

const partsOf = ({ bytes }: { bytes: Uint8Array }): { key: string; parts: string[] } =>
  JSON.parse(new TextDecoder().decode(bytes))

test('a copy of an app lists its parts, and changes with its version', async () => {
  const ann = await t.agent('ann')
  const id = await ann.publish({ html: '<script>service.store.get("a")</script>' })
  const list = await t.request('GET', `/a/${id}/offline`)
  expect(list.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  const { key, parts } = partsOf(list)
  const own = ['page', 'data', 'files', 'frame'].map((name) => `/a/${id}/offline/${name}`)
  expect(parts.slice(0, 4)).toEqual(own)
  expect(parts.some((part) => part.startsWith('/a/libraries/bridge'))).toBe(true)
  for (const part of parts) expect((await t.request('GET', part)).status).toBe(200)
  expect(partsOf(await t.request('GET', `/a/${id}/offline`)).key).toBe(key)

  const shell = await t.request('GET', `/a/${id}/offline/page`)
  expect(String(shell.body)).toContain(`src="/a/${id}/offline/frame"`)
  expect(String(shell.body)).toContain('@ann</bdi> · offline')
  expect(shell.headers.get('content-security-policy')).toContain(`/a/${id}/offline/frame;`)
  const frame = await t.request('GET', `/a/${id}/offline/frame`)
  const policy = frame.headers.get('content-security-policy')
  expect(policy).toMatch(
    /^sandbox allow-scripts allow-forms allow-pointer-lock; default-src 'none'/,
  )
  expect(frame.headers.get('connection-allowlist')).toBe('()')

  await ann.call('POST', `/apps/${id}/versions`, { html: '<p>The second version</p>' })
  t.clock.advance(1_000)
  const second = partsOf(await t.request('GET', `/a/${id}/offline`))
  expect(second.key).not.toBe(key)
  const module = expect.stringMatching(/^\/a\/late\/\w+\.js$/)
  expect(second.parts).toEqual([...own, module])
})

test('the worker of a copy is for the path of its app, and fetches nothing else', async () => {
  const id = await (await t.agent('ann')).publish()
  const { status, headers } = await t.request('GET', `/a/${id}/offline/worker.js`)
  expect([status, headers.get('service-worker-allowed')]).toEqual([200, `/a/${id}`])
  const sources = [`/a/${id}`, `/a/${id}/offline`, `/a/${id}/offline/`, '/a/libraries/', '/a/late/']
  expect(headers.get('content-security-policy')).toMatch(
    new RegExp(
      `^default-src 'none'; connect-src ${sources.map((path) => `\\S+${path}`).join(' ')}$`,
    ),
  )
})

test('no part of a copy opens as a page or in a frame', async () => {
  const id = await (await t.agent('ann')).publish()
  const names = ['', '/worker.js', '/page', '/data', '/files', '/frame']
  for (const into of ['document', 'iframe', 'script']) {
    for (const name of names) {
      const headers = { 'sec-fetch-dest': into }
      const path = `/a/${id}/offline${name}`
      expect([path, (await t.request('GET', path, { headers })).status]).toEqual([path, 404])
    }
  }
})

test('an app that is not open to everyone, or has files, has no copy', async () => {
  const ann = await t.agent('ann')
  const id = await ann.publish()
  expect(String((await t.request('GET', `/a/${id}/install`)).body)).toContain('id="copied"')
  const own = ['', '/worker.js', '/page', '/data', '/files', '/frame']
  const statuses = async (app: string, headers = {}): Promise<number[]> =>
    Promise.all(
      own.map(
        async (name) => (await t.request('GET', `/a/${app}/offline${name}`, { headers })).status,
      ),
    )
  expect(await statuses(id)).toEqual(own.map(() => 200))
  const secrets = { password: 'a long password', people: undefined, instance: undefined }
  for (const [audience, password] of Object.entries(secrets)) {
    await ann.call('PATCH', `/apps/${id}/audience`, { audience, ...(password && { password }) })
    t.clock.advance(1_000)
    expect(await statuses(id)).toEqual(own.map(() => 404))
    // Not even for its maker.
    expect(await statuses(id, { authorization: `Bearer ${ann.key}` })).toEqual(own.map(() => 404))
  }
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'link' })
  t.clock.advance(1_000)
  expect(await statuses(id)).toEqual(own.map(() => 200))

  const files = [
    { path: 'index.html', text: '<script src=a.js></script>' },
    { path: 'a.js', text: 'document.title = 1' },
  ]
  const folder = await ann.publish({ html: undefined, files })
  expect(await statuses(folder)).toEqual(own.map(() => 404))
  const install = String((await t.request('GET', `/a/${folder}/install`)).body)
  expect(install).toContain('It needs the network.')
  expect(install).not.toContain('id="copied"')
})

/** A page with a library, saves and a call of the server. */
const game = `<!doctype html><title>Lamp</title><output></output><p></p>
<script src="https://cdn.jsdelivr.net/npm/dayjs@1.11.23/dayjs.min.js"></script><script>
localStorage.count = Number(localStorage.count ?? 0) + 1
document.querySelector('output').textContent = 'played ' + localStorage.count + ' times'
const year = dayjs('2026-01-02').year()
service.store.get('lamp').catch((error) =>
  (document.querySelector('p').textContent = year + ' ' + error.code))
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('chromium', () => {
  test('opens an installed app without a network, with its saves, until it is closed', async () => {
    const { browser, origin, t: server, close } = await openServedSession()
    const ann = await server.agent('ann')
    const id = await ann.publish({ title: 'Lamp', html: game })
    const context = await browser.newContext()
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => {
      if (!/ERR_INTERNET_DISCONNECTED/.test(message.text())) problems.push(message.text())
    })
    const output = page.frameLocator('iframe').frameLocator('iframe').locator('output')
    const shown = async (count: number): Promise<void> =>
      output.getByText(`played ${count} times`).waitFor()
    await page.goto(`${origin}/a/${id}/install`)
    await page.getByText('A copy is saved').waitFor()
    await page.goto(`${origin}/a/${id}`)
    await shown(1)
    await page.waitForFunction('indexedDB.databases().then((all) => all.length > 0)')

    await context.setOffline(true)
    await page.goto(`${origin}/a/${id}`)
    await shown(2)
    await page.getByText('@ann · offline').waitFor()
    await page.frameLocator('iframe').frameLocator('iframe').getByText('2026 offline').waitFor()
    await page.getByRole('button', { name: 'Restart' }).click()
    await shown(3)
    // Nothing else of the site has a copy.
    for (const path of ['/', '/explore', `/a/${id}/install`])
      expect(await page.goto(origin + path).catch(() => 'no network')).toBe('no network')

    await context.setOffline(false)
    await page.goto(`${origin}/a/${id}`)
    await shown(4)
    expect(await page.getByText('offline').count()).toBe(0)
    expect(problems).toEqual([])

    await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
    server.clock.advance(1_000)
    await page.goto(`${origin}/a/${id}`)
    await page.getByText('App not found').waitFor()
    const left = `Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()])
      .then(([copies, workers]) => copies.length + workers.length === 0)`
    await page.waitForFunction(left)
    await context.setOffline(true)
    expect(await page.goto(`${origin}/a/${id}`).catch(() => 'no network')).toBe('no network')
    await close()
  }, 120_000)
})
