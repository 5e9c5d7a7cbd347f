import { afterAll, expect, test } from 'bun:test'

import { commands } from '../../../server/operator/commands.ts'
import { respondToRpc } from '../../../testing/fixtures/json-rpc.ts'
import { startTopupServer, testVpub } from '../../../testing/fixtures/topups.ts'

/** Answers of the servers of the chains: by path for Esplora, by method for JSON-RPC. */
let responses: Record<string, unknown> = {}

const chain = Bun.serve({
  port: 0,
  fetch: async (request) => {
    if (request.method === 'GET') return Response.json(responses[new URL(request.url).pathname])
    return respondToRpc(request, (method) => ({ result: responses[method] }))
  },
})
afterAll(() => chain.stop(true))

const testnet = '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943'
const mainnet = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'
const devnet = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
const mainnetBeta = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

const bitcoin = 'It serves another network than testnet. Correct the URL.'
const solana = 'It serves another network than devnet. Correct the URL.'
const keys = 'Its wallet has private keys. Create one without them.'

const settings = () => ({
  TOPUP_BTC_NETWORK: 'testnet',
  TOPUP_BTC_XPUB: testVpub,
  TOPUP_SOL_NETWORK: 'devnet',
  TOPUP_SOL_RECIPIENT: '4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA',
  TOPUP_SOL_RPC_URLS: chain.url.href,
})

async function check(more: object) {
  const t = await startTopupServer({ ...settings(), ...more })
  const result = await commands['payments']?.(t.ctx, ['check'])
  // No coin is offered whose payments nobody can see.
  await t.watch('solana:devnet')
  const { status } = await t.gus.call('POST', '/topup/create/sol', { amount: 5 })
  await t.close()
  return { ok: result?.ok, text: result?.text ?? '', status }
}

test('servers of the networks of the settings are used', async () => {
  responses = {
    '/blocks/0': [{ id: testnet }],
    getGenesisHash: devnet,
    getSignaturesForAddress: [],
  }
  const found = await check({ TOPUP_BTC_ESPLORA_URLS: chain.url.href })
  expect(found).toMatchObject({ ok: true, status: 200 })
})

test('servers of other networks are named and not used', async () => {
  responses = { '/blocks/0': [{ id: mainnet }], getGenesisHash: mainnetBeta }
  const { ok, text, status } = await check({ TOPUP_BTC_ESPLORA_URLS: chain.url.href })
  expect([ok, status]).toEqual([false, 503])
  expect(text).toContain(bitcoin)
  expect(text).toContain(solana)
})

const litecoin = '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2'

test.each([
  ['main', testnet, false, bitcoin],
  // Litecoin's chains have the names and the scripts of Bitcoin's.
  ['test', litecoin, false, bitcoin],
  ['test', testnet, true, keys],
] as const)(
  'a bitcoind of the chain %s %s (private keys: %p)',
  async (...[name, first, hasKeys, problem]) => {
    responses = {
      getblockchaininfo: { chain: name },
      getblockhash: first,
      getwalletinfo: { private_keys_enabled: hasKeys },
      getGenesisHash: devnet,
      getSignaturesForAddress: [],
    }
    const { ok, text } = await check({ TOPUP_BTC_RPC_URL: chain.url.href })
    expect(ok).toBe(false)
    expect(text).toContain(problem)
  },
)
