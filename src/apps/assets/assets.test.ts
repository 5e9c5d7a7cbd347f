import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { encodeWav } from '../../gateway/providers/wav.ts'
import { loadConfig } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { sha256 } from '../../kernel/ids.ts'
import { assetBytesMax } from '../../kernel/limits.ts'
import { openLog } from '../../kernel/log.ts'
import { day, hour, minute } from '../../kernel/time.ts'
import * as agents from '../../people/agents/agents.ts'
import { closeContext, createContext } from '../../server/context.ts'
import type { RequestHandler } from '../../server/http/middleware.ts'
import { createRouter } from '../../server/http/router.ts'
import { openDiskStore } from '../../store/disk.ts'
import { declaredResponses } from '../../testing/fixtures/declared-responses.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import { chromeMp4, chromeWebm, makeRecording } from '../../testing/fixtures/recordings.ts'
import { unlimited } from '../../testing/fixtures/unlimited.ts'
import { purgeDeleted } from '../deletion.ts'
import * as assets from './assets.ts'
import { contents } from './assets.ts'

const sample = (name: string): Buffer =>
  readFileSync(join(import.meta.dir, '../../../public/samples/lampkeeper/assets', name))
const image = sample('oil.png')
const page = (body = ''): string => `<!doctype html><title>Boats</title><p>hello</p>${body}`
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
/** Returns a unique audio file of `bytes` bytes. */
const soundOf = async (bytes: number, seed: number): Promise<Buffer> =>
  Buffer.from(await encodeWav(new Uint8Array(bytes - 44).fill(seed), 22_050).bytes())
const bell = await soundOf(70_604, 7)

let dir = ''
let ctx: AppContext
let handler: RequestHandler
let logged: Record<string, unknown>[] = []
const clock = { ms: Date.UTC(2030, 0, 1), now: () => clock.ms }

async function open(settings: Record<string, string> = {}): Promise<void> {
  dir = mkdtempSync(join(tmpdir(), 'berth-assets-'))
  const config = loadConfig({ DATA_DIR: dir, ...unlimited, ...settings }, {})
  logged = []
  const log = openLog(clock, (line) => void logged.push(JSON.parse(line)))
  ctx = await createContext(config, 'http://localhost', { clock, log, db: await freshEngine() })
  handler = declaredResponses(ctx, createRouter(ctx), logged)
}
async function close(): Promise<void> {
  expect(logged.filter(({ level }) => level === 'error')).toEqual([])
  await closeContext(ctx)
  rmSync(dir, { recursive: true, force: true })
}
beforeEach(() => open())
afterEach(() => close())

type Body = Uint8Array | string | undefined
async function call(method: string, path: string, key = '', body?: Body, type?: string) {
  const url = path.startsWith('http') ? path : `http://localhost/api${path}`
  const headers = {
    ...(key && { authorization: `Bearer ${key}` }),
    ...(type && { 'content-type': type }),
  }
  const request = new Request(url, { method, headers, ...(body !== undefined && { body }) })
  const response = await handler(request, '127.0.0.1')
  const bytes = await response.bytes()
  const isJson = /^application\/json/.test(response.headers.get('content-type') ?? '')
  const result = isJson ? JSON.parse(new TextDecoder().decode(bytes)) : undefined
  return { status: response.status, headers: response.headers, bytes, body: result }
}

async function newKey(): Promise<string> {
  return (await call('POST', '/keys')).body.key
}
async function newApp(key: string, html = page()): Promise<string> {
  const body = JSON.stringify({ html })
  const { status, body: response } = await call('POST', '/apps', key, body, 'application/json')
  expect(status).toBe(201)
  return response.app.id
}
const put = (key: string, app: string, name: string, bytes: Body, type?: string) =>
  call('PUT', `/apps/${app}/assets/${name}`, key, bytes, type)
const list = async (key: string, app: string) =>
  (await call('GET', `/apps/${app}/assets`, key)).body
const kept = async (key: string): Promise<number> => {
  const found = await ctx.keys.find(key)
  return (await agents.findAgent(ctx, found?.owner ?? ''))?.storedBytes ?? -1
}

test('an upload is typed by content, listed, read, previewed and deleted', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  const empty = await list(ann, app)
  const limits = { fileBytes: 4_194_304, files: 300, appBytes: 67_108_864 }
  expect(empty).toMatchObject({ version: 1, assets: [], waiting: [], limits })
  const made = await put(ann, app, 'oil.mp3', image, 'audio/mpeg')
  expect(made.status).toBe(201)
  const facts = { name: 'oil.mp3', kind: 'picture', type: 'image/png', width: 64, height: 64 }
  const asset = { ...facts, bytes: image.length, sha256: sha256(image), maker: 'upload' }
  expect(made.body.asset).toMatchObject(asset)
  const listed = await list(ann, app)
  expect(listed).toMatchObject({ assets: [asset], used: { files: 1, bytes: image.length } })

  const own = await call('GET', `/apps/${app}/assets/oil.mp3`, ann)
  expect(sha256(own.bytes)).toBe(sha256(image))
  const look = await call('GET', listed.assets[0].url)
  expect(sha256(look.bytes)).toBe(sha256(image))
  for (const { headers } of [own, look]) {
    expect(headers.get('content-type')).toBe('image/png')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('cache-control')).toStartWith('private')
  }
  expect(own.headers.get('content-disposition')).toBe('attachment; filename="oil.mp3"')

  const gone = await call('DELETE', `/apps/${app}/assets/oil.mp3`, ann)
  expect(gone).toMatchObject({ status: 200, body: { name: 'oil.mp3' } })
  for (const method of ['GET', 'DELETE']) {
    const again = await call(method, `/apps/${app}/assets/oil.mp3`, ann)
    expect(again).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
  expect((await call('GET', listed.assets[0].url)).status).toBe(404)
  expect(await list(ann, app)).toMatchObject({ assets: [], used: { files: 0, bytes: 0 } })
})

test('files can be sent raw, as JSON, and as a data URL', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  const urlOf = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString('base64')}`
  const asJson = 'application/json; charset=utf-8'
  const sent: [string, Body, string | undefined, string][] = [
    ['a', bell, undefined, 'audio/wav'],
    ['b', image, 'application/x-www-form-urlencoded', 'image/png'],
    ['c', image, 'application/json', 'image/png'],
    ['d', json({ data: urlOf(image) }), asJson, 'image/png'],
    ['e', json({ data: 'data:,%7B%22a%22:1%7D' }), asJson, 'application/json'],
    ['f', json({ data: urlOf(image), more: 1 }), asJson, 'application/json'],
    ['g', json({ level: [1, 2] }), asJson, 'application/json'],
    ['h', json({ data: urlOf(image) }), 'text/plain', 'application/json'],
  ]
  for (const [name, body, type, kind] of sent) {
    const { status, body: response } = await put(ann, app, name, body, type)
    expect([name, status, response.asset?.type]).toEqual([name, 201, kind])
  }
  expect(
    (await list(ann, app)).assets.find(({ name }: { name: string }) => name === 'a'),
  ).toMatchObject({ kind: 'sound', seconds: 1.6 })
  expect((await put(ann, app, 'a', image)).status).toBe(200)
  expect(await list(ann, app)).toMatchObject({ used: { files: 8 } })
  for (const data of ['data:image/png;base64,***', 'data:nothing', 'data:,%E0%A4%A']) {
    const { status, body: response } = await put(ann, app, 'z', json({ data }), asJson)
    expect([status, response.code]).toEqual([400, 'bad_request'])
  }
})

test('recordings and photos of phones are assets', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  const jpeg = await new Bun.Image(image).jpeg().bytes()
  const video = await makeRecording('mp4', 1, { hasVideo: true })
  for (const [name, bytes, facts] of [
    ['a.m4a', await makeRecording('fast mp4', 2), { type: 'audio/mp4', seconds: 2 }],
    ['b.m4a', chromeMp4, { type: 'audio/mp4', seconds: 3.939 }],
    ['c.webm', chromeWebm, { type: 'audio/webm', seconds: 3.952 }],
    ['d.jpg', Buffer.concat([jpeg, jpeg, video]), { type: 'image/jpeg', width: 64 }],
  ] as const) {
    const { status, body } = await put(ann, app, name, bytes)
    expect([status, body.asset]).toMatchObject([201, facts])
    const own = await call('GET', `/apps/${app}/assets/${name}`, ann)
    expect(sha256(own.bytes)).toBe(sha256(bytes))
  }
  for (const bytes of [video, Buffer.concat([jpeg, Buffer.from('PK\x03\x04')])]) {
    expect((await put(ann, app, 'e', bytes)).body.code).toBe('bad_asset')
  }
})

test('rejects a missing key, another agent, a wrong id, assets off and a deleted app', async () => {
  const [ann, ben] = [await newKey(), await newKey()]
  const app = await newApp(ann)
  await put(ann, app, 'oil.png', image)
  const ways: [string, string][] = [
    ['GET', `/apps/${app}/assets`],
    ['PUT', `/apps/${app}/assets/oil.png`],
    ['GET', `/apps/${app}/assets/oil.png`],
    ['DELETE', `/apps/${app}/assets/oil.png`],
  ]
  const codes = async (key: string, change = (path: string) => path) => {
    const found: unknown[] = []
    for (const [method, path] of ways) {
      const body = method === 'PUT' ? 'not even a file' : undefined
      const { status, body: response } = await call(method, change(path), key, body)
      found.push(`${status} ${response?.code}`)
    }
    return new Set(found)
  }
  expect(await codes('')).toEqual(new Set(['401 no_key']))
  expect(await codes('ak_wrong')).toEqual(new Set(['401 bad_key']))
  expect(await codes(ben)).toEqual(new Set(['404 not_found']))
  const short = await codes(ann, (path) => path.replace(app, 'short'))
  expect(short).toEqual(new Set(['404 not_found']))
  const { url } = (await list(ann, app)).assets[0]
  await call('DELETE', `/apps/${app}`, ann)
  expect(await codes(ann)).toEqual(new Set(['404 not_found']))
  expect(await call('GET', url)).toMatchObject({ status: 404 })

  await close()
  await open({ ASSETS_ON: 'off' })
  const cy = await newKey()
  expect(await codes(cy)).toEqual(new Set(['404 assets_off']))
})

test('a preview URL cannot be changed and expires within the hour', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  await put(ann, app, 'oil.png', image)
  await put(ann, app, 'bell.wav', bell)
  const [, { url }] = (await list(ann, app)).assets
  expect((await call('GET', url)).status).toBe(200)
  const changed = [
    url.replace('oil.png', 'bell.wav'),
    url.replace(/expires=\d/, 'expires=9'),
    url.replace(/signature=../, 'signature=zz'),
    url.replace(/\?.*/, ''),
    url.replace('/1/', '/01/'),
    `${url}&expires=1`,
  ]
  for (const look of changed) {
    const { status } = await call('GET', look)
    expect([look, status >= 400 && status < 500]).toEqual([look, true])
  }
  clock.ms += 49 * minute
  expect((await call('GET', url)).status).toBe(200)
  clock.ms += 2 * minute
  const late = await call('GET', url)
  expect(late).toMatchObject({ status: 404, body: { code: 'not_found' } })
})

test('the pattern in the API description accepts valid names', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  for (const name of ['0..a_-.', 'a', 'a'.repeat(64)]) {
    expect((await put(ann, app, name, image)).status).toBe(201)
    expect((await call('DELETE', `/apps/${app}/assets/${name}`, ann)).status).toBe(200)
  }
})

test('rejects path-like names and unknown file types', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  const before = await kept(ann)
  const names = ['..', '%2e%2e%2fx', '%2Fetc%2Fpasswd', '.hidden', 'Oil.png', 'a%00b', '%20']
  for (const name of [...names, 'a'.repeat(65), 'ö.png']) {
    const { status, body: response } = await put(ann, app, name, image)
    // The URL parser resolves "..", so this is the path of the list, which has no PUT.
    const expected = name === '..' ? [405, 'method_not_allowed'] : [400, 'bad_request']
    expect([name, status, response.code]).toEqual([name, ...expected])
  }
  const polyglot = Buffer.concat([image, Buffer.from('<script>alert(1)</script>')])
  const bomb = Buffer.from(image)
  bomb.writeUInt32BE(60_000, 16)
  bomb.writeUInt32BE(60_000, 20)
  bomb.writeUInt32BE(Bun.hash.crc32(bomb.subarray(12, 29)), 29)
  for (const file of [undefined, '', '<!doctype html><p>', polyglot, bomb, image.subarray(9)]) {
    const { status, body: response } = await put(ann, app, 'x.png', file)
    expect([status, response.code]).toEqual([422, 'bad_asset'])
  }
  const rows = Buffer.from('month,sales\nJan,10\n')
  const { body: csv } = await put(ann, app, 'rows.json', rows)
  expect(csv.error).toContain('send CSV and other text as a JSON string')
  for (const bytes of [assetBytesMax + 1, 9_000_000]) {
    const large = await put(ann, app, 'x.wav', await soundOf(bytes, 1))
    expect([large.status, large.body.code]).toEqual([413, 'asset_too_large'])
  }
  expect(await list(ann, app)).toMatchObject({ assets: [] })
  expect(await kept(ann)).toBe(before)
  expect(await ctx.storage.usage()).toMatchObject({ files: 1 })
})

test('concurrent uploads stop at 300 files', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  for (let from = 0; from < 299; from += 50) {
    const names = Array.from({ length: Math.min(50, 299 - from) }, (_, index) => from + index)
    const made = await Promise.all(names.map((name) => put(ann, app, `f${name}`, json(name))))
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]))
  }
  const last = await Promise.all(['x', 'y'].map((name) => put(ann, app, name, json(name))))
  expect(last.map(({ status }) => status).sort()).toEqual([201, 409])
  const rejected = await put(ann, app, 'z', json('never'))
  expect([rejected.status, rejected.body.code]).toEqual([409, 'too_many_assets'])
  expect(await ctx.storage.has(sha256(json('never')))).toBe(false)
  expect((await put(ann, app, 'f7', json('again'))).status).toBe(200)
  expect(await list(ann, app)).toMatchObject({ used: { files: 300 } })
}, 60_000)

test('concurrent uploads stop at 64 MB', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  for (let index = 0; index < 15; index += 1) {
    const { status } = await put(ann, app, `s${index}`, await soundOf(assetBytesMax, index))
    expect(status).toBe(201)
  }
  const last = await Promise.all(
    [90, 91].map(async (seed) => put(ann, app, `s${seed}`, await soundOf(assetBytesMax, seed))),
  )
  expect(last.map(({ status }) => status).sort()).toEqual([201, 409])
  const rejected = await put(ann, app, 'more', bell)
  expect([rejected.status, rejected.body.code]).toEqual([409, 'assets_full'])
  expect(await ctx.storage.has(sha256(bell))).toBe(false)
  expect((await put(ann, app, 's3', await soundOf(assetBytesMax, 99))).status).toBe(200)
  expect(await list(ann, app)).toMatchObject({ used: { files: 16, bytes: 67_108_864 } })
}, 60_000)

test('the storage quota of an agent counts each content once per app', async () => {
  await close()
  await open({ BYTES_PER_AGENT: '250000' })
  const ann = await newKey()
  const app = await newApp(ann)
  const start = await kept(ann)
  await put(ann, app, 'one', await soundOf(100_000, 1))
  await put(ann, app, 'same', await soundOf(100_000, 1))
  expect(await kept(ann)).toBe(start + 100_000)
  await put(ann, app, 'two', await soundOf(100_000, 2))
  const full = await put(ann, app, 'three', await soundOf(100_000, 3))
  expect([full.status, full.body.code]).toEqual([409, 'storage_full'])
  expect(await ctx.storage.has(sha256(await soundOf(100_000, 3)))).toBe(false)
  expect((await put(ann, app, 'two', await soundOf(100_000, 4))).status).toBe(200)
  await call('DELETE', `/apps/${app}/assets/one`, ann)
  expect(await kept(ann)).toBe(start + 200_000)
  await call('DELETE', `/apps/${app}/assets/same`, ann)
  expect(await kept(ann)).toBe(start + 100_000)
})

test('old versions keep their files; only the newest changes', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  await put(ann, app, 'oil.png', image)
  const [{ url }] = (await list(ann, app)).assets
  const before = await kept(ann)
  const body = JSON.stringify({ html: page('two') })
  await call('POST', `/apps/${app}/versions`, ann, body, 'application/json')
  expect(await list(ann, app)).toMatchObject({ version: 2, assets: [{ name: 'oil.png' }] })
  await put(ann, app, 'oil.png', bell)
  await put(ann, app, 'new.json', json([1]))
  expect(await assets.listAssets(ctx, app, 1)).toMatchObject([
    { name: 'oil.png', type: 'image/png' },
  ])
  expect(sha256((await call('GET', url)).bytes)).toBe(sha256(image))
  await call('DELETE', `/apps/${app}/assets/oil.png`, ann)
  expect(await assets.listAssets(ctx, app, 1)).toHaveLength(1)
  await call('POST', `/apps/${app}/versions/1/restore`, ann)
  expect(await list(ann, app)).toMatchObject({ version: 3, assets: [{ type: 'image/png' }] })
  expect(await kept(ann)).toBeGreaterThanOrEqual(before)

  const [{ namedIn: namedInDb } = expect.unreachable()] = contents
  const namedIn = (names: string[]) => namedInDb(ctx.db.read, names)
  const named = await namedIn([sha256(image), sha256(bell)])
  expect(named).toEqual(new Set([sha256(image)]))
  await call('DELETE', `/apps/${app}`, ann)
  clock.ms += 31 * day
  await purgeDeleted(ctx, assets.deleteAllAssets)
  expect(await namedIn([sha256(image)])).toEqual(new Set())
  expect(await kept(ann)).toBe(0)
  await ctx.storage.sweep(namedIn, hour)
  expect(await ctx.storage.usage()).toMatchObject({ files: 0 })
})

test('assets that the page requests are missing until they exist', async () => {
  const ann = await newKey()
  const asks = [
    { name: 'oil.png', kind: 'sprite', what: 'a barrel of oil', width: 64 },
    { name: 'bell.wav', kind: 'sound', what: 'a ship bell', seconds: 1.5 },
  ]
  const script = `<script type="application/json" data-assets>${JSON.stringify(asks)}</script>`
  const app = await newApp(ann, page(script))
  const waiting = asks.map(({ name, kind, what }) => ({ name, kind, what }))
  expect((await list(ann, app)).waiting).toEqual(waiting)
  await put(ann, app, 'oil.png', image)
  expect((await list(ann, app)).waiting).toEqual(waiting.slice(1))
})

test('a full disk returns try_again and stores nothing', async () => {
  const ann = await newKey()
  const app = await newApp(ann)
  const freeFloorBytes = Number.MAX_SAFE_INTEGER
  const store = await openDiskStore(join(dir, 'files'), { freeFloorBytes, clock })
  const full = { ...ctx, storage: store }
  handler = declaredResponses(full, createRouter(full), logged)
  const rejected = await put(ann, app, 'oil.png', image)
  expect([rejected.status, rejected.body.code]).toEqual([503, 'try_again'])
  expect(await list(ann, app)).toMatchObject({ assets: [] })
  expect(await ctx.storage.usage()).toMatchObject({ files: 1 })
  const keyless = await call('POST', '/keys')
  expect([keyless.status, keyless.body.code]).toEqual([503, 'try_again'])
})
