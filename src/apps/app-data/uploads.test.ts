import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import {
  createPlayers,
  idOf,
  type PlayerCalls,
  startWithApp,
} from '../../testing/fixtures/players.ts'
import { takeSnapshot } from '../../testing/fixtures/snapshot.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { takeDown } from '../moderation/moderation.ts'
import { uploadBytesPerAppMax, uploadsPerPlayerMax } from './limits.ts'
import { uploads } from './tables.ts'

let t: TestServer
let ann: TestAgent
let app: string
beforeEach(async () => void ({ t, ann, app } = await startWithApp({ html: page })))
afterEach(() => t.close())

const page = '<!doctype html><title>Wall</title><script>service.files.upload</script>'
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = `data:image/png;base64,${png}`

const { callWith, guest, person } = createPlayers(() => ({ t, app }))
const upload = (call: PlayerCalls, data: unknown = image) => call('POST', '/uploads', { data })
const urlFor = async (call: PlayerCalls): Promise<string> => (await upload(call)).text('url')
const records = async (query = '') =>
  Object((await ann.call('GET', `/apps/${app}/records?kind=upload${query}`)).body).records

/** Returns the address of the files of an app, as its shell names it. */
async function addressOf(id: string): Promise<string> {
  const { body } = await t.request('GET', `/a/${id}`)
  return /\/f\/[0-9a-f]+\//.exec(String(body))?.[0] ?? ''
}
const load = (address: string, url: string) =>
  t.request('GET', address + url, { headers: { 'sec-fetch-dest': 'image' } })

test('an image of one player loads for all in each version of the app', async () => {
  const olga = await person('olga')
  const { status, body } = await upload(olga)
  expect(status).toBe(200)
  expect(body).toEqual({
    url: expect.stringMatching(/^uploads\/\w{40}\.png$/),
    type: 'image/png',
    bytes: Buffer.from(png, 'base64').length,
  })
  const { url } = Object(body)
  const address = await addressOf(app)
  const loaded = await load(address, url)
  expect(loaded.headers.get('content-type')).toBe('image/png')
  expect(loaded.headers.get('access-control-allow-origin')).toBe('*')
  expect(loaded.bytes.toBase64()).toBe(png)
  // A page in a subfolder resolves it below that folder.
  expect((await load(address, `levels/1/${url}`)).status).toBe(200)
  // Pages of Claude Code store the name alone.
  expect((await load(address, String(url).replace('uploads', '_blob'))).status).toBe(200)
  await ann.call('PUT', `/apps/${app}`, { html: `${page}<p>2` })
  const next = await addressOf(app)
  expect((await load(next, url)).status).toBe(200)
  // The address of another app has no such file.
  const other = await ann.publish({ html: `${page}<p>other` })
  expect((await load(await addressOf(other), url)).status).toBe(404)
})

test('a page that shares no files gets no address', async () => {
  const id = await ann.publish({ uses: ['shared', 'db'] })
  expect(await addressOf(id)).toBe('')
})

test('an upload needs a player who agreed, and an app that says it', async () => {
  const olga = await person('olga')
  const before = await takeSnapshot(t.ctx)
  await expectError(t, 403, 'not_joined', () => upload(callWith()))
  await expectError(t, 403, 'cross_site', () =>
    t.call('POST', `/apps/${app}/uploads`, {
      body: { data: image },
      headers: { origin: 'https://evil.example' },
    }),
  )
  await expectError(t, 400, 'bad_request', () => upload(olga, 'https://a.example/x.png'))
  await expectError(t, 400, 'bad_request', () => upload(olga, 'data:image/png'))
  await expectError(t, 400, 'bad_request', () => upload(olga, 7))
  const html = Buffer.from('<script>alert(1)</script>').toString('base64')
  await expectError(t, 422, 'bad_asset', () => upload(olga, `data:image/png;base64,${html}`))
  await expectError(t, 413, 'asset_too_large', () =>
    upload(olga, `data:text/plain;base64,${'A'.repeat(5_600_000)}`),
  )
  expect(await takeSnapshot(t.ctx)).toEqual(before)
  app = await ann.publish({ uses: ['db'] })
  const gus = await guest('Gus')
  await expectError(t, 403, 'not_declared', () => upload(gus))
})

test('uploads count for the quota of the maker, and are released', async () => {
  await t.close()
  ;({ t, ann, app } = await startWithApp({ html: page }, { BYTES_PER_AGENT: '150000' }))
  const gus = await guest()
  const json = `data:application/json,${encodeURIComponent(JSON.stringify('a'.repeat(100_000)))}`
  expect((await upload(gus, json)).body).toMatchObject({ type: 'application/json' })
  await expectError(t, 409, 'storage_full', () => upload(gus, json))
  const author = { kind: 'author', name: await idOf(gus) }
  await ann.call('POST', `/apps/${app}/records/delete`, author)
  expect((await upload(gus, json)).status).toBe(200)
})

test('a player and an app have limits', async () => {
  const olga = await person('olga')
  const row = { app, type: 'image/png', sha256: '0'.repeat(64), created: 1 }
  const fill = (author: string, count: number, bytes: number) =>
    t.ctx.db.tx((db) =>
      db.insert(uploads).values(
        Array.from({ length: count }, (_, at) => ({
          ...row,
          author,
          bytes,
          name: `${author}${at}`,
        })),
      ),
    )
  await fill(await idOf(olga), uploadsPerPlayerMax, 1)
  await expectError(t, 409, 'data_full', () => upload(olga))
  const gus = await guest('Gus')
  expect((await upload(gus)).status).toBe(200)
  await fill('others', 1, uploadBytesPerAppMax)
  await expectError(t, 409, 'data_full', () => upload(gus))
})

test('guests add less in a day than players with an account', async () => {
  t.ctx.state.limits.guestBytes.max = 100
  const [gus, eve, olga] = [await guest(), await guest(), await person('olga')]
  expect((await upload(gus)).status).toBe(200)
  const before = await t.snapshot()
  await expectError(t, 409, 'data_full', () => upload(eve))
  expect(await t.snapshot()).toEqual(before)
  expect((await upload(olga)).status).toBe(200)
})

test('the maker sees who uploaded a file, and deletes it', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  const [one, two] = [await urlFor(olga), await urlFor(gus)]
  const listed = await records()
  expect(listed).toHaveLength(2)
  expect(listed).toContainEqual({
    kind: 'upload',
    name: one.replace('uploads/', ''),
    author: await idOf(olga),
    authorName: 'olga',
    value: image,
    bytes: expect.any(Number),
    updated: expect.any(String),
  })
  expect(await records('&limit=1')).toHaveLength(1)
  const remove = (kind: string, name: string) =>
    ann.call('POST', `/apps/${app}/records/delete`, { kind, name })
  expect((await remove('upload', one.replace('uploads/', ''))).body).toEqual({ deleted: 1 })
  const address = await addressOf(app)
  expect((await load(address, one)).status).toBe(404)
  expect((await load(address, two)).status).toBe(200)
  expect((await remove('author', await idOf(gus))).body).toEqual({ deleted: 1 })
  expect(await records()).toEqual([])
})

test('a takedown ends the addresses of uploads', async () => {
  const url = await urlFor(await person('olga'))
  const address = await addressOf(app)
  await takeDown(t.ctx, app, 'spam', 'operator')
  // On PostgreSQL, the viewer trusts what it read for half a second.
  t.clock.advance(1_000)
  expect((await load(address, url)).status).toBe(404)
})
