import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { openBrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

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
  const first = ['page', 'data', 'files', 'frame'].map((name) => `/a/${id}/offline/${name}`)
  expect(parts.slice(0, 4)).toEqual(first)
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
  expect(second.parts).toEqual([...first, module])
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
  for (const into of ['document', 'iframe', 'script']) {
    for (const name of own) {
      const headers = { 'sec-fetch-dest': into }
      const path = `/a/${id}/offline${name}`
      expect([path, (await t.request('GET', path, { headers })).status]).toEqual([path, 404])
    }
  }
})

const own = ['', '/worker.js', '/page', '/data', '/files', '/frame']

const statuses = async (app: string, headers = {}): Promise<number[]> =>
  Promise.all(
    own.map(
      async (name) => (await t.request('GET', `/a/${app}/offline${name}`, { headers })).status,
    ),
  )
const all = own.map(() => 200)
const none = own.map(() => 404)

const installText = async (id: string): Promise<string> =>
  String((await t.request('GET', `/a/${id}/install`)).body)

test('an app that is not open to everyone has no copy, and says so by a code of its own', async () => {
  const ann = await t.agent('ann')
  const id = await ann.publish()
  expect(await installText(id)).toContain('id="copied"')
  expect(await statuses(id)).toEqual(all)
  const secrets = { password: 'a long password', people: undefined, instance: undefined }
  for (const [audience, password] of Object.entries(secrets)) {
    await ann.call('PATCH', `/apps/${id}/audience`, { audience, ...(password && { password }) })
    t.clock.advance(1_000)
    expect(await statuses(id)).toEqual(none)
    // Not even for its maker.
    expect(await statuses(id, { authorization: `Bearer ${ann.key}` })).toEqual(none)
  }
  const answers = await Promise.all(
    [id, 'AAAAAAAAAAAA'].map(async (app) => (await t.request('GET', `/a/${app}/offline`)).body),
  )
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]).toMatchObject({ code: 'no_copy' })
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'link' })
  t.clock.advance(1_000)
  expect(await statuses(id)).toEqual(all)
})

test('the copy of a folder has its files, and its page reaches no network', async () => {
  const ann = await t.agent('ann')
  const files = [
    { path: 'index.html', text: '<script src="js/a 1.js"></script>' },
    { path: 'js/a 1.js', text: 'document.title = 1' },
  ]
  const id = await ann.publish({ html: undefined, files })
  expect(await installText(id)).toContain('id="copied"')
  const { parts } = partsOf(await t.request('GET', `/a/${id}/offline`))
  const [path = ''] = parts.filter((part) => part.startsWith(`/a/${id}/offline/files/`))
  expect(path).toMatch(/\/files\/js%2Fa%201\.js\?h=[0-9a-f]{64}$/)
  const file = await t.request('GET', path)
  expect(String(file.body)).toBe('document.title = 1')
  expect(file.headers.get('content-disposition')).toBe('attachment')
  for (const wrong of [path.replace(/h=\w/, 'h='), path.replace('js%2Fa', 'js%2Fb')])
    expect((await t.request('GET', wrong)).status).toBe(404)
  const { headers } = await t.request('GET', `/a/${id}/offline/frame`)
  expect(headers.get('connection-allowlist')).toBe('()')
  const directives = (headers.get('content-security-policy') ?? '').split('; ')
  const reached = directives.filter((one) => one.includes('/f/'))
  expect(reached).toEqual([expect.stringMatching(/^base-uri /)])
})

test('an app with more than 200 files or 10 MB has no copy', async () => {
  const ann = await t.agent('ann')
  const publish = (more: object[]): Promise<string> =>
    ann.publish({ html: undefined, files: [{ path: 'index.html', text: '<p>x' }, ...more] })
  const many = (count: number): object[] =>
    Array.from({ length: count }, (_, at) => ({ path: `${at}.txt`, text: String(at) }))
  expect(await statuses(await publish(many(199)))).toEqual(all)
  const id = await publish(many(200))
  expect(await statuses(id)).toEqual(none)
  expect(await installText(id)).toContain('It needs the network.')
  expect(await installText(id)).not.toContain('id="copied"')
  const large = { path: 'large.txt', text: 'x'.repeat(10 * 1_048_576) }
  expect(await statuses(await publish([large]))).toEqual(none)
})

test('what players upload is not in a copy', async () => {
  const ann = await t.agent('ann')
  const id = await ann.publish({ html: '<script>service.files.upload(new Blob())</script>' })
  expect(await statuses(id)).toEqual(all)
  const { parts } = partsOf(await t.request('GET', `/a/${id}/offline`))
  expect(parts.some((part) => part.includes('/files/'))).toBe(false)
  const { headers } = await t.request('GET', `/a/${id}/offline/frame`)
  expect(headers.get('content-security-policy')).toContain('connect-src blob: data:;')
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

/** A folder that loads its files in the ways of the browser, and writes what it has found. */
const folder = {
  'index.html': `<!doctype html><title>Boat</title><script type=importmap>
{ "imports": { "boat": "./js/parts/boat.js", "parts/": "./js/parts/" },
  "scopes": { "./js/": { "boat": "./js/parts/late.js" }, "./js/deep/": { "boat": "./js/deep/boat.js" } } }</script>
<link rel=stylesheet href=css/main.css><img src="img/Ship 1.svg"><output></output>
<p style="background:url(img/dot.svg)"></p><a href=two.html>Two</a><script type=module>
import { boat } from 'boat'
import { one } from 'parts/one.js'
globalThis.inline = boat + one
</script><script type=module src=js/main.js></script>`,
  'two.html': '<title>Two</title><output></output><script src=js/two.js></script>',
  'css/main.css': "@import url('parts/color.css'); body { background: url(../img/dot.svg) }",
  'css/parts/color.css': 'output { color: rgb(1, 2, 3) }',
  'img/Ship 1.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
  'img/dot.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
  'data/a.json': '{ "n": 5 }',
  'js/two.js': "document.querySelector('output').textContent = 'the second page'",
  'js/parts/boat.js': "export const boat = 'boat '",
  'js/parts/one.js': "import { circle } from './circle.js'\nexport const one = circle ? 1 : 0",
  'js/parts/circle.js':
    "import { boat } from './boat.js'\nexport * from './one.js'\nexport const circle = boat",
  'js/parts/late.js': 'export const late = 2',
  'work/classic.js': `importScripts('part.js')
onmessage = async () => postMessage(part + (await (await fetch('../data/a.json')).json()).n)`,
  'work/part.js': 'self.part = 10',
  'work/module.js': "import { value } from './value.js'\nonmessage = () => postMessage(value)",
  'work/value.js': 'export const value = 20',
  'js/deep/boat.js': 'export const late = 30',
  'js/deep/scoped.js': "import { late } from 'boat'\nexport const deep = late",
  'js/main.js': `import { one } from './parts/one.js'
import { late as scoped } from 'boat'
import { deep } from './deep/scoped.js'
const { late } = await import(\`./parts/late.js\`)
const decoded = async (image) => (await image.decode(), image.naturalWidth)
const sized = async (set) => {
  const image = document.createElement('img')
  set(image)
  return decoded(image)
}
const sum = async (worker) => new Promise((done, fail) => {
  worker.onmessage = ({ data }) => done(data)
  worker.onerror = fail
  worker.postMessage('')
})
const sheet = document.querySelector('link')
if (!sheet.sheet) await new Promise((done) => sheet.addEventListener('load', done))
const output = document.querySelector('output')
const holder = document.createElement('div')
holder.innerHTML = '<img src="img/Ship 1.svg">'
const request = new XMLHttpRequest()
request.open('GET', 'data/a.json')
await new Promise((done) => { request.onload = done; request.send() })
output.textContent = [
  inline, one, late, getComputedStyle(output).color,
  await decoded(document.querySelector('img')), await decoded(holder.firstChild),
  await sized((image) => (image.src = 'img/Ship 1.svg')),
  await sized((image) => image.setAttribute('src', './img/Ship%201.svg?1')),
  await sized((image) => (image.src = new URL('../img/Ship 1.svg', import.meta.url).href)),
  await sized((image) => (image.src = import.meta.resolve('../img/Ship 1.svg'))),
  (await import(import.meta.resolve('./parts/late.js'))).late, scoped, deep,
  (await (await fetch('data/a.json')).json()).n, JSON.parse(request.responseText).n,
  (await service.assets.json('data/a.json')).n, (await service.assets.image('img/dot.svg')).width,
  await sum(new Worker('work/classic.js')), await sum(new Worker('work/module.js', { type: 'module' })),
].join(' | ')`,
}
const found =
  'boat 1 | 1 | 2 | rgb(1, 2, 3) | 7 | 7 | 7 | 7 | 7 | 7 | 2 | 2 | 30 | 5 | 5 | 5 | 1 | 15 | 20'

/** Neither a copy nor a worker is left. */
const isRemoved = `Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()])
  .then(([copies, workers]) => copies.length + workers.length === 0)`

describe.skipIf(findBrowser('chromium') === undefined)('chromium', () => {
  test('opens an app offline that its own menu has installed, and keeps no copy of a visit', async () => {
    const { browser, origin, t: server, close } = await openServedSession()
    const id = await (await server.agent('ann')).publish({ html: '<p>Lamp</p>' })
    const context = await browser.newContext()
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => void problems.push(message.text()))
    const lamp = page.frameLocator('iframe').getByText('Lamp', { exact: true })
    await page.goto(`${origin}/a/${id}`)
    await lamp.waitFor()
    expect(await page.evaluate(isRemoved)).toBe(true)
    await until(async () => {
      await page.evaluate("dispatchEvent(new Event('appinstalled'))")
      return !(await page.evaluate(isRemoved))
    })
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await context.setOffline(true)
    await page.goto(`${origin}/a/${id}`)
    await page.getByText('@ann · offline').waitFor()
    await lamp.waitFor()
    expect(problems.filter((one) => /policy|trusted/i.test(one))).toEqual([])
    // On a device whose installed apps have a storage of their own.
    const own = await browser.newContext()
    const app = await own.newPage()
    const { body } = await server.request('GET', `/a/${id}/manifest.webmanifest`)
    const start = origin + String(JSON.parse(String(body)).start_url)
    await app.goto(start)
    await until(async () => !(await app.evaluate(isRemoved)))
    await app.evaluate('navigator.serviceWorker.ready.then(() => true)')
    expect(app.url()).toBe(`${origin}/a/${id}`)
    await own.setOffline(true)
    await app.goto(start)
    await app.getByText('@ann · offline').waitFor()
    await close()
  }, 120_000)

  test('opens the copy of a folder, in which everything loads as from its address', async () => {
    const { browser, origin, t: server, close } = await openServedSession()
    const ann = await server.agent('ann')
    const files = Object.entries(folder).map(([path, text]) => ({ path, text }))
    const id = await ann.publish({ html: undefined, title: 'Boat', files })
    const context = await browser.newContext()
    const page = await context.newPage()
    const problems: string[] = []
    const inner = page.frameLocator('iframe')
    await page.goto(`${origin}/a/${id}/install`)
    await page.getByText('A copy is saved').waitFor()
    await page.goto(`${origin}/a/${id}`)
    await inner.getByText(found).waitFor()

    await context.setOffline(true)
    page.on('console', (message) => void problems.push(message.text()))
    await page.goto(`${origin}/a/${id}`)
    await page.getByText('@ann · offline').waitFor()
    await inner.getByText(found).waitFor()
    const styles = await inner.locator('p').evaluate(`[document.body, document.querySelector('p')]
      .map((element) => getComputedStyle(element).backgroundImage.startsWith('url("blob:'))`)
    expect(styles).toEqual([true, true])
    const set = `new Promise((done) => {
      document.body.style.backgroundImage = 'url("img/Ship 1.svg")'
      setTimeout(() => done(document.body.style.backgroundImage.startsWith('url("blob:')))
    })`
    expect(await inner.locator('p').evaluate(set)).toBe(true)
    expect(await inner.locator('p').evaluate('document.baseURI')).toMatch(/:\d+\/$/)
    await inner.getByRole('link', { name: 'Two' }).click()
    await inner.getByText('the second page').waitFor()
    expect(problems.filter((one) => !one.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
    await close()
  }, 120_000)

  test('keeps its copy when a proxy answers, and removes it when the server says so', async () => {
    let portal: number | undefined
    let lists = 0
    let server = t
    const session = await openBrowserSession(() => ({
      async handle(request, ...rest) {
        lists += Number(request.url.endsWith('/offline'))
        if (portal === undefined) return server.handle(request, ...rest)
        const headers = { 'cache-control': 'no-store' }
        return new Response('Sign in to this network.', { status: portal, headers })
      },
    }))
    server = await startTestServer({ APP_URL: session.origin })
    const ann = await server.agent('ann')
    const id = await ann.publish()
    const page = await session.browser.newPage()
    const open = (): Promise<unknown> => page.goto(`${session.origin}/a/${id}`)
    const answered = page.getByText('Sign in to this network.')
    await page.goto(`${session.origin}/a/${id}/install`)
    await page.getByText('A copy is saved').waitFor()
    for (const status of [200, 401, 403, 404, 410, 511]) {
      portal = status
      const before = lists
      await open()
      await answered.waitFor()
      expect(await until(() => lists > before, 30_000)).toBe(true)
    }
    portal = 503
    await open()
    await page.getByText('@ann · offline').waitFor()

    portal = undefined
    expect((await ann.call('DELETE', `/apps/${id}`)).status).toBe(200)
    server.clock.advance(1_000)
    await open()
    await page.getByText('App deleted').waitFor()
    await until(() => page.evaluate<boolean>(isRemoved))
    portal = 503
    await open()
    await answered.waitFor()
    await session.close()
    await server.close()
  }, 120_000)

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
    const output = page.frameLocator('iframe').locator('output')
    const shown = async (count: number): Promise<void> =>
      output.getByText(`played ${count} times`).waitFor()
    await page.goto(`${origin}/a/${id}/install`)
    await page.getByText('A copy is saved').waitFor()
    await page.goto(`${origin}/a/${id}`)
    await shown(1)
    await until(() => page.evaluate<boolean>('indexedDB.databases().then((all) => all.length > 0)'))

    await context.setOffline(true)
    await page.goto(`${origin}/a/${id}`)
    await shown(2)
    await page.getByText('@ann · offline').waitFor()
    await page.frameLocator('iframe').getByText('2026 offline').waitFor()
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
    await until(() => page.evaluate<boolean>(isRemoved))
    await context.setOffline(true)
    expect(await page.goto(`${origin}/a/${id}`).catch(() => 'no network')).toBe('no network')
    await close()
  }, 120_000)
})
