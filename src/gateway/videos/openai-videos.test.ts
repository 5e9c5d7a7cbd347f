import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { day, second } from '../../kernel/time.ts'
import { findReferenced } from '../../server/operator/referenced-files.ts'
import { openAiClient } from '../../testing/clients/openai-client.ts'
import { json } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { videoModel } from '../../testing/fixtures/videos.ts'

let t: TestServer
let gus: GatewayUser
beforeEach(async () => {
  t = await startTestServer()
  gus = await createGatewayUser(t, '1')
})
afterEach(() => t.close())

const faked = await startFakeUpstreamServer({}, [videoModel('video-ok'), videoModel('status-500')])
afterAll(() => faked.close())

const video = { model: 'demo/video', prompt: 'A boat' }
const begin = (more: object = {}) => gus.call('POST', '/v1/videos', { ...video, ...more })
const poll = async (id: string) => (await gus.call('GET', `/v1/videos/${id}`)).body

/** Polls the upstream of each video. */
async function finish(ctx: TestServer): Promise<void> {
  ctx.clock.advance(5 * second)
  await ctx.ctx.jobs.runDue()
}

const balance = async (): Promise<unknown> => (await gus.call('POST', '/credits/balance')).body

describe("OpenAI's form", () => {
  const sdk = { 'x-stainless-lang': 'js' }
  const python = { 'user-agent': 'AsyncOpenAI/Python 2.7.1' }
  const statusOf = async (id: string, headers = {}) =>
    (await gus.call('GET', `/v1/videos/${id}`, undefined, headers)).text('status')

  test.each([
    ['an SDK that says its language', video, sdk],
    ['an SDK that says its name', video, python],
    ['JSON with seconds', { ...video, seconds: '4' }, {}],
    ['JSON with a size', { ...video, size: '320x180' }, {}],
  ])('is that of %s, and of each poll of the video', async (_, body, headers) => {
    const begun = await gus.call('POST', '/v1/videos', body, headers)
    const id = begun.text('id')
    const created = {
      id,
      object: 'video',
      status: 'queued',
      model: 'demo/video',
      created_at: expect.any(Number),
      estimated_cost: 0.004,
      progress: 0,
      seconds: '4',
      size: 'size' in body ? body.size : '1280x720',
      completed_at: null,
      error: null,
      expires_at: null,
      prompt: null,
      remixed_from_video_id: null,
    }
    expect(begun.body).toEqual(created)
    expect(await poll(id)).toEqual(created)
    await finish(t)
    const completed_at = Math.floor(t.clock.now() / 1_000)
    const expires_at = completed_at + day / second
    const cost = 0.004
    const done = { status: 'completed', completed_at, expires_at, error: null, cost }
    expect(await poll(id)).toMatchObject(done)
  })

  test('is not that of document 2, but of an SDK that polls its video', async () => {
    for (const more of [{}, { duration: '4' }, { seconds: '4', aspect_ratio: '16:9' }]) {
      const begun = await begin(more)
      expect(begun.body).toMatchObject({ status: 'pending' })
      expect(begun.body).not.toHaveProperty('completed_at')
      expect(await statusOf(begun.text('id'))).toBe('pending')
      expect(await statusOf(begun.text('id'), sdk)).toBe('queued')
      expect(await statusOf(begun.text('id'), python)).toBe('queued')
    }
  })

  test('is in_progress after the first poll of the upstream, and failed with its error', async () => {
    const rejected = json(200, { status: 'failed', error: { message: 'no' } })
    faked.fake.script('/videos/film', json(200, { status: 'in_progress', progress: 7 }), rejected)
    const ned = await faked.gus()
    const body = { model: 'video/video-ok', prompt: 'A boat', seconds: '4' }
    const path = `/v1/videos/${(await ned.call('POST', '/v1/videos', body)).text('id')}`
    await finish(faked)
    const now = await ned.call('GET', path)
    expect(now.body).toMatchObject({ status: 'in_progress', progress: 7, completed_at: null })
    await finish(faked)
    const error = { code: 'upstream_failed', message: expect.any(String) }
    expect((await ned.call('GET', path)).body).toMatchObject({ status: 'failed', error, cost: 0 })
  })

  test("lets OpenAI's client wait for, list and delete its videos", async () => {
    const { videos } = openAiClient(t, gus)
    const created = await videos.create({ model: 'demo/video', prompt: 'A boat', seconds: '4' })
    expect(created.status).toBe('queued')
    await finish(t)
    expect((await videos.retrieve(created.id)).status).toBe('completed')
    const ids: string[] = []
    for await (const { id } of videos.list({ limit: 1 })) ids.push(id)
    expect(ids).toEqual([created.id])
    const deleted = { id: created.id, object: 'video.deleted', deleted: true } as const
    expect(await videos.delete(created.id)).toEqual(deleted)
  })
})

test('lists the videos of an account in pages and in both orders', async () => {
  const ids: string[] = []
  for (const duration of ['1', '2', '3']) {
    t.clock.advance(second)
    ids.unshift((await begin({ duration })).text('id'))
  }
  const list = async (query: string) => (await gus.call('GET', `/v1/videos${query}`)).body
  const [third, middle, first] = ids
  const page = { object: 'list', has_more: true, first_id: third, last_id: middle }
  expect(await list('?limit=2')).toMatchObject({ ...page, data: [{ id: third }, { id: middle }] })
  const rest = { data: [{ id: first, status: 'pending' }], has_more: false, last_id: first }
  expect(await list(`?limit=2&after=${middle}`)).toMatchObject(rest)
  const oldest = { data: [{ id: first }, { id: middle }], has_more: true }
  expect(await list('?order=asc&limit=2')).toMatchObject(oldest)
  const newest = { data: [{ id: third }], has_more: false }
  expect(await list(`?order=asc&limit=2&after=${middle}`)).toMatchObject(newest)
  expect(Object(await list('')).data).toHaveLength(3)
  const ned = await createGatewayUser(t, '1', '198.51.100.2')
  const none = { object: 'list', data: [], first_id: null, last_id: null, has_more: false }
  expect((await ned.call('GET', '/videos')).body).toEqual(none)
  for (const [query, param] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['order=up', 'order'],
    ['after=x', 'after'],
    [`after=${'A'.repeat(12)}`, 'after'],
  ]) {
    const { status, body } = await gus.call('GET', `/v1/videos?${query}`)
    expect([query, status, body]).toMatchObject([query, 400, { error: { param } }])
  }
  const other = await ned.call('GET', `/v1/videos?after=${middle}`)
  expect([other.status, other.body]).toMatchObject([400, { error: { param: 'after' } }])
  expect((await t.request('GET', '/v1/videos')).status).toBe(401)
})

test('does not list a video that no upstream accepted', async () => {
  const ned = await faked.gus()
  const sent = { model: 'video/status-500', prompt: 'A boat' }
  expect((await ned.call('POST', '/v1/videos', sent)).status).toBeGreaterThan(499)
  expect((await ned.call('GET', '/v1/videos')).body).toMatchObject({ data: [], has_more: false })
})

test('deletes a finished video with its file, and only for its account', async () => {
  const id = (await begin()).text('id')
  const path = `/v1/videos/${id}`
  const early = await gus.call('DELETE', path)
  expect([early.status, early.body]).toMatchObject([400, { error: { param: 'id' } }])
  expect(await balance()).toMatchObject({ held: 0.004 })
  await finish(t)
  const { pathname, search } = new URL(String(Object(await poll(id)).url))
  const { bytes } = await gus.call('GET', `${path}/content`)
  const { sha256 } = await t.ctx.storage.put(bytes)
  const ned = await createGatewayUser(t, '1', '198.51.100.2')
  expect((await ned.call('DELETE', path)).status).toBe(404)
  expect((await t.request('DELETE', path)).status).toBe(401)
  expect((await gus.call('GET', `${path}/content`)).status).toBe(200)
  const deleted = await gus.call('DELETE', path)
  expect([deleted.status, deleted.body]).toEqual([
    200,
    { id, object: 'video.deleted', deleted: true },
  ])
  for (const gone of [path, `${path}/content`]) {
    expect((await gus.call('GET', gone)).status).toBe(404)
  }
  expect((await t.request('GET', pathname + search)).status).toBe(404)
  expect((await gus.call('DELETE', path)).status).toBe(404)
  expect((await gus.call('GET', '/v1/videos')).body).toMatchObject({ data: [] })
  expect(await findReferenced(t.ctx.db.read, [sha256])).toEqual(new Set())
  expect(await balance()).toMatchObject({ balance: 0.996, held: 0 })
  const { body } = await gus.call('GET', '/queries/history')
  expect(body).toMatchObject({ data: [{ status: 'completed', price_in_usd: 0.004 }], total: 1 })
})
