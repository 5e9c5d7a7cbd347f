import { afterAll, expect, test } from 'bun:test'

import { hour, second } from '../../kernel/time.ts'
import { json, scripts } from '../../testing/fakes/chat-scripts.ts'
import { fakeImage, mediaScripts, raw } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { testModel } from '../../testing/fixtures/models.ts'
import { mp4Bytes, videoModel } from '../../testing/fixtures/videos.ts'

const names = [...Object.keys(scripts), ...Object.keys(mediaScripts)]
const models = names.map((name) => videoModel(name))
const unpriced = testModel(undefined, { id: 'video/unpriced', type: 'video' })
const by = (upstream: string) => videoModel(upstream).offers
const offers = [...by('500'), ...by('video-ok')]
const fallback = { ...videoModel('video-ok'), id: 'video/fallback', offers }
/** Results by upstream behavior (document 2, section 7): a video is charged on completion only. */
const patient = await startFakeUpstreamServer({}, [...models, unpriced, fallback])
const deadlines = { GATEWAY_FIRST_BYTE_SECONDS: '1', GATEWAY_TOTAL_SECONDS: '2' }
/** Short deadlines for upstreams that hang. */
const hasty = await startFakeUpstreamServer(deadlines, models)
for (const { fake } of [patient, hasty]) {
  fake.script('/videos/film/content', raw(mp4Bytes, 'video/mp4'))
}
afterAll(async () => {
  await patient.close()
  await hasty.close()
})

const ask = (gus: GatewayUser, script: string, more: object = {}) =>
  gus.call('POST', '/v1/videos', { model: `video/${script}`, prompt: 'A boat', ...more })

type Cell = [scripts: string, status: number, code?: string]
const refusing: Cell[] = [
  ['429', 429],
  ['500 503 reset-first close-first redirect', 502],
  ['content-filter', 400, 'content_policy_violation'],
  ['400 404 422', 400],
  ['empty', 502],
  ['bad-json truncated reset-middle html bad-headers', 502],
  ['hang hang-middle', 502],
  ['401 402 403', 503],
]
const cells = refusing.flatMap(([names, ...cell]) =>
  names.split(' ').map((script) => ({ script, cell })),
)

test.concurrent.each(cells)(
  'failed submission: $script',
  async ({ script, cell: [status, code] }) => {
    const faked = script.startsWith('hang') ? hasty : patient
    const gus = await faked.gus()
    const response = await ask(gus, script)
    expect([response.status, response.code]).toEqual([status, code])
    const message = response.text('error.message')
    expect(message).not.toContain('were charged')
    const { use, total } = await faked.lastUse(gus)
    expect(total).toBe(1)
    expect(use).toMatchObject({ model: `video/${script}`, type: 'video', status: 'failed' })
    expect([Number(use?.charged), Number(use?.held)]).toEqual([0, 400_000_000])
    expect(use?.requestId).toBe(response.headers.get('x-request-id') ?? '')
    expect(await faked.findProblems(gus)).toEqual([])
  },
)

/** The upstream's responses, poll by poll, and the result of the video. */
const videoStatus = (status: string, more: object = {}) =>
  json(200, { id: 'film', object: 'video', status, ...more })
const png = Buffer.from(fakeImage, 'base64')
const why = expect.stringMatching(
  /^The (provider|video) .*\. Nothing was charged\. Send the request again\.$/,
)
const lost = { status: 'failed', cost: 0, error: { code: 'upstream_failed', message: why } }
const ok = videoStatus('completed', { seconds: '4' })
const polls: [what: string, answers: (typeof ok)[], ends: object, charged: number][] = [
  ['done at once', [ok], { status: 'completed', cost: 0.4 }, 0.4],
  [
    'queued, then done',
    [videoStatus('queued'), videoStatus('in_progress'), ok],
    { status: 'completed' },
    0.4,
  ],
  ['no seconds reported', [videoStatus('completed')], { status: 'completed', cost: 0.4 }, 0.4],
  ['fewer seconds', [videoStatus('completed', { seconds: '3' })], { cost: 0.3 }, 0.3],
  ['more seconds', [videoStatus('completed', { seconds: '900' })], { cost: 0.4 }, 0.4],
  [
    'seconds that are not a number',
    [videoStatus('completed', { seconds: 'x' })],
    { cost: 0.4 },
    0.4,
  ],
  ['no seconds at all', [videoStatus('completed', { seconds: '-1' })], { cost: 0.4 }, 0.4],
  ...['500', '503', '429', 'reset-first', 'truncated'].map((name): (typeof polls)[number] => [
    `${name}, then done`,
    [scripts[name]?.plain ?? [], ok],
    { status: 'completed', cost: 0.4 },
    0.4,
  ]),
  ['busy by its body, then done', [json(200, { error: { code: 503 } }), ok], { cost: 0.4 }, 0.4],
  ...['400', '401', '402', '403', '404', '422', 'bad-json', 'html', 'redirect', 'empty'].map(
    (name): (typeof polls)[number] => [name, [scripts[name]?.plain ?? []], lost, 0],
  ),
  ['gone', [json(410, {})], lost, 0],
  ['an error without a status', [json(200, { error: { message: 'No.' } })], lost, 0],
  ['another object', [json(200, { object: 'list', data: [] })], lost, 0],
  ['an image', [raw(png, 'image/png')], lost, 0],
  ['failed', [videoStatus('failed')], { status: 'failed', error: { code: 'upstream_failed' } }, 0],
  [
    'failed under content rules',
    [videoStatus('failed', { error: { code: 'content_policy_violation', message: 'No.' } })],
    { status: 'failed', cost: 0, error: { code: 'content_policy_violation' } },
    0,
  ],
]

test.each(polls)('poll: %s', async (_, responses, ends, charged) => {
  const gus = await patient.gus()
  const { fake, ctx, clock } = patient
  fake.script('/videos/film', responses[0] ?? [])
  const begun = await ask(gus, 'video-ok')
  expect(begun.status).toBe(200)
  for (const response of responses) {
    fake.script('/videos/film', response)
    expect(await statusOf(gus, begun.text('id'))).toMatchObject({ status: 'pending' })
    // The circuit breaker pauses an upstream that failed often.
    clock.advance(5 * second)
    await ctx.jobs.runDue()
  }
  expect(await statusOf(gus, begun.text('id'))).toMatchObject(ends)
  const { use, total } = await patient.lastUse(gus)
  expect([total, Number(use?.charged)]).toEqual([1, charged * 1e9])
  expect(await patient.findProblems(gus)).toEqual([])
})

const statusOf = async (gus: GatewayUser, id: string) =>
  (await gus.call('GET', `/v1/videos/${id}`)).body

test('fails without a charge when a video never completes', async () => {
  const gus = await patient.gus()
  const { fake, ctx, clock } = patient
  fake.script('/videos/film', videoStatus('in_progress', { progress: 30 }))
  const id = (await ask(gus, 'video-ok')).text('id')
  clock.advance(5 * second)
  await ctx.jobs.runDue()
  expect(await statusOf(gus, id)).toMatchObject({ status: 'pending', progress: 30 })
  clock.advance(2 * hour)
  await ctx.jobs.runDue()
  const message = expect.stringContaining('exceeded its time limit of 71 minutes')
  const error = { code: 'timed_out', message }
  expect(await statusOf(gus, id)).toMatchObject({ status: 'failed', cost: 0, error })
  expect(await patient.findProblems(gus)).toEqual([])
})

/** Responses to the request of a completed video: whether it can still be there later. */
const contents: [what: string, content: typeof ok, isTransient: boolean][] = [
  ['an HTML page', raw(Buffer.from('<html>'), 'video/mp4'), false],
  ['an image', raw(png, 'video/mp4'), false],
  ['an error as JSON', json(200, { error: { message: 'No.' } }), false],
  ...['empty', '400', '401', '403', '404', 'redirect'].map((name): (typeof contents)[number] => [
    name,
    scripts[name]?.plain ?? [],
    false,
  ]),
  ['gone', json(410, {}), false],
  ...['429', '500', '503', 'reset-first', 'truncated'].map((name): (typeof contents)[number] => [
    name,
    scripts[name]?.plain ?? [],
    true,
  ]),
]

test.each(contents)('content: %s', async (_, content, isTransient) => {
  const gus = await patient.gus()
  const { fake, ctx, clock } = patient
  fake.script('/videos/film', ok)
  fake.script('/videos/film/content', content)
  const id = (await ask(gus, 'video-ok')).text('id')
  clock.advance(5 * second)
  await ctx.jobs.runDue()
  expect(await statusOf(gus, id)).toMatchObject(isTransient ? { status: 'pending' } : lost)
  fake.script('/videos/film/content', raw(mp4Bytes, 'video/mp4'))
  clock.advance(5 * second)
  await ctx.jobs.runDue()
  expect(await statusOf(gus, id)).toMatchObject(isTransient ? { status: 'completed' } : lost)
  expect(await patient.findProblems(gus)).toEqual([])
})

test('polls a failing upstream less and less often, and at most 20 times in a row', async () => {
  const gus = await patient.gus()
  const { fake, ctx, clock } = patient
  const waits: number[] = []
  /** Waits until the video is polled again. */
  const pollAgain = async () => {
    const { length } = fake.received
    for (let seconds = 5; seconds <= 60; seconds += 5) {
      clock.advance(5 * second)
      await ctx.jobs.runDue()
      if (fake.received.length > length) return void waits.push(seconds)
    }
  }
  fake.script('/videos/film', json(429, {}))
  const id = (await ask(gus, 'video-ok')).text('id')
  for (let polls = 0; polls < 5; polls += 1) await pollAgain()
  fake.script('/videos/film', videoStatus('queued'))
  await pollAgain()
  fake.script('/videos/film', json(429, {}))
  await pollAgain()
  expect(waits).toEqual([5, 5, 10, 20, 40, 60, 5])
  for (let polls = 1; polls < 20; polls += 1) {
    expect(await statusOf(gus, id)).toMatchObject({ status: 'pending' })
    await pollAgain()
  }
  const message =
    'The provider failed 20 polls in a row. Nothing was charged. Send the request again.'
  expect(await statusOf(gus, id)).toMatchObject({ status: 'failed', cost: 0, error: { message } })
  expect(await patient.findProblems(gus)).toEqual([])
})

test('submits to the next upstream, and rejects an unknown or unpriced model', async () => {
  const gus = await patient.gus()
  expect((await ask(gus, 'fallback')).status).toBe(200)
  const nobody = await ask(gus, 'nobody')
  expect([nobody.status, nobody.code]).toEqual([404, 'model_not_found'])
  const unpriced = await ask(gus, 'unpriced')
  expect([unpriced.status, unpriced.text('error.message')]).toEqual([
    400,
    expect.stringContaining('no published price'),
  ])
  const chat = await gus.call('POST', '/v1/videos', { model: 'fake/ok', prompt: 'A boat' })
  expect([chat.status, chat.text('error.message')]).toEqual([
    400,
    expect.stringContaining('POST /v1/chat/completions'),
  ])
})

test('reports a video and its history row under the model that created it', async () => {
  const gus = await patient.gus()
  patient.fake.script('/videos/film', ok)
  const { status, body } = await ask(gus, '503', { models: ['video/video-ok'] })
  expect([status, Object(body).model]).toEqual([200, 'video/video-ok'])
  patient.clock.advance(5 * second)
  await patient.ctx.jobs.runDue()
  expect(await statusOf(gus, Object(body).id)).toMatchObject({ status: 'completed' })
  expect((await patient.lastUse(gus)).use?.model).toBe('video/video-ok')
})

test('responds 402 without credits and 429 over the cap, and stores nothing', async () => {
  const poor = await patient.gus('0.1')
  const rejected = await ask(poor, 'video-ok')
  expect([rejected.status, rejected.code]).toEqual([402, 'insufficient_quota'])
  const rich = await patient.gus()
  const made = await rich.call('POST', '/accounts/keys', { daily_cap: 100 })
  const key = made.text('api_key')
  const capped = await patient.request('POST', '/v1/videos', {
    key,
    body: { model: 'video/video-ok', prompt: 'A boat' },
  })
  expect([capped.status, capped.code]).toEqual([429, 'daily_cap'])
  for (const gus of [poor, rich]) {
    expect((await patient.lastUse(gus)).total).toBe(0)
    expect(await patient.findProblems(gus)).toEqual([])
  }
})

test('limits the concurrent videos of an account', async () => {
  const gus = await patient.gus('100')
  const { fake } = patient
  fake.script('/videos/film', videoStatus('queued'))
  for (let made = 0; made < 64; made += 1) expect((await ask(gus, 'video-ok')).status).toBe(200)
  const { status, headers } = await ask(gus, 'video-ok')
  expect([status, headers.get('retry-after')]).toEqual([429, '5'])
})
