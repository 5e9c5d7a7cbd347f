import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { jobs } from '../../jobs/tables.ts'
import { pauseAgent } from '../../people/agents/spending.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { pauseMethod } from '../../testing/pause-method.ts'

setDefaultTimeout(60_000)
let t: TestServer
let ann: TestAgent
async function open(settings: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  t = await startTestServer(settings)
  ann = await t.agent('ann')
}
beforeEach(() => open())
afterEach(() => t.close())
async function reopen(settings: Parameters<typeof startTestServer>[0]): Promise<void> {
  await t.close()
  await open(settings)
}

const prompt = 'Snake: a snake eats apples'
const game = { prompt, kind: 'game' }
const fox = { prompt: 'a game where a fox collects coins and dodges rocks', kind: 'game' }
const idPattern = /^[A-Za-z0-9_-]{12}$/

async function creditsOf(person: TestAgent) {
  const { credits, held, spend } = Object((await person.call('GET', '/me')).body)
  return { credits, held, builds: spend.builds }
}

/** Runs a build to its end and returns the app and the job. */
async function built(body: Record<string, unknown>, path = '/apps') {
  const begun = await ann.call('POST', path, body)
  expect(begun.status).toBe(202)
  await t.ctx.jobs.runDue()
  const { job } = Object((await ann.call('GET', `/jobs/${begun.text('job.id')}`)).body)
  return { id: begun.text('app.id'), job }
}
const theApp = async (id: string) => Object((await ann.call('GET', `/apps/${id}`)).body).app
const htmlOf = async (id: string, version: number) =>
  new TextDecoder().decode((await ann.call('GET', `/apps/${id}/html?version=${version}`)).bytes)

test('202: returns job, app and price, holds it, and the link shows the build', async () => {
  const { status, body, text } = await ann.call('POST', '/apps', game)
  const [link, id] = [`/a/${text('app.id')}`, text('job.id')]
  const { job, app, price, held } = Object(body)
  expect([status, Object.keys(Object(body))]).toEqual([202, ['job', 'app', 'price', 'held']])
  expect(app).toEqual({ id: expect.stringMatching(idPattern), link: expect.any(String) })
  expect(app.link).toBe(`http://localhost:3000/a/${app.id}`)
  expect(job).toMatchObject({
    id: expect.stringMatching(idPattern),
    kind: 'build',
    app: app.id,
    state: 'queued',
    step: null,
    progress: 0,
    price,
    charged: 0,
    result: null,
    error: null,
  })
  expect(price).toBeGreaterThan(0)
  expect(held).toBe(price)
  expect(await creditsOf(ann)).toEqual({ credits: 400, held: price, builds: 0 })
  const { apps } = Object((await ann.call('GET', '/apps')).body)
  expect(apps).toMatchObject([{ id: app.id, version: 0, state: 'building', kind: 'game' }])
  const page = await t.request('GET', link)
  expect([page.status, String(page.body)]).toEqual([200, expect.stringContaining('Being built')])
  expect(String(page.body)).toContain('<progress value=0 ')
  await t.ctx.db.tx((db) => db.update(jobs).set({ progress: 15 }).where(eq(jobs.id, id)))
  expect(String((await t.request('GET', link)).body)).toContain('<progress value=0.15 ')
  expect((await ann.call('GET', `/apps/${app.id}/html`)).status).toBe(404)
})

test('publishes the page with its assets and releases the rest of the hold', async () => {
  const { id, job } = await built(fox)
  expect(job).toMatchObject({ state: 'done', step: 'publishing', progress: 1, error: null })
  const link = `http://localhost:3000/a/${id}`
  expect(job.result).toEqual({ app: id, version: 1, link })
  expect(job.charged).toBeGreaterThan(0)
  expect(job.charged).toBeLessThan(job.price)
  const builds = job.charged
  expect(await creditsOf(ann)).toEqual({ credits: 400 - builds, held: 0, builds })
  expect(await theApp(id)).toMatchObject({
    version: 1,
    state: 'live',
    title: 'Fox collects coins',
    shelf: 'arcade',
    listed: 'off',
  })
  const assets = Object((await ann.call('GET', `/apps/${id}/assets`)).body)
  expect(assets.assets.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
    'music',
    'picture',
    'sound',
    'sound',
    'sound',
    'sprite',
    'sprite',
    'sprite',
  ])
  expect(assets.waiting).toEqual([])
  const versions = Object((await ann.call('GET', `/apps/${id}/versions`)).body).versions
  expect(versions).toMatchObject([{ version: 1, via: 'build', note: fox.prompt }])
  expect((await t.request('GET', `/a/${id}`)).status).toBe(200)
})

test('reports steps and progress in order', async () => {
  const begun = await ann.call('POST', '/apps', { prompt: 'a packing list' })
  await t.ctx.jobs.runDue()
  const events = await ann.call('GET', `/jobs/${begun.text('job.id')}/events`)
  const records = String(events.body).match(/^data: .*$/gm) ?? []
  const steps = records.map((line) => Object(JSON.parse(line.slice(6))))
  const seen = steps.map((one) => (one.job ?? one).step).filter(Boolean)
  expect([...new Set(seen)]).toEqual(['planning', 'writing', 'checking', 'assets', 'publishing'])
  const progress = steps.map((one) => (one.job ?? one).progress)
  expect(progress).toEqual(progress.toSorted((one, other) => one - other))
})

test("keeps the maker's texts, and store lists the finished app", async () => {
  const about = { title: 'Mine', description: 'My own.', shelf: 'sim', store: true, remix: 'off' }
  const { id } = await built({ ...game, ...about })
  expect(await theApp(id)).toMatchObject({ ...about, listed: 'on' })
})

test('keeps texts that were set before and during the build', async () => {
  const begun = await ann.call('POST', '/apps', { ...game, shelf: 'learn' })
  const id = begun.text('app.id')
  expect((await ann.call('PATCH', `/apps/${id}`, { title: 'Mine' })).status).toBe(200)
  await t.ctx.jobs.runDue()
  const app = await theApp(id)
  expect(app).toMatchObject({ state: 'live', title: 'Mine', shelf: 'learn' })
  expect(app.description).toMatch(/\w/)
})

test('a change keeps the files, and the old version can be restored', async () => {
  const { id } = await built(game)
  const path = `/apps/${id}/versions`
  await ann.call('PUT', `/apps/${id}/assets/good`, '[1]')
  const { job } = await built({ prompt: 'Call it River, in blue' }, path)
  expect(job).toMatchObject({ state: 'done', app: id, result: { version: 2 } })
  const [before, after] = [await htmlOf(id, 1), await htmlOf(id, 2)].map((html) => html.split('\n'))
  const changed = after?.filter((line, at) => line !== before?.[at]) ?? []
  expect(changed.map((line) => line.trim())).toEqual([
    '<title>River</title>',
    '--hue: 252;',
    '<h1>River</h1>',
  ])
  expect(await theApp(id)).toMatchObject({ version: 2, title: 'Snake' })
  const { assets } = Object((await ann.call('GET', `/apps/${id}/assets`)).body)
  expect(assets).toHaveLength(4)
  expect(assets.find(({ name }: { name: string }) => name === 'good').type).toBe('application/json')
  expect((await ann.call('POST', `${path}/1/restore`)).status).toBe(201)
  expect(await htmlOf(id, 3)).toBe(before?.join('\n') ?? '')
})

test('a dry run returns the price and stores nothing', async () => {
  const before = await t.snapshot()
  const dry = await ann.call('POST', '/apps', { ...game, dryRun: true })
  expect([dry.status, dry.body]).toEqual([200, { price: expect.any(Number) }])
  expect(await t.snapshot()).toEqual(before)
  const begun = await ann.call('POST', '/apps', game)
  expect(Object(begun.body).price).toBe(Object(dry.body).price)
})

test('a ref starts one build; another body is ref_conflict', async () => {
  const body = { ...game, ref: 'my-fox-game' }
  const first = await ann.call('POST', '/apps', body)
  await t.ctx.jobs.runDue()
  const again = await ann.call('POST', '/apps', body)
  expect([again.status, again.body]).toEqual([202, first.body])
  const key = { 'idempotency-key': 'my-fox-game' }
  expect((await ann.call('POST', '/apps', game, key)).body).toEqual(first.body)
  for (const other of [{ prompt: 'a snake' }, { maxCredits: 300 }]) {
    await expectError(t, 409, 'ref_conflict', () =>
      ann.call('POST', '/apps', { ...body, ...other }),
    )
  }
  expect(Object((await ann.call('GET', '/apps')).body).apps).toHaveLength(1)
})

test('account_closed: an account that closes meanwhile starts no build', async () => {
  const id = await ann.publish()
  const { begun, go } = pauseMethod(t.ctx.idempotency, 'acquire', 3)
  const sent = [
    ann.call('POST', '/apps', game),
    ann.call('POST', `/apps/${id}/versions`, { prompt }),
    ann.call('POST', `/apps/${id}/assets`, {
      assets: [{ name: 'coin.png', kind: 'sprite', what: 'a coin' }],
    }),
  ]
  await begun
  await ann.call('DELETE', '/me')
  go()
  for (const response of sent) expect((await response).code).toBe('account_closed')
  expect(await t.ctx.db.read.select().from(jobs)).toEqual([])
})

test('one build of each kind runs at a time', async () => {
  await ann.call('POST', '/apps', game)
  await expectError(t, 409, 'busy', () => ann.call('POST', '/apps', { ...game, prompt: 'a snake' }))
  expect((await ann.call('POST', '/apps', { prompt: 'a timer' })).status).toBe(202)
  await t.ctx.jobs.runDue()
  const { id, job } = await built({ prompt: 'a quiz about space', kind: 'game' })
  expect(job.state).toBe('done')
  await ann.call('POST', `/apps/${id}/versions`, { prompt: 'faster' })
  await expectError(t, 409, 'busy', () => ann.call('POST', '/apps', game))
})

test('an app cannot be changed during its first build', async () => {
  const id = (await ann.call('POST', '/apps', game)).text('app.id')
  await expectError(t, 409, 'busy', () =>
    ann.call('POST', `/apps/${id}/versions`, { prompt: 'faster' }),
  )
  // The running build could list it afterwards.
  await expectError(t, 409, 'busy', () =>
    ann.call('PATCH', `/apps/${id}`, { title: 'Mine', store: false }),
  )
})

test("rejects a missing key and another agent's app", async () => {
  const [ben, id] = [await t.agent('ben'), await ann.publish()]
  await expectError(t, 401, 'no_key', () => t.call('POST', '/apps', { body: game }))
  await expectError(t, 401, 'no_key', () =>
    t.call('POST', `/apps/${id}/versions`, { body: { prompt } }),
  )
  await expectError(t, 404, 'not_found', () => ben.call('POST', `/apps/${id}/versions`, { prompt }))
})

test('rejects invalid bodies and stores nothing', async () => {
  const html = '<p>hello</p>'
  for (const body of [
    {},
    { prompt, html },
    { prompt: '' },
    { prompt: ' \n ' },
    { prompt: 7 },
    { prompt: null },
    { prompt: 'x'.repeat(8_001) },
    { prompt: 'x'.repeat(100_000) },
    { prompt: 'a\u0000b' },
    { ...game, kind: 'film' },
    { ...game, store: 'yes' },
    { ...game, maxCredits: -1 },
    { ...game, ref: 'short' },
    { ...game, colour: 'red' },
    { ...game, title: '' },
    { ...game, priceRemix: 5 },
    { ...game, title: 'x'.repeat(81) },
  ]) {
    await expectError(t, 400, 'bad_request', () => ann.call('POST', '/apps', body))
  }
  const id = await ann.publish()
  for (const body of [{}, { prompt, html }, { prompt: '' }, { prompt: 'x'.repeat(8_001) }]) {
    await expectError(t, 400, 'bad_request', () => ann.call('POST', `/apps/${id}/versions`, body))
  }
})

test('games_off: game builds are rejected', async () => {
  await reopen({ GAMES_ON: 'off' })
  await expectError(t, 400, 'games_off', () => ann.call('POST', '/apps', game))
  expect((await ann.call('POST', '/apps', { prompt })).status).toBe(202)
})

test('price_above_max, not_enough_credits, daily_cap', async () => {
  await expectError(t, 402, 'price_above_max', () =>
    ann.call('POST', '/apps', { ...game, maxCredits: 1 }),
  )
  expect((await ann.call('POST', '/apps', { ...game, maxCredits: 100 })).status).toBe(202)
  const next = `/apps/${await ann.publish()}/versions`
  await expectError(t, 402, 'price_above_max', () =>
    ann.call('POST', next, { prompt: 'in blue', maxCredits: 1 }),
  )
  await reopen({ MARGIN_PERCENT: '1000' })
  await expectError(t, 402, 'not_enough_credits', () => ann.call('POST', '/apps', game))
  await reopen({ DAILY_CAP_CREDITS: '5' })
  await expectError(t, 402, 'daily_cap', () => ann.call('POST', '/apps', game))
})

test('builds_limit: failed builds count against the limit', async () => {
  await reopen({ BUILDS_PER_HOUR: '2' })
  await built({ prompt: 'a timer' })
  t.clock.advance(60_000)
  await built(game)
  const response = await expectError(t, 429, 'builds_limit', () =>
    ann.call('POST', '/apps', { prompt: 'a list' }),
  )
  expect(response.headers.get('retry-after')).toBe(String(59 * 60))
  expect((await ann.call('GET', '/me')).body).toMatchObject({
    limits: { buildsHour: { used: 2, max: 2 } },
  })
  t.clock.advance(59 * 60_000)
  expect((await ann.call('POST', '/apps', { prompt: 'a list' })).status).toBe(202)
})

test('publishes_limit, storage_full: no build starts', async () => {
  await reopen({ PUBLISHES_PER_HOUR: '1' })
  const begun = await ann.call('POST', '/apps', game)
  await ann.publish()
  await t.ctx.jobs.runDue()
  const { job } = Object((await ann.call('GET', `/jobs/${begun.text('job.id')}`)).body)
  expect(job).toMatchObject({ state: 'failed', charged: 0, error: { code: 'publishes_limit' } })
  await expectError(t, 429, 'publishes_limit', () => ann.call('POST', '/apps', game))
  await reopen({ BYTES_PER_AGENT: '100' })
  await ann.publish({ html: '<p>'.padEnd(100, 'x') })
  await expectError(t, 409, 'storage_full', () => ann.call('POST', '/apps', game))
})

test('storage_full after the build has begun: its page is not stored', async () => {
  await reopen({ BYTES_PER_AGENT: '1000' })
  const { files } = await t.ctx.storage.usage()
  const { job } = await built(game)
  expect(job).toMatchObject({ state: 'failed', charged: 0, error: { code: 'storage_full' } })
  expect((await t.ctx.storage.usage()).files).toBe(files)
  expect(t.ctx.state.reservations.size).toBe(0)
})

test('no_builder: no build starts', async () => {
  for (const settings of [
    { BUILDER_MODEL: 'nobody/knows' },
    { BUILDER_MODEL: 'demo/image' },
    { DEMO_MODELS: 'off' },
  ] as const) {
    await reopen(settings)
    await expectError(t, 503, 'no_builder', () => ann.call('POST', '/apps', { prompt }))
  }
  await reopen({ GAME_BUILDER_MODEL: 'nobody/knows' })
  await expectError(t, 503, 'no_builder', () => ann.call('POST', '/apps', game))
  expect((await ann.call('POST', '/apps', { prompt })).status).toBe(202)
})

test('no_studio: a build is rejected while the database is read-only', async () => {
  const { tx } = t.ctx.db
  const full = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_FULL' })
  const stuck = Object.assign(new Error('disk full'), { errno: '53100' })
  for (const error of t.ctx.db.kind === 'sqlite' ? [full] : [stuck]) {
    Object.assign(t.ctx.db, { tx: () => Promise.reject(error) })
    const response = await ann.call('POST', '/apps', game)
    Object.assign(t.ctx.db, { tx })
    expect([response.status, response.code]).toEqual([503, 'no_studio'])
  }
})

test('canceling a queued build deletes its app and releases the hold', async () => {
  const begun = await ann.call('POST', '/apps', game)
  const ended = await ann.call('DELETE', `/jobs/${begun.text('job.id')}`)
  expect(ended.status).toBe(200)
  await t.ctx.jobs.runDue()
  expect((await ann.call('GET', `/apps/${begun.text('app.id')}`)).status).toBe(404)
  expect((await t.request('GET', `/a/${begun.text('app.id')}`)).status).toBe(404)
  expect(await creditsOf(ann)).toEqual({ credits: 400, held: 0, builds: 0 })
  expect((await built(game)).job.state).toBe('done')
})

test('the price includes only assets that can be generated', async () => {
  const priceWith = async (PAINTER_MODEL: string): Promise<number> => {
    const ctx = await startTestServer({ EMBEDDED_MAKERS: 'off', PAINTER_MODEL })
    const request = { prompt: 'a harbour', dryRun: true }
    const dry = await (await ctx.agent('ann')).call('POST', '/apps', request)
    await ctx.close()
    return Number(Object(dry.body).price)
  }
  const bare = await priceWith('')
  expect([bare > 0, await priceWith('demo/nothing')]).toEqual([true, bare])
  expect(await priceWith('demo/image')).toBeGreaterThan(bare)
})

test('paused: a paused agent gets no builds, icons or assets', async () => {
  await reopen({ EMBEDDED_ASSET_CREDITS: '2' })
  const id = await ann.publish()
  const assets = [{ name: 'ship.png', kind: 'sprite', what: 'a small red ship' }]
  const calls = [
    ['POST', '/apps', game],
    ['POST', `/apps/${id}/versions`, { prompt }],
    ['PUT', `/apps/${id}/icon`, { make: true }],
    ['POST', `/apps/${id}/assets`, { assets }],
  ] as const
  await pauseAgent(t.ctx, ann.handle, true)
  for (const [method, path, body] of calls) {
    await expectError(t, 403, 'paused', () => ann.call(method, path, body))
  }
  // Free operations stay allowed.
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  expect((await ann.call('PUT', `/apps/${id}/icon`, { make: true })).status).toBe(200)
  await pauseAgent(t.ctx, ann.handle, false)
  for (const [method, path, body] of calls.slice(2)) {
    expect((await ann.call(method, path, body)).status).toBeLessThan(300)
  }
})
