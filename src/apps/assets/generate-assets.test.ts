import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'

import { fromCredits } from '../../kernel/money.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
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
let app: string
async function open(settings: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  t = await startTestServer(settings)
  ann = await t.agent('ann')
  app = await ann.publish()
  await t.ctx.jobs.start()
}
beforeEach(() => open())
afterEach(() => t.close())

const coin = { name: 'coin.png', kind: 'sprite', what: 'a golden coin' }
const ding = { name: 'ding', kind: 'sound', what: 'coin pickup' }
const path = () => `/apps/${app}/assets`

async function creditsOf(person: TestAgent) {
  const key = await t.ctx.keys.find(person.key)
  const { balance, held } = await balanceOf(t.ctx, { kind: 'agent', owner: key?.owner ?? '' })
  return { balance, held }
}

test('generates all five kinds free and live at once', async () => {
  const asks = [
    coin,
    { name: 'bay.png', kind: 'picture', what: 'a calm sea', width: 320, height: 200 },
    ding,
    { name: 'hello', kind: 'voice', what: 'Welcome aboard.' },
    { name: 'tune', kind: 'music', what: 'happy', seconds: 2, seed: 7 },
  ]
  const id = (await ann.call('POST', path(), { assets: asks })).text('job.id')
  await t.ctx.jobs.waitFor(id, { seen: Infinity, ms: 60_000 })
  const made = { price: 0, state: 'made', maker: 'embedded' }
  const items = asks.map(({ name, kind }) => ({ name, kind, ...made }))
  const job = { kind: 'assets', app, state: 'done', charged: 0, items }
  expect((await ann.call('GET', `/jobs/${id}`)).body).toMatchObject({ job })
  const list = Object((await ann.call('GET', path())).body)
  const files = new Map(list.assets.map((one: { name: string }) => [one.name, one]))
  expect(files.get('coin.png')).toMatchObject({
    kind: 'sprite',
    type: 'image/png',
    width: 128,
    height: 128,
    what: 'a golden coin',
    maker: 'embedded',
    seed: expect.any(Number),
  })
  expect(files.get('bay.png')).toMatchObject({ kind: 'picture', width: 320, height: 200 })
  expect(files.get('tune')).toMatchObject({ kind: 'music', type: 'audio/ogg', seconds: 2, seed: 7 })
  expect(files.get('hello')).toMatchObject({ kind: 'voice', type: 'audio/ogg' })
  const { bytes } = await ann.call('GET', `${path()}/coin.png`)
  expect(new Bun.CryptoHasher('sha256').update(bytes).digest('hex')).toBe(
    Object(files.get('coin.png')).sha256,
  )
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(400), held: fromCredits(0) })
})

test('"waiting" generates the assets that the page requests and does not have', async () => {
  const asks = JSON.stringify([coin, { ...ding, seconds: 0.5 }])
  const list = `<script type="application/json" data-assets>${asks}</script>`
  app = await ann.publish({ html: `<!doctype html><title>Coins</title><p>coins</p>${list}` })
  await ann.call('POST', path(), { assets: [coin] })
  const request = { assets: 'waiting', ref: 'what-waits' }
  const { status, body } = await ann.call('POST', path(), request)
  expect([status, body]).toMatchObject([201, { items: [{ name: 'ding', state: 'made' }] }])
  expect((await ann.call('POST', path(), request)).body).toEqual(body)
  expect((await ann.call('GET', path())).body).toMatchObject({ waiting: [] })
  await expectError(t, 400, 'bad_request', () => ann.call('POST', path(), { assets: 'waiting' }))
})

test('each asset is held and charged; the same ref pays once', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '3' })
  const dry = await ann.call('POST', path(), { assets: [coin, ding], dryRun: true, maxCredits: 5 })
  const items = [coin, ding].map(({ name, kind }) => ({ name, kind, price: 3, state: 'held' }))
  expect([dry.status, dry.body]).toEqual([200, { items, price: 6 }])
  await expectError(t, 402, 'price_above_max', () =>
    ann.call('POST', path(), { assets: [coin, ding], maxCredits: 5 }),
  )
  const body = { assets: [coin, ding], maxCredits: 6, ref: 'my-coins-1' }
  const first = await ann.call('POST', path(), body)
  expect([first.status, first.body]).toMatchObject([
    201,
    { job: { price: 6, charged: 6 }, items: [{ state: 'made' }, { state: 'made' }], held: 0 },
  ])
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(394), held: fromCredits(0) })
  const again = await ann.call('POST', path(), body)
  expect([again.status, again.body]).toEqual([201, first.body])
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(394), held: fromCredits(0) })
  await expectError(t, 409, 'ref_conflict', () =>
    ann.call('POST', path(), { ...body, assets: [coin] }),
  )
})

test('unfinished items of a canceled job fail and release their holds', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '3' })
  const { begun, go } = pauseMethod(t.ctx.generators, 'generate')
  const response = ann.call('POST', path(), { assets: [coin, ding] })
  await begun
  const [job] = Object((await ann.call('GET', '/jobs')).body).jobs
  const canceled = await ann.call('DELETE', `/jobs/${job.id}`)
  go()
  const failed = { state: 'failed', code: 'cancelled' }
  const items = [
    { name: 'coin.png', ...failed },
    { name: 'ding', ...failed },
  ]
  expect(canceled.body).toMatchObject({ job: { state: 'cancelled', charged: 0, items } })
  expect((await response).body).toMatchObject({ held: 0, items })
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(400), held: fromCredits(0) })
})

test('not_enough_credits: an account without credits generates nothing', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '250' })
  const short = await expectError(t, 402, 'not_enough_credits', () =>
    ann.call('POST', path(), { assets: [coin, ding] }),
  )
  expect(short.text('error')).toStartWith('This costs 500 credits and you have 400.')
  expect((await ann.call('GET', path())).body).toMatchObject({ assets: [] })
})

test('daily_cap: the error names the amount spent today', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '100', DAILY_CAP_CREDITS: '350' })
  await ann.call('POST', path(), { assets: [coin] })
  const asks = ['a', 'b', 'c'].map((name) => ({ ...coin, name }))
  const over = await expectError(t, 402, 'daily_cap', () =>
    ann.call('POST', path(), { assets: asks }),
  )
  expect(over.text('error')).toContain('has spent 100 of the 350 credits')
  expect((await ann.call('POST', path(), { assets: asks.slice(1) })).status).toBe(201)
})

test('rejects invalid requests and stores nothing', async () => {
  const many = Array.from({ length: 21 }, (_, index) => ({ ...coin, name: `c${index}` }))
  for (const body of [
    { assets: [] },
    { assets: many },
    { assets: 'all' },
    { assets: [coin, coin] },
    { assets: [{ ...coin, name: '../x' }] },
    { assets: [{ ...coin, kind: 'film' }] },
    { assets: [{ ...coin, what: '' }] },
    { assets: [{ ...coin, what: 'x'.repeat(401) }] },
    { assets: [{ ...coin, width: '64' }] },
    { assets: [{ ...coin, width: 100_000 }] },
    { assets: [{ ...ding, seconds: 61 }] },
    { assets: [coin], maxCredits: -1 },
    { assets: [coin], maxCredits: 0.000_000_1, dryRun: true },
    { assets: [coin], ref: 'short' },
    { assets: [coin], colour: 'red' },
  ])
    await expectError(t, 400, 'bad_request', () => ann.call('POST', path(), body))
  const voiced = { assets: [{ ...ding, kind: 'voice', voice: 'v'.repeat(65) }] }
  const { body } = await expectError(t, 400, 'bad_request', () => ann.call('POST', path(), voiced))
  expect(body).toMatchObject({ error: '"voice" must be one plain line of at most 64 characters.' })
})

test("rejects a missing key, another agent's app, assets off and a missing generator", async () => {
  const ben = await t.agent('ben')
  const body = { assets: [coin] }
  await expectError(t, 401, 'no_key', () => t.call('POST', path(), { body: body }))
  await expectError(t, 404, 'not_found', () => ben.call('POST', path(), body))
  await t.close()
  await open({ ASSETS_ON: 'off' })
  await expectError(t, 404, 'assets_off', () => ann.call('POST', path(), body))
  await t.close()
  await open({ EMBEDDED_MAKERS: 'off' })
  await expectError(t, 503, 'no_painter', () => ann.call('POST', path(), body))
  await expectError(t, 503, 'no_voice', () => ann.call('POST', path(), { assets: [ding] }))
})

test('too_many_assets: fails before generating', async () => {
  await ann.call('POST', path(), { assets: [coin] })
  const one = (name: string) => ann.call('PUT', `${path()}/${name}`, '[1]')
  for (let index = 0; index < 299; index += 1) await one(`f${index}.json`)
  await expectError(t, 409, 'too_many_assets', () => ann.call('POST', path(), { assets: [ding] }))
  const again = await ann.call('POST', path(), { assets: [{ ...coin, seed: 5 }] })
  expect(again.status).toBe(201)
})
