import { afterAll, expect, test } from 'bun:test'

import { unzipSync } from 'fflate'

import { sha256 } from '../../kernel/ids.ts'
import { expectError } from '../../testing/expect-error.ts'
import { FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import { getPerson, password } from '../../testing/fixtures/people.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { documents, players, uploads, values } from '../app-data/tables.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
afterAll(() => t.close())

const linesOf = (bytes: Uint8Array | undefined): unknown[] =>
  new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** Plays an app as a person: joins it, and keeps a value and a document. */
async function play(browser: FormBrowser, app: string, name: string) {
  const headers = { cookie: `berth=${browser.cookie()}` }
  const call = (method: string, path: string, body: object) =>
    t.call(method, `/apps/${app}${path}`, { body, headers })
  expect((await call('POST', '/player', { name })).status).toBe(200)
  for (const scope of ['own', 'shared']) {
    const body = { key: 'best', value: `${name} ${scope}` }
    expect((await call('PUT', `/value/${scope}`, body)).status).toBe(200)
  }
  const body = { path: `data/public/scores/${name}`, data: { points: 7 } }
  expect((await call('PUT', '/documents', body)).status).toBe(200)
  const data = `data:application/json,"${name}"`
  expect((await call('POST', '/uploads', { data })).status).toBe(200)
}

const uses = ['shared', 'db', 'files']

const rowsOf = async () => ({
  players: (await t.ctx.db.read.select().from(players)).map(({ name }) => name),
  values: (await t.ctx.db.read.select().from(values)).map(({ value }) => value),
  documents: (await t.ctx.db.read.select().from(documents)).map(({ data }) => data),
  uploads: (await t.ctx.db.read.select().from(uploads)).length,
})

test('a person exports the account and what it keeps in apps, and deletes both', async () => {
  const [first, second] = [await ann.publish({ uses }), await ann.publish({ uses })]
  const [olga, bea] = [await signUp(t, 'olga'), await signUp(t, 'beatrix')]
  await play(bea, first, 'Bea')
  await play(olga, second, 'Olga')
  const before = await rowsOf()
  await play(olga, first, 'Olga')
  const headers = { cookie: `berth=${olga.cookie()}` }
  const { status, bytes } = await t.call('GET', '/people/me/export', { headers })
  expect(status).toBe(200)
  const files = unzipSync(bytes)
  const { name } = await getPerson(t, 'olga')
  expect(JSON.parse(new TextDecoder().decode(files['person.json']))).toMatchObject({
    format: 1,
    person: { name },
    sessions: [{ browser: expect.any(String) }],
    agents: [expect.any(String)],
  })
  const kept = linesOf(files['players.jsonl'])
  for (const app of [first, second]) {
    for (const row of [
      { kind: 'player', app, name: 'Olga' },
      { kind: 'value', app, name: 'best', value: 'Olga own' },
      { kind: 'shared value', app, name: 'best', value: 'Olga shared' },
      { kind: 'document', app, name: 'data/public/scores/Olga', value: { points: 7 } },
      { kind: 'upload', app, value: `data:application/json;base64,${btoa('"Olga"')}` },
    ]) {
      expect(kept).toContainEqual(expect.objectContaining(row))
    }
  }
  expect(JSON.stringify(kept)).not.toContain('Bea')
  for (const line of new TextDecoder().decode(files['SHA256SUMS']).trim().split('\n')) {
    const [hash = '', path = ''] = line.split('  ')
    expect(sha256(files[path] ?? '')).toBe(hash)
  }

  const page = await olga.open('/account/export')
  expect(Object.keys(unzipSync(page.bytes))).toEqual(Object.keys(files))

  expect((await olga.fill('/account', '/account/leave', { password })).status).toBe(200)
  const after = await rowsOf()
  expect(before.players).toContain('Olga')
  expect(after.players).toEqual(['Bea'])
  expect(after.values).toEqual(['Bea own'])
  expect([before.uploads, after.uploads]).toEqual([2, 1])
  expect(after.documents.filter((data) => data !== null)).toEqual([{ points: 7 }])
})

test('only the person exports the account, with a session or a personal key', async () => {
  await expectError(t, 401, 'no_key', () => t.call('GET', '/people/me/export'))
  await expectError(t, 403, 'wrong_key_kind', () => ann.call('GET', '/people/me/export'))
})
