import { afterEach, beforeEach, expect, test } from 'bun:test'

import { minute } from '../../../kernel/time.ts'
import { startTopupServer, testXpub, type TopupServer } from '../../../testing/fixtures/topups.ts'

let prices: { kraken?: string; gecko?: number }
let server: Bun.Server<undefined>
let t: TopupServer

beforeEach(async () => {
  prices = { kraken: '60000.10000', gecko: 61_000.123_456_789_012 }
  server = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const { kraken, gecko } = prices
      const isKraken = url.includes('/0/public/Ticker')
      if (isKraken ? kraken === undefined : gecko === undefined) {
        return new Response('', { status: 500 })
      }
      return Response.json(
        isKraken
          ? { error: [], result: { XXBTZUSD: { c: [kraken, '1'] }, XETHZUSD: { c: ['3000'] } } }
          : { bitcoin: { usd: gecko }, ethereum: { usd: 3_001 } },
      )
    },
  })
  const url = server.url.href
  t = await startTopupServer({
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: 'http://127.0.0.1:1',
    TOPUP_RATES: 'kraken,coingecko',
    TOPUP_KRAKEN_URL: url,
    TOPUP_COINGECKO_URL: url,
  })
})
afterEach(async () => {
  await t.close()
  await server.stop(true)
})

const rateOf = (asset: 'BTC' | 'ETH' | 'SOL') => t.ctx.coins.rates().find(asset)

test('takes the first source, and the second one where the first is down', async () => {
  expect(await rateOf('BTC')).toMatchObject({ rate: 60_000_100_000_000n, source: 'kraken' })
  delete prices.kraken
  t.clock.advance(3 * minute)
  expect(await rateOf('BTC')).toMatchObject({ source: 'coingecko' })
})

test('has no rate of a coin where two sources are more than 5 % apart', async () => {
  prices.gecko = 63_000.105
  expect(await rateOf('BTC')).toMatchObject({ source: 'kraken' })
  prices.gecko = 63_001
  t.clock.advance(minute)
  expect(await rateOf('BTC')).toBeUndefined()
  expect(await rateOf('ETH')).toMatchObject({ source: 'kraken' })
})

test('uses a rate for 2 minutes; then the coin answers no_rate, and USDT stays open', async () => {
  expect((await t.gus.call('POST', '/topup/create/eth', { amount: 5 })).status).toBe(200)
  prices = {}
  t.clock.advance(minute)
  expect((await t.gus.call('POST', '/topup/create/eth', { amount: 5 })).status).toBe(200)
  t.clock.advance(minute)
  const late = await t.gus.call('POST', '/topup/create/eth', { amount: 5 })
  expect([late.status, late.code]).toEqual([503, 'no_rate'])
  expect((await t.gus.call('POST', '/topup/create/usdt', { amount: 5 })).status).toBe(200)
})

test('has no rate where a source returns none', async () => {
  for (const wrong of ['0', '-5', 'NaN', '1e9', '']) {
    prices = { kraken: wrong }
    t.clock.advance(3 * minute)
    expect(await rateOf('BTC')).toBeUndefined()
  }
  expect(await rateOf('SOL')).toBeUndefined()
})
