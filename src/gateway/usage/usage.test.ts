import { afterEach, beforeEach, expect, test } from 'bun:test'

import { nano } from '../../kernel/money.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { insertUse, type NewUse } from '../models/history.ts'

let t: TestServer
let gus: GatewayUser

beforeEach(async () => {
  t = await startTestServer()
  gus = await createGatewayUser(t)
})
afterEach(() => t.close())

const use = (more: Partial<NewUse> = {}) =>
  t.ctx.db.tx((db) =>
    insertUse(db, {
      account: `gateway:${gus.creditId}`,
      requestId: 'req',
      at: t.clock.now(),
      model: 'maker/small',
      type: 'chat',
      source: 'api',
      status: 'ok',
      upstream: 'local',
      price: 'pr_1',
      input: 10,
      cached: 4,
      output: 3,
      reasoning: 1,
      searches: 2,
      estimated: false,
      charged: nano(1_500n),
      held: nano(20_000n),
      ms: 12,
      firstByteMs: 5,
      ...more,
    }),
  )

const row = {
  id: expect.any(String),
  request_id: 'req',
  timestamp: '2026-05-04T12:00:00.000Z',
  model: 'maker/small',
  type: 'chat',
  source: 'api',
  key: null,
  status: 'ok',
  error: null,
  input_count: 10,
  cached_count: 4,
  output_count: 3,
  reasoning_count: 1,
  search_count: 2,
  estimated: false,
  price_in_usd: 0.0000015,
  held_in_usd: 0.00002,
  ms: 12,
  ttft_ms: 5,
}

const total = async (query: string) => (await gus.call('GET', `/queries/history?${query}`)).body

test('the history is available as JSON and CSV, and only of one’s own account', async () => {
  await use()
  const { status, body } = await gus.call('GET', '/v1/queries/history')
  expect([status, body]).toEqual([200, { data: [row], page: 1, page_count: 100, total: 1 }])
  const { headers, body: csv } = await gus.call('GET', '/queries/history?format=csv')
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(csv).toMatch(
    /^id,request_id,.*,ttft_ms,key,error\r\n\w+,req,2026-05-04T12:00:00.000Z,maker\/small,chat,api,ok,10,4,3,1,2,false,0.0000015,0.00002,12,5,,\r\n$/,
  )
  const other = await createGatewayUser(t)
  expect((await other.call('GET', '/queries/history')).body).toMatchObject({ data: [], total: 0 })
  expect((await t.request('GET', '/queries/history')).status).toBe(401)
})

test('CSV is safe to open: quotes are doubled, and no cell is a formula', async () => {
  await use({ model: '=HYPERLINK("x"),y', firstByteMs: null })
  const { body } = await gus.call('GET', '/queries/history?format=csv')
  expect(body).toContain(`,"'=HYPERLINK(""x""),y",chat,`)
  expect(body).toEndWith(',12,,,\r\n')
})

test('pages, a model, and a time range', async () => {
  for (const model of ['maker/small', 'maker/large', 'maker/small']) {
    await use({ model })
    t.clock.advance(86_400_000)
  }
  expect(await total('page=2&page_count=2')).toMatchObject({
    data: [{ timestamp: row.timestamp }],
    page: 2,
    page_count: 2,
    total: 3,
  })
  expect(await total('page=9')).toMatchObject({ data: [], total: 3 })
  expect(await total('model=maker/small')).toMatchObject({ total: 2 })
  expect(await total('from=2026-05-05')).toMatchObject({ total: 2 })
  expect(await total('to=2026-05-05')).toMatchObject({ total: 2 })
  expect(await total('from=2026-05-05T12:00:00Z&to=2026-05-05T12:00')).toMatchObject({ total: 1 })
  expect(await total('from=2026-05-05T14:00:00%2B02:00')).toMatchObject({ total: 2 })
  expect(await total('from=2026-06-01')).toMatchObject({ data: [], total: 0 })
})

test('invalid parameters are 400 and name the field', async () => {
  for (const [param, value] of [
    ['page', '0'],
    ['page', 'x'],
    ['page_count', '1001'],
    ['page_count', '1.5'],
    ['page_count', '0x10'],
    ['page_count', '1e1'],
    ['from', 'yesterday'],
    ['to', '2026-13-01'],
    ['from', '2026-02-30'],
    ['model', '%00'],
    ['model', 'x'.repeat(201)],
    ['format', 'xml'],
  ] as const) {
    const { status, body } = await gus.call('GET', `/queries/history?${param}=${value}`)
    expect([param, status]).toEqual([param, 400])
    expect(body).toMatchObject({ error: { type: 'invalid_request_error', param } })
  }
})
