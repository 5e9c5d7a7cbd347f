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
  changedAgent,
  changedFile,
  type FileChanges,
  fillAgent,
  type FilledAgent,
  writeChanged,
} from '../../testing/fixtures/agent-archives.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

setDefaultTimeout(180_000)
let folder: ReturnType<typeof temporaryFolder>
const server = 'https://old.example'
let t: TestServer
let ids: FilledAgent
let zip: Uint8Array
let handle: string
beforeAll(async () => {
  const old = await startTestServer({ APP_URL: server })
  const ann = await old.agent('ann')
  ids = await fillAgent(old, ann)
  zip = (await ann.call('GET', '/me/export')).bytes
  handle = ann.handle
  await old.close()
  folder = temporaryFolder('berth-rejected-')
})
afterAll(() => folder.remove())
beforeEach(async () => {
  t = await startTestServer()
})
afterEach(() => t.close())

const file = (name = 'ann.zip'): string => join(folder.path, name)
const importFile = (path = file()) =>
  runCommand(t.ctx, { command: 'import', words: [path, server, '', '0'] })
const write = (changes: FileChanges = {}): string => writeChanged(file(), zip, changes)
const changed = (path: string, fields: object): string => changedFile(zip, path, fields)

describe('an archive is rejected, and nothing is kept', () => {
  const app = () => `apps/${ids.game}/app.json`
  const line = (fields: object) => `${JSON.stringify(fields)}\n`
  const comment = { id: 'abcdefghijkl', text: 'x', replyTo: null, created: '2026-01-01T00:00:00Z' }
  const ownComment = () => line({ ...comment, item: ids.game, author: `@${handle}` })
  const note = { kind: 'credits.received', at: comment.created, read: true, text: 'x', data: {} }
  const origin = { id: 'abcdefghijkl', title: 'Boats', maker: '@ben' }
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
      'with a balance that is no amount',
      () => write({ 'agent.json': changedAgent(zip, { credits: 0.000_000_1 }) }),
      '"agent.credits" must have at most six decimals',
    ],
    [
      'with an item that has the id of the agent',
      () => write({ 'agent.json': changedAgent(zip, { id: ids.site }) }),
      '/app.json has the id of the agent',
    ],
    [
      'with a remix of a giant title',
      () => write({ [app()]: changed(app(), { remixOf: { ...origin, title: 'x'.repeat(81) } }) }),
      '"remixOf.title" must be one plain line',
    ],
    [
      'with a remix of no handle',
      () => write({ [app()]: changed(app(), { remixOf: { ...origin, maker: 'x'.repeat(99) } }) }),
      '"remixOf.maker" must be',
    ],
    [
      'with a giant page',
      () => write({ [`apps/${ids.site}/versions/1/index.html`]: 'x'.repeat(4_194_305) }),
      'index.html has 4,194,305 bytes. The limit is 4,194,304',
    ],
    [
      'with a giant ledger',
      () => write({ 'ledger.jsonl': '\n'.repeat(67_108_865) }),
      'ledger.jsonl has 67,108,865 bytes. The limit is 67,108,864',
    ],
    [
      'with a ledger that ends early',
      () => write({ 'ledger.jsonl': '{}' }),
      'ledger.jsonl ends within a line',
    ],
    [
      'with too many notes',
      () => write({ 'notes.jsonl': line(note).repeat(1_001) }),
      'notes.jsonl has more than 1,000 lines',
    ],
    [
      'with too many comments',
      () => write({ 'comments.jsonl': ownComment().repeat(10_001) }),
      'comments.jsonl has more than 10,000 lines',
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
      [file(), server, 'admin', '0'],
      [file(), server, 'A B', '0'],
      [file(), server, '', '-5'],
      [file(), server, '', '1', 'more'],
      [],
    ]) {
      expect(await runCommand(t.ctx, { command: 'import', words })).toMatchObject({ ok: false })
    }
    expect(await t.snapshot()).toEqual(before)
  })

  test('whose server is not the one that the operator names', async () => {
    write()
    const before = await t.snapshot()
    for (const from of ['', 'https://other.example', `${server}/a`]) {
      const words = [file(), from, '', '0']
      const { ok, text } = await runCommand(t.ctx, { command: 'import', words })
      expect([ok, text]).toEqual([false, expect.stringContaining(`repeat that: --from ${server}`)])
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
