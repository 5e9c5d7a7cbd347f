import { afterAll, expect, test } from 'bun:test'

import type { SettingName } from '../../../kernel/config/settings.ts'
import { minute } from '../../../kernel/time.ts'
import { commands } from '../../../server/operator/commands.ts'
import { signInOperator } from '../../../testing/fixtures/form-browser.ts'
import { startTopupServer, testVpub, testXpub } from '../../../testing/fixtures/topups.ts'
import { type Method, networksOf } from './method.ts'

/** Responds as the servers of all chains and rates. */
let respond = (): Response => new Response('')
const server = Bun.serve({ port: 0, fetch: () => respond() })
afterAll(() => server.stop(true))

const error = { code: -32_005, message: 'limit exceeded' }
const bodies: Record<string, () => Response> = {
  'a status': () => new Response('', { status: 500 }),
  HTML: () => new Response('<html>'),
  'half of a response': () => new Response('{"result":'),
  null: () => Response.json(null),
  'an empty list': () => Response.json([]),
  'no result': () => Response.json({}),
  'a result of null': () => Response.json({ result: null }),
  'a result of another type': () => Response.json({ result: { a: [1] } }),
  'an error': () => Response.json({ error }),
  'a list of errors': () => Response.json([1, 2, 3].map((id) => ({ id, error }))),
}

const url = server.url.href
const watchers: Record<string, [Method, Partial<Record<SettingName, string>>]> = {
  'USDT and ETH': ['usdt', { TOPUP_EVM_XPUB: testXpub, TOPUP_EVM_RPC_URLS: url }],
  'Bitcoin by Esplora': [
    'btc',
    { TOPUP_BTC_NETWORK: 'testnet', TOPUP_BTC_XPUB: testVpub, TOPUP_BTC_ESPLORA_URLS: url },
  ],
  'Bitcoin by bitcoind': [
    'btc',
    { TOPUP_BTC_NETWORK: 'testnet', TOPUP_BTC_XPUB: testVpub, TOPUP_BTC_RPC_URL: url },
  ],
  Solana: [
    'sol',
    {
      TOPUP_SOL_NETWORK: 'devnet',
      TOPUP_SOL_RECIPIENT: '4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA',
      TOPUP_SOL_RPC_URLS: url,
    },
  ],
}

test.each(Object.entries(watchers))(
  '%s: every response of its servers gives a declared error',
  async (_, [method, settings]) => {
    const t = await startTopupServer(settings)
    const [network = ''] = networksOf(t.ctx.config)
    const invoice = await t.invoice(method, 5)
    const operator = await signInOperator(t)
    for (const [name, body] of Object.entries(bodies)) {
      respond = body
      t.clock.advance(10 * minute)
      await t.watch(network)
      const state = { status: expect.any(String), payments: [], watcher: { ok: false } }
      expect([name, await t.status(invoice.id)]).toMatchObject([name, state])
      const made = await t.gus.call('POST', `/topup/create/${method}`, { amount: 5 })
      expect([name, made.status, made.code]).toEqual([name, 503, 'payments_off'])
      const check = await commands['payments']?.(t.ctx, ['check'])
      expect([name, check?.ok]).toEqual([name, false])
      // A server that says nothing is of no other network.
      const doctor = await commands['doctor']?.(t.ctx, [])
      const isOther = doctor?.text.includes('is of another network')
      expect([name, doctor?.ok, isOther]).toEqual([name, false, false])
      const page = await operator.read('/console/payments')
      expect([name, page.includes('Unusable servers of the chains')]).toEqual([name, true])
    }
    await t.close()
  },
)

test('an unreadable response of every source of rates is no_rate', async () => {
  const t = await startTopupServer({
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: url,
    TOPUP_RATES: 'kraken,coingecko',
    TOPUP_KRAKEN_URL: url,
    TOPUP_COINGECKO_URL: url,
  })
  for (const [name, body] of Object.entries(bodies)) {
    respond = body
    t.clock.advance(minute)
    const made = await t.gus.call('POST', '/topup/create/eth', { amount: 5 })
    expect([name, made.status, made.code]).toEqual([name, 503, 'no_rate'])
  }
  await t.close()
})
