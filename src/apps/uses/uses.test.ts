import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { callTool } from '../../testing/fixtures/mcp-server.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { findShims, findUses } from './uses.ts'

let t: TestServer
let ann: TestAgent
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
})
afterEach(() => t.close())

const page = (text: string): string => `<!doctype html><title>Oracle</title>${text}`
const hidden = page(
  "<script>const name = 'a' + 'i'; self['ser' + 'vice'][name].chat('Hi')</script>",
)
const usesOf = async (id: string) => Object((await t.call('GET', `/explore/${id}`)).body).uses

test('a maker declares what the text does not name, until a version sends other uses', async () => {
  const sent = { html: hidden, uses: ['ai', 'room'], store: true }
  const dry = await ann.call('POST', '/apps', { ...sent, dryRun: true })
  expect(dry.body).toMatchObject({ scan: { uses: ['ai', 'room'] } })
  const published = await ann.call('POST', '/apps', sent)
  expect(published.body).toMatchObject({ scan: { uses: ['ai', 'room'] } })
  const id = published.text('app.id')
  expect(JSON.stringify((await t.request('GET', `/a/${id}/files`)).body)).toContain('bridge.')
  const publish = (body: object) => ann.call('POST', `/apps/${id}/versions`, body)
  const found = page('<script>service.store.get("a")</script>')
  expect((await publish({ html: found })).body).toMatchObject({
    scan: { uses: ['ai', 'store', 'room'] },
  })
  const edits = [{ search: '"a"', replace: '"b"' }]
  expect((await publish({ patch: { edits } })).body).toMatchObject({
    scan: { uses: ['ai', 'store', 'room'] },
  })
  expect((await publish({ html: found, uses: [] })).body).toMatchObject({
    scan: { uses: ['store'] },
  })
  await ann.call('POST', `/apps/${id}/versions/1/restore`)
  expect(await usesOf(id)).toEqual(['ai', 'room'])
  const ben = await t.agent('ben')
  const remix = (await ben.call('POST', `/apps/${id}/remix`)).text('app.id')
  await ben.call('PATCH', `/apps/${remix}`, { store: true })
  expect(await usesOf(remix)).toEqual(['ai', 'room'])
})

test('uses are known names, and nothing is stored for others', async () => {
  for (const uses of [['network'], ['ai', 'ai'], 'ai', [1]]) {
    await expectError(t, 400, 'bad_request', () =>
      ann.call('POST', '/apps', { html: hidden, uses }),
    )
  }
  const built = { prompt: 'A calm checklist', uses: ['ai'] }
  await expectError(t, 400, 'bad_request', () => ann.call('POST', '/apps', built))
})

test('Explore and MCP list the items with a use, also in a search', async () => {
  const publish = (title: string, html: string) => ann.publish({ html, title, store: true })
  const oracle = await publish('Oracle of the sea', page("<script>service.ai.chat('a')</script>"))
  const board = await publish('Sea board', page('<script>service.db.collection("a")</script>'))
  const plain = await publish('Sea clock', page('<p>12:00'))
  const find = async (query: string) =>
    Object((await t.call('GET', `/explore?${query}`)).body).items.map(
      (one: { id: string }) => one.id,
    )
  expect(await find('uses=ai')).toEqual([oracle])
  expect(await find('uses=db&q=sea')).toEqual([board])
  expect(await find('uses=ai&q=sea&sort=top&limit=1')).toEqual([oracle])
  expect((await find('q=sea')).toSorted()).toEqual([plain, board, oracle].toSorted())
  await expectError(t, 400, 'bad_request', () => t.call('GET', '/explore?uses=network'))
  const tool = await callTool(t, 'explore', { uses: 'ai' }, { key: ann.key })
  expect(tool.structuredContent).toMatchObject({ items: [{ id: oracle, uses: ['ai'] }] })
  const shown = String((await t.request('GET', '/explore?uses=ai')).body)
  expect(shown).toContain('Oracle of the sea')
  expect(shown).not.toContain('Sea board')
})

test('a folder or a declaration that shares data may not ask for a password', async () => {
  const html = page('<form><input type=password name=code></form><script src=a.js></script>')
  const text = 'service.db.collection("a").add({ code: document.forms[0].code.value })'
  const files = [
    { path: 'index.html', text: html },
    { path: 'a.js', text },
  ]
  const blocked = await ann.call('POST', '/apps', { files })
  expect([blocked.status, blocked.code]).toEqual([422, 'blocked_by_scan'])
  expect(JSON.stringify(blocked.body)).toContain('share.credentials')
  await expectError(t, 422, 'blocked_by_scan', () =>
    ann.call('POST', '/apps', { html, uses: ['room'] }),
  )
  expect((await ann.call('POST', '/apps', { html })).status).toBe(201)
})

test('a page that hands service on gets its script, and one that only looks for it does not', async () => {
  const handing = [
    'const app = window.service; app.db.doc("a/1")',
    'const app = service ?? {}; app["d" + "b"].doc("a/1")',
    'createGame(service)',
    'createGame({ api: self.service })',
  ]
  const others = [
    'if (window.service) window.service.knobs.get("speed")',
    'const speed = window.service?.knobs?.get("speed")',
    'const { knobs } = service',
    'customer(services)',
  ]
  for (const [texts, has] of [
    [handing, true],
    [others, false],
  ] as const) {
    for (const text of texts) {
      const sent = await ann.call('POST', '/apps', { html: page(`<script>${text}</script>`) })
      expect(sent.body).toMatchObject({ scan: { uses: [] } })
      const files = await t.request('GET', `/a/${sent.text('app.id')}/files`)
      expect([text, JSON.stringify(files.body).includes('bridge.')]).toEqual([text, has])
    }
  }
})

test('a page with the SDK of a vendor, or only the user of another host, gets its script', () => {
  const names = (text: string): string[] => findShims(text).map(({ name }) => name)
  for (const name of [
    'openai@4',
    '@anthropic-ai/sdk',
    '@google/genai',
    '@google/generative-ai',
    '@ai-sdk/openai',
    '@ai-sdk/anthropic',
    '@langchain/google-genai',
  ])
    expect([name, names(`import x from 'https://esm.sh/${name}'`)]).toEqual([name, ['model-apis']])
  expect(names('await websim.getUser()')).toEqual(['websim-user'])
  expect(names('await window.spark.user()')).toEqual(['spark-user'])
})

test('a page gets the script of a host in every form of its name', () => {
  const forms: [text: string, name: string][] = [
    [
      '(_a = window.claude) === null || _a === void 0 ? void 0 : _a.complete("x")',
      'claude-complete',
    ],
    ['const c=window.claude;c.complete("x")', 'claude-complete'],
    ['const { complete } = window.claude', 'claude-complete'],
    ['await storage.get("notes", true)', 'claude-storage'],
    ['const use = window.claude && window.claude.use', 'claude-use'],
    ['window.claude.downloads.save({ filename, data })', 'claude-use'],
    ['["db", "assets"].map((name) => claude.use(name))', 'claude-assets'],
    ['const { chat, imageGen } = window.websim', 'websim-ai'],
    ['const { registerHandler, sendUserMessage } = Poe', 'poe'],
    ['const { ai, kv, fs } = puter', 'puter-fs'],
    ['window["puter"]["kv"]["get"]("x")', 'puter-kv'],
    ["import puter from 'https://esm.sh/@heyputer/puter.js'", 'puter'],
    ['const { llm, user } = spark', 'spark-llm'],
    ['const { LanguageModel: Model } = self', 'language-model'],
    ['https://www.gstatic.com/firebasejs/10.12.2/firebase-app-compat.js', 'firebase-compat'],
    ['https://www.gstatic.com/firebasejs/8.10.1/firebase-firestore.js', 'firebase-compat'],
    ["import firebase from 'https://esm.sh/firebase@9/compat/app'", 'firebase-compat'],
  ]
  for (const [text, name] of forms)
    expect([text, findShims(text).map((shim): string => shim.name)]).toEqual([
      text,
      expect.arrayContaining([name]),
    ])
})

test('a page that only mentions a host, or has names of its own, gets no script', () => {
  for (const text of [
    'Claude, Poe, Puter, websim and GitHub Spark host pages.',
    '<canvas class="spark"></canvas><script>const spark = particles[0]; spark.life -= 1</script>',
    'if (image.complete) draw({ model: "claude-sonnet-4", role: "user" })',
    'const storage = new Map(); const saved = await storage.get("a")',
    'import { LanguageModelV2 } from "provider"',
    'const firebase = null; const app = initializeApp()',
    'const room = rooms.join("lobby"); user.id(); db.doc("a/b")',
  ])
    expect([text, findUses(text)]).toEqual([text, { service: [], shims: [] }])
})

test('a page of Claude Code uses what it names', () => {
  const usesOf = (text: string) => findUses(text).service
  expect(usesOf('const room = await claude.use("room")')).toEqual(['room'])
  expect(usesOf('claude.use("sample").then((s) => s([{ role: "user", content }]))')).toEqual(['ai'])
  expect(usesOf('await claude.use("user"); await claude.use("downloads")')).toEqual(['db'])
  expect(usesOf('(await claude.use("downloads")).save({ filename, data })')).toEqual([])
  expect(usesOf('for (const name of names) await claude.use(name)')).toEqual(['db', 'room'])
})
