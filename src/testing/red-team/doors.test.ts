import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { consents } from '../../apps/ai/tables.ts'
import { players } from '../../apps/app-data/tables.ts'
import { findBrowser, findWhole } from '../browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../browsers/session.ts'
import { createTestPerson, createTestSession } from '../fixtures/people.ts'
import type { TestServer } from '../fixtures/test-server.ts'

const ms = 240_000
/** The text that another app of the same player keeps. */
const secret = 'treasure of another app'
/** Time in which an attempt would get through. The bar of the shell stays unanswered. */
const tryMs = 1_500

/**
 * Ways through the bridge: to spend without a press, and to reach the data of another app, whose id
 * is OTHER. Each is a script that returns what it got. `call` sends a raw message of the bridge.
 */
const ways: [name: string, script: string][] = [
  ['a model without consent', `return service.ai.chat('Hello')`],
  [
    'a model by the raw bridge',
    `return call('ai.request', { path: 'v1/chat/completions', body: '{"messages":[{"role":"user","content":"Hi"}]}' })`,
  ],
  [
    'the consent as a path of a model',
    `return all(['../../../api/apps/OWN/consent', 'v1/../../../api/apps/OWN/consent', '/api/apps/OWN/consent', 'v1/chat/completions/../../../../../api/apps/OWN/consent', 'v1/chat/completions\\n', 'v1beta/models/..%2f..:generateContent']
      .map((path) => call('ai.request', { path, body: '{"uses":["ai"],"dailyCap":9,"remember":true}' })))`,
  ],
  [
    'a call that looks like a consent',
    `return all(['consent', 'ai.consent', 'ai.allow', 'consent.give', 'PUT /consent', 'join', 'player.join', 'agree']
      .map((name) => call(name, { uses: ['ai'], dailyCap: 9, remember: true, state: 'granted' })))`,
  ],
  [
    'names that every object has',
    `return all(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'].map((name) => call(name, {})))`,
  ],
  [
    'messages of the shell itself',
    `for (const type of ['service:hello', 'service:agreed', 'service:result', 'taken', 'result'])
      for (const to of [parent, parent.parent, top]) to.postMessage({ type, result: true, taken: true, state: 'granted' }, '*')
    return service.ai.chat('Hello')`,
  ],
  [
    'a frame in the frame',
    `const child = document.createElement('iframe')
    child.srcdoc = '<script>onmessage = ({ data, ports }) => top.postMessage(data, "*", ports)</' + 'script>'
    document.body.append(child)
    await new Promise((done) => { child.onload = done })
    const { port1, port2 } = new MessageChannel()
    child.contentWindow.postMessage({ type: 'service:call', name: 'store.get', input: { key: 'diary' } }, '*', [port2])
    return new Promise((done) => { port1.onmessage = ({ data }) => done(data) })`,
  ],
  [
    'a press of a script',
    `const call = service.ai.chat('Hello')
    for (const root of [parent, parent.parent, top]) {
      try { for (const button of root.document.querySelectorAll('button')) button.click() } catch {}
    }
    return call`,
  ],
  [
    'requests to the server',
    `const body = '{"uses":["ai"],"dailyCap":9,"remember":true}'
    const form = document.createElement('form')
    form.method = 'post'
    form.action = 'ORIGIN/api/apps/OWN/consent'
    document.body.append(form)
    try { form.submit() } catch {}
    navigator.sendBeacon('ORIGIN/api/apps/OWN/player', '{}')
    return all([
      fetch('ORIGIN/api/apps/OWN/consent', { method: 'PUT', body, credentials: 'include' }),
      fetch('ORIGIN/api/apps/OTHER/value/own?key=diary', { credentials: 'include' }).then((r) => r.text()),
      new Promise((done, fail) => { const ws = new WebSocket('WS/api/apps/OTHER/live'); ws.onopen = done; ws.onerror = fail }),
    ])`,
  ],
  [
    'values of another app',
    `return all([
      call('store.get', { key: 'diary', app: 'OTHER' }),
      call('store.get', { key: '../../OTHER/value/own?key=diary' }),
      call('store.get', { key: 'diary&app=OTHER' }),
      call('store.list', { prefix: '', app: 'OTHER', shared: false }),
    ])`,
  ],
  [
    'documents of another app, without an agreement',
    `return all([
      call('db.get', { path: '../OTHER/notes/1' }),
      call('db.get', { path: 'notes/1', app: 'OTHER' }),
      call('db.query', { collection: 'notes', app: 'OTHER' }),
      call('db.watch', { path: 'notes/1', app: 'OTHER' }),
      call('room.join', { room: 'OTHER lobby' }),
    ])`,
  ],
  [
    'boards without an agreement, and of another app',
    `return all([
      call('scores.submit', { score: 1, name: 'Olga', player: 'x' }),
      call('scores.top', { board: 'main&app=OTHER', app: 'OTHER' }),
      call('scores.top', { board: '../../OTHER/scores' }),
    ])`,
  ],
  [
    'uploads without an agreement, and of another app',
    `const address = document.baseURI.replace(/[^/]*$/, '')
    return all([
      call('files.upload', { data: 'data:application/json,{}' }),
      call('files.upload', { data: 'data:application/json,{}', app: 'OTHER' }),
      fetch('UPLOAD').then((r) => r.text()),
      fetch(address + '../OTHER/UPLOAD').then((r) => r.text()),
      fetch('ORIGIN/f/OTHER/UPLOAD').then((r) => r.text()),
    ])`,
  ],
  [
    'an input that is no plain data',
    `const input = new Proxy({}, { get: () => 'OTHER' })
    return all([call('store.get', input), call('ai.request', { path: { toString: () => 'v1/messages' }, body: {} })])`,
  ],
]

const page = (title: string, script: string): string => `<!doctype html><title>${title}</title>
<output></output><script>
const call = (name, input) => new Promise((done, fail) => {
  void service.ai, service.store, service.db, service.room, service.scores, service.files
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = ({ data }) => 'error' in data ? fail(new Error(data.error.code)) : 'taken' in data ? 0 : done(data)
  parent.parent.postMessage({ type: 'service:call', name, input }, '*', [port2])
})
const all = (calls) => Promise.all(calls.map((one) => Promise.race([
  Promise.resolve(one).catch((error) => 'failed: ' + error.message), wait()])))
const wait = () => new Promise((done) => setTimeout(done, ${tryMs}, 'waits'))
const attempt = async () => { ${script} }
Promise.race([attempt().catch((error) => 'failed: ' + error.message), wait()])
  .then((got) => { document.querySelector('output').textContent = 'got ' + JSON.stringify(got) })
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('ways through the bridge', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession(findWhole))
  }, ms)
  afterAll(() => close())

  test(
    'none spends, joins or reads a record of another app without a press',
    async () => {
      const ann = await t.agent('ann')
      const { person } = await createTestPerson(t, 'olga', 1n)
      const { cookie } = await createTestSession(t, { person })
      const other = await ann.publish({ title: 'Other', uses: ['db', 'scores', 'files'] })
      const keep = (method: string, path: string, body: object) =>
        t.call(method, `/apps/${other}${path}`, { headers: { cookie }, body })
      await keep('POST', '/player', { name: 'Olga' })
      await keep('PUT', '/value/own', { key: 'diary', value: secret })
      await keep('PUT', '/documents', { path: 'notes/1', data: { secret } })
      await keep('POST', '/scores', { score: 4_711 })
      const data = `data:application/json,${JSON.stringify(secret)}`
      const upload = (await keep('POST', '/uploads', { data })).text('url')
      const context = await browser.newContext()
      const [name = '', value = ''] = cookie.split('=')
      await context.addCookies([{ name, value, url: origin }])
      const tried: string[] = []
      for (const [title, script] of ways) {
        const id = await ann.publish({ html: page(title, 'return 0') })
        const html = page(
          title,
          script
            .replaceAll('UPLOAD', upload)
            .replaceAll('OTHER', other)
            .replaceAll('OWN', id)
            .replaceAll('ORIGIN', origin)
            .replaceAll('WS', origin.replace('http', 'ws')),
        )
        const sent = { html, uses: ['ai', 'store', 'shared', 'db', 'room', 'scores', 'files'] }
        expect((await ann.call('POST', `/apps/${id}/versions`, sent)).status).toBe(201)
        const shown = await context.newPage()
        await shown.goto(`${origin}/a/${id}`)
        const output = shown.frameLocator('iframe').frameLocator('iframe').locator('output')
        await output.filter({ hasText: 'got' }).waitFor()
        const got = (await output.textContent()) ?? ''
        expect([title, got.includes(secret) || got.includes('4711')]).toEqual([title, false])
        tried.push(title)
        await shown.close()
      }
      expect(tried).toHaveLength(ways.length)
      const me = await t.call('GET', '/people/me', { headers: { cookie } })
      expect(me.body).toMatchObject({ credits: 1_000, held: 0 })
      expect(await t.ctx.db.read.select().from(consents)).toEqual([])
      const joined = await t.ctx.db.read.select().from(players)
      expect(joined.flatMap(({ app, joined: at }) => (at === null ? [] : [app]))).toEqual([other])
      await context.close()
    },
    ms,
  )
})
