import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { jobs } from '../../jobs/tables.ts'
import { day, second } from '../../kernel/time.ts'
import { findReferenced } from '../../server/operator/referenced-files.ts'
import { json } from '../../testing/fakes/chat-scripts.ts'
import { raw } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { mp4Bytes, videoModel } from '../../testing/fixtures/videos.ts'

let t: TestServer
let gus: GatewayUser
beforeEach(async () => {
  t = await startTestServer()
  gus = await createGatewayUser(t, '1')
})
afterEach(() => t.close())

const pictured = { ...videoModel('video-ok'), id: 'video/pictured', inputs: ['text', 'image'] }
const faked = await startFakeUpstreamServer({}, [videoModel('video-ok'), pictured])
afterAll(() => faked.close())

const video = { model: 'demo/video', prompt: 'A boat' }
const begin = (more: object = {}) => gus.call('POST', '/v1/videos', { ...video, ...more })
const poll = async (id: string) => (await gus.call('GET', `/v1/videos/${id}`)).body

/** Polls until the video is completed. */
async function finish(ctx: TestServer): Promise<void> {
  ctx.clock.advance(5 * second)
  await ctx.ctx.jobs.runDue()
}

const balance = async (): Promise<unknown> => (await gus.call('POST', '/credits/balance')).body

test('creates a video, charges it once, and serves it without a key for 24 hours', async () => {
  const begun = await begin({ duration: '3', aspect_ratio: '9:16' })
  const id = begun.text('id')
  const created_at = Math.floor(t.clock.now() / 1_000)
  const pending = {
    id,
    object: 'video',
    status: 'pending',
    model: 'demo/video',
    created_at,
    estimated_cost: 0.003,
    progress: 0,
    seconds: '3',
  }
  expect([begun.status, begun.body]).toEqual([200, pending])
  expect(await poll(id)).toEqual(pending)
  const early = await gus.call('GET', `/v1/videos/${id}/content`)
  const message = expect.stringContaining('pending or failed')
  expect([early.status, early.body]).toMatchObject([404, { error: { message } }])
  expect(await balance()).toMatchObject({ balance: 1, held: 0.003 })
  await finish(t)
  const expires_at = created_at + 5 + day / second
  const url = expect.stringMatching(/^http:\/\/localhost:3000\/v1\/videos\/\w+\/content\?expires=/)
  const done = { ...pending, status: 'completed', progress: 100, url, cost: 0.003, expires_at }
  for (let polls = 0; polls < 1_000; polls += 1) expect(await poll(id)).toEqual(done)
  expect(await balance()).toMatchObject({ balance: 0.997, held: 0 })
  const { body } = await gus.call('GET', '/queries/history')
  expect(body).toMatchObject({
    data: [{ model: 'demo/video', type: 'video', status: 'completed', price_in_usd: 0.003 }],
    total: 1,
  })

  const { pathname, search } = new URL(String(Object(await poll(id)).url))
  const seen = await t.request('GET', pathname + search)
  expect([seen.status, seen.headers.get('content-type')]).toEqual([200, 'video/webm'])
  expect(seen.headers.get('x-content-type-options')).toBe('nosniff')
  expect(Buffer.from(seen.bytes.subarray(0, 4)).toString('hex')).toBe('1a45dfa3')
  expect((await gus.call('GET', `/v1/videos/${id}/content`)).bytes).toEqual(seen.bytes)
  t.clock.advance(day - 1)
  expect((await t.request('GET', pathname + search)).status).toBe(200)
  t.clock.advance(1)
  expect((await t.request('GET', pathname + search)).status).toBe(404)
})

test('references stored bytes until they expire', async () => {
  const id = (await begin()).text('id')
  await finish(t)
  const { bytes } = await gus.call('GET', `/v1/videos/${id}/content`)
  const { sha256 } = await t.ctx.storage.put(bytes)
  expect(await findReferenced(t.ctx.db.read, [sha256])).toEqual(new Set([sha256]))
})

test('rejects a missing key, another account, another URL and an unknown video', async () => {
  const id = (await begin()).text('id')
  await finish(t)
  const ned = await createGatewayUser(t, '1', '198.51.100.2')
  for (const path of [`/v1/videos/${id}`, `/v1/videos/${id}/content`]) {
    expect((await t.request('GET', path)).status).toBe(401)
    expect((await t.request('GET', path, { key: `gk_${'x'.repeat(40)}` })).status).toBe(401)
    expect((await ned.call('GET', path)).status).toBe(404)
    for (const none of ['A'.repeat(12), 'x', '%20']) {
      expect((await gus.call('GET', path.replace(id, none))).status).toBe(404)
    }
  }
  expect((await t.request('POST', '/v1/videos', { body: '{broken' })).status).toBe(401)
  const { search } = new URL(String(Object(await poll(id)).url))
  const other = `/v1/videos/${'B'.repeat(12)}/content${search}`
  expect((await t.request('GET', other)).status).toBe(404)
  const forged = `/v1/videos/${id}/content${search.replace(/.$/, 'x')}y`
  expect((await gus.call('GET', forged)).status).toBe(404)
})

test('creates videos with an agent’s key without listing them as its jobs', async () => {
  const ann = await t.agent('ann')
  const begun = await t.request('POST', '/videos', { key: ann.key, body: video })
  expect(begun.status).toBe(200)
  await finish(t)
  const seen = await t.request('GET', `/videos/${begun.text('id')}`, { key: ann.key })
  expect(seen.body).toMatchObject({ status: 'completed', cost: 0.004 })
  expect((await ann.call('GET', '/jobs')).body).toEqual({ jobs: [], next: null })
  expect((await ann.call('DELETE', `/jobs/${begun.text('id')}`)).status).toBe(404)
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 396, held: 0 })
})

test('rejects invalid fields by name', async () => {
  const kept = await t.snapshot()
  for (const [param, value] of [
    ['prompt', ''],
    ['prompt', 7],
    ['prompt', 'x'.repeat(32_001)],
    ['model', 7],
    ...['0', '-1', '61', 'x', '', '1e1', '4.0001', {}, true].map((long) => ['duration', long]),
    ['seconds', '0'],
    ['seconds', 61],
    ...['16/9', '0:9', '16:0', '99:1', 7, '16:9:1'].map((ratio) => ['aspect_ratio', ratio]),
    ...['10', '0x5', '9000x9000', 7].map((size) => ['size', size]),
    ['models', 'x'],
    ['provider', 'x'],
  ]) {
    const response = await begin({ [String(param)]: value })
    expect([value, response.status, Object(response.body).error.param]).toEqual([value, 400, param])
  }
  for (const body of ['{broken', '[]', '"x"', undefined]) {
    expect((await gus.call('POST', '/v1/videos', body)).status).toBe(400)
  }
  expect(await t.snapshot()).toEqual(kept)
})

test('creates one video per Idempotency-Key and rejects another body', async () => {
  const headers = { 'idempotency-key': 'boat-1' }
  const post = (body: object) => gus.call('POST', '/v1/videos', body, headers)
  const [first, again] = [await post(video), await post(video)]
  expect(again.body).toEqual(first.body)
  expect(await balance()).toMatchObject({ held: 0.004 })
  const other = await post({ ...video, prompt: 'A castle' })
  expect([other.status, other.code]).toEqual([409, 'idempotency_conflict'])
  await finish(t)
  expect((await post(video)).body).toEqual(first.body)
  expect(await balance()).toMatchObject({ balance: 0.996, held: 0 })
})

test('sends the same body from JSON and from a form', async () => {
  const { fake } = faked
  fake.script('/videos/film', json(200, { status: 'queued' }))
  const ned = await faked.gus('5')
  const model = 'video/video-ok'
  const requests = { model, prompt: 'A boat', duration: 8, aspect_ratio: '9:16', seed: 7 }
  expect((await ned.call('POST', '/v1/videos', requests)).body).toMatchObject({ seconds: '8' })
  expect(fake.received.at(-1)?.body).toEqual({
    model: 'fake/video-ok',
    prompt: 'A boat',
    seconds: '8',
    size: '720x1280',
    seed: 7,
  })
  expect((await ned.call('POST', '/v1/videos', { model, prompt: 'A boat' })).status).toBe(200)
  expect(fake.received.at(-1)?.body).toMatchObject({ seconds: '4', size: '1280x720' })
  const form = (to: string): FormData => {
    const made = new FormData()
    for (const [name, value] of Object.entries({ model: to, prompt: 'A boat', seconds: '6' })) {
      made.set(name, value)
    }
    made.set('size', '1024x1792')
    return made
  }
  const send = async (sent: FormData) => {
    const body = new Response(sent)
    const type = body.headers.get('content-type') ?? ''
    return ned.call('POST', '/v1/videos', await body.bytes(), { 'content-type': type })
  }
  expect((await send(form(model))).body).toMatchObject({
    status: 'queued',
    seconds: '6',
    size: '1024x1792',
    estimated_cost: 0.6,
  })
  expect(fake.received.at(-1)?.body).toMatchObject({ seconds: '6', size: '1024x1792' })
  const pictured = form(model)
  pictured.set('input_reference', new File([new Uint8Array(9)], 'a.png'))
  const rejected = await send(pictured)
  expect([rejected.status, Object(rejected.body).error.param]).toEqual([400, 'input_reference'])
  pictured.set('model', 'video/pictured')
  expect((await send(pictured)).status).toBe(200)
  expect(fake.received.at(-1)?.text).toContain('name="input_reference"; filename="a.png"')
})

describe('a video that the upstream names by a URL', () => {
  /** Polls a video whose upstream names `url` and answers its content path with `content`. */
  async function complete(url: string, content = json(404, {})) {
    const { fake } = faked
    fake.script('/videos/film', json(200, { status: 'completed', seconds: '4', url }))
    fake.script('/videos/film/content', content)
    const ned = await faked.gus()
    const request = { model: 'video/video-ok', prompt: 'A boat' }
    const path = `/v1/videos/${(await ned.call('POST', '/v1/videos', request)).text('id')}`
    await finish(faked)
    return { ned, path, body: (await ned.call('GET', path)).body }
  }

  test('is fetched with its key and served here', async () => {
    faked.fake.script('/files/boat.mp4', raw(mp4Bytes, 'video/mp4'))
    const url = `${faked.fake.baseUrl}/files/boat.mp4`
    const { ned, path, body } = await complete(url)
    expect(body).toMatchObject({
      status: 'completed',
      url: expect.stringMatching(/^http:\/\/localhost:3000\/v1\/videos\/\w+\/content\?expires=/),
      cost: 0.4,
    })
    expect(faked.fake.received.at(-1)?.headers.authorization).toBe('Bearer sk-fake')
    const { status, bytes } = await ned.call('GET', `${path}/content`)
    expect([status, bytes]).toEqual([200, new Uint8Array(mp4Bytes)])
    expect(await faked.findProblems(ned)).toEqual([])
  })

  test('is downloaded by the API where the URL is private', async () => {
    const { ned, path, body } = await complete('CANARY', raw(mp4Bytes, 'video/mp4'))
    expect(body).toMatchObject({ status: 'completed', cost: 0.4 })
    expect((await ned.call('GET', `${path}/content`)).status).toBe(200)
  })

  test('fails for free where it must not be fetched', async () => {
    const { ned, body } = await complete('CANARY')
    expect(body).toMatchObject({ status: 'failed', cost: 0, error: { code: 'upstream_failed' } })
    expect(faked.fake.canaryTouched()).toBe(0)
    expect(await faked.findProblems(ned)).toEqual([])
  })

  test('is fetched in a second attempt moments later', async () => {
    faked.fake.script('/files/late.mp4', json(404, {}), raw(mp4Bytes, 'video/mp4'))
    expect((await complete('files/late.mp4')).body).toMatchObject({ status: 'completed' })
  })

  test.each([
    ['missing', json(404, {})],
    ['forbidden', json(403, {})],
    ['an HTML page', raw(Buffer.from('<html>'), 'text/html')],
    ['empty', raw(Buffer.alloc(0), 'video/mp4')],
  ])('fails for free at once where it is %s', async (_, file) => {
    faked.fake.script('/files/none.mp4', file)
    const { ned, body } = await complete('files/none.mp4')
    const error = { code: 'upstream_failed', message: expect.stringContaining('without returning') }
    expect(body).toMatchObject({ status: 'failed', cost: 0, error })
    expect(await faked.findProblems(ned)).toEqual([])
  })

  test('is fetched again where its host fails', async () => {
    faked.fake.script('/files/busy.mp4', json(503, {}), json(503, {}), raw(mp4Bytes, 'video/mp4'))
    const { ned, path, body } = await complete('files/busy.mp4')
    expect(body).toMatchObject({ status: 'pending' })
    await finish(faked)
    expect((await ned.call('GET', path)).body).toMatchObject({ status: 'completed' })
  })
})

test('fails a video whose process ended during the submission', async () => {
  const { ctx, clock } = faked
  const ned = await faked.gus()
  faked.fake.script('/videos/film', json(200, { status: 'queued' }))
  faked.fake.script('/videos/film/content', raw(mp4Bytes, 'video/mp4'))
  const begun = await ned.call('POST', '/v1/videos', { model: 'video/video-ok', prompt: 'A boat' })
  await ctx.db.tx((db) => db.update(jobs).set({ data: null }))
  clock.advance(5 * second)
  await ctx.jobs.runDue()
  expect((await ned.call('GET', `/v1/videos/${begun.text('id')}`)).body).toMatchObject({
    status: 'failed',
    cost: 0,
    error: { code: 'interrupted' },
  })
  expect(await faked.findProblems(ned)).toEqual([])
})
