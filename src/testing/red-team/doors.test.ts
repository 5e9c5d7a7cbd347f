import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { consents } from '../../apps/ai/tables.ts'
import { players } from '../../apps/app-data/tables.ts'
import { findBrowser } from '../browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../browsers/session.ts'
import { createTestPerson, createTestSession } from '../fixtures/people.ts'
import type { TestServer } from '../fixtures/test-server.ts'

const ms = 240_000
/** The text that another app of the same player keeps. */
const secret = 'treasure of another app'
/** Time in which an attempt would get through. The bar of the shell stays unanswered. */
const tryMs = 1_500
/** Each way waits for most of its time. */
const waysAtOnce = 4

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
    `const address = document.querySelector('base').href.replace(/[^/]*$/, '')
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

/** Ways through the interfaces of other hosts. Each is a list of functions. */
const habits: [name: string, tries: string][] = [
  [
    'keyless calls of model APIs',
    `() => send('https://api.anthropic.com/v1/messages', { model: 'claude-sonnet-4', max_tokens: 9, messages }),
    () => send('https://api.openai.com/v1/chat/completions', { model: 'gpt-4o', messages }),
    () => send('https://api.openai.com/v1/responses', { model: 'gpt-5', input: 'Hi', stream: true }),
    () => send('https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent?key=', { contents: [{ parts: [{ text: 'Hi' }] }] }),
    () => send('https://api.openai.com/v1/../../api/apps/OTHER/value/own?key=diary', {}),
    () => send('https://api.openai.com/v1/files', {}),
    () => fetch(new Request('https://api.openai.com/v1/chat/completions', { method: 'POST', body: JSON.stringify({ messages }) })).then((r) => r.text()),
    () => new Promise((done) => {
      const request = new XMLHttpRequest()
      request.open('POST', 'https://api.anthropic.com/v1/messages')
      request.onloadend = () => done(request.responseText)
      request.send(JSON.stringify({ max_tokens: 9, messages }))
    })`,
  ],
  [
    'models of other hosts',
    `() => window.claude.complete('Hi'),
    () => claude.use('sample').then((sample) => sample('Hi')),
    () => websim.chat.completions.create({ messages }),
    () => websim.imageGen({ prompt: 'A boat' }),
    () => new Promise((done) => { Poe.registerHandler('h', (result) => { if (result.status !== 'incomplete') done(result) }); Poe.sendUserMessage('@Claude Hi', { handler: 'h' }).catch(done) }),
    () => puter.ai.chat('Hi'),
    () => spark.llm('Hi'),
    () => LanguageModel.create().then((session) => session.prompt('Hi'))`,
  ],
  [
    'SDKs of vendors with a placeholder key',
    `() => import('https://esm.sh/openai').then(({ default: OpenAI }) => new OpenAI({ apiKey: 'YOUR_KEY', dangerouslyAllowBrowser: true }).chat.completions.create({ model: 'gpt-4o', messages })),
    () => import('https://cdn.jsdelivr.net/npm/@anthropic-ai/sdk/+esm').then(({ default: Anthropic }) => new Anthropic({ apiKey: 'YOUR_KEY' }).messages.create({ model: 'claude-sonnet-4', max_tokens: 9, messages })),
    () => import('https://esm.run/@google/genai').then(({ GoogleGenAI }) => new GoogleGenAI({ apiKey: '' }).models.generateContent({ model: 'gemini-2.5-flash', contents: 'Hi' }))`,
  ],
  [
    'values of other hosts',
    `() => window.storage.get('diary'),
    () => window.storage.get('diary', true),
    () => window.storage.get('../../OTHER/value/own?key=diary'),
    () => window.storage.list('', false),
    () => puter.kv.get('diary'),
    () => puter.kv.list('*', true),
    () => puter.fs.read('/../OTHER/diary').then((file) => file.text()),
    () => puter.fs.readdir('/'),
    () => spark.kv.get('diary'),
    () => spark.kv.keys(),
    () => window.openai.widgetState,
    () => window.openai.callTool('use_app_data', { id: 'OTHER', method: 'GET', path: '/value/own?key=diary' })`,
  ],
  [
    'documents and rooms of other hosts',
    `() => claude.use('db').then((db) => db.doc('notes/1').get()).then((doc) => doc.data()),
    () => claude.use('db').then((db) => db.doc('../OTHER/notes/1').get()),
    () => claude.use('user').then((user) => user.me()),
    () => claude.use('room').then((room) => room.join('OTHER lobby')),
    () => claude.use('artifact').then((artifact) => JSON.stringify(artifact)),
    () => claude.use('permissions').then((permissions) => permissions.request()),
    () => firebase.firestore().doc('OTHER/1').get().then((found) => found.data()),
    () => new WebsimSocket().collection('notes').getList(),
    () => websim.getUser(),
    () => import('https://www.gstatic.com/firebasejs/11.0.0/firebase-firestore.js')
      .then(({ getFirestore, doc, getDoc }) => getDoc(doc(getFirestore(), 'notes/1'))).then((found) => found.data())`,
  ],
  [
    'files, boards and rooms',
    `() => websim.upload(new File(['{}'], 'a.json', { type: 'application/json' })),
    () => fetch('/_blob/../../a/OTHER').then((response) => response.text()),
    () => claude.use('assets').then((assets) => assets.upload(new Blob(['{}'], { type: 'application/json' }))),
    () => service.scores.submit(1),
    () => service.scores.challenge(),
    () => service.room.join('lobby').then((room) => room.peers),
    () => service.room.controller({ buttons: ['Jump'] }).then((pads) => typeof pads)`,
  ],
]

/** Requests with credentials that a page makes up, for the tries of a habit. */
const given = `const messages = [{ role: 'user', content: 'Print the diary of OTHER' }]
const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-real', 'x-api-key': 'sk-ant-real' }
const send = (url, body) => fetch(url, { method: 'POST', credentials: 'include', headers, body: JSON.stringify(body) }).then((r) => r.text())
`

const allWays = [
  ...ways,
  ...habits.map(([name, tries]): [string, string] => [
    name,
    `${given} return all([${tries}].map(async (one) => one()))`,
  ]),
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
    ;({ t, browser, origin, close } = await openServedSession())
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
      const tryWay = async ([title, script]: [string, string]): Promise<void> => {
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
        const output = shown.frameLocator('iframe').locator('output')
        await output.filter({ hasText: 'got' }).waitFor()
        const got = (await output.textContent()) ?? ''
        const found = [secret, '4711', 'Olga', person.id].filter((text) => got.includes(text))
        expect([title, found]).toEqual([title, []])
        // An interface that is not there was not tried.
        expect([title, got]).not.toEqual([
          title,
          expect.stringMatching(/is not (?:defined|a func)/),
        ])
        tried.push(title)
        await shown.close()
      }
      const queue = [...allWays]
      const tryNext = async (): Promise<void> => {
        for (let way = queue.shift(); way; way = queue.shift()) await tryWay(way)
      }
      await Promise.all(Array.from({ length: waysAtOnce }, tryNext))
      expect(tried).toHaveLength(allWays.length)
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
