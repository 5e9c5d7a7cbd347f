import { afterEach, describe, expect, test } from 'bun:test'

import type { SettingName } from '../../../kernel/config/settings.ts'
import { checkConditions } from '../../../server/operator/alerts.ts'
import { commands } from '../../../server/operator/commands.ts'
import { findBitcoinNode, startBitcoinChain } from '../../../testing/fixtures/bitcoin-chain.ts'
import { startEvmChain } from '../../../testing/fixtures/evm-chain.ts'
import { signInOperator } from '../../../testing/fixtures/form-browser.ts'
import { type NodeProxy, startNodeProxy } from '../../../testing/fixtures/json-rpc.ts'
import { ModelChain } from '../../../testing/fixtures/model-chain.ts'
import { readEsplora } from '../../../testing/fixtures/model-nodes.ts'
import { startSolanaChain } from '../../../testing/fixtures/solana-chain.ts'
import { startTopupServer, testVpub, testXpub } from '../../../testing/fixtures/topups.ts'
import type { Method } from './method.ts'
import { readWatcher } from './watchers.ts'

/** A real node behind an address that can begin to serve another network. */
interface Node {
  network: string
  method: Method
  settings: Partial<Record<SettingName, string>>
  /** The URL setting, and the URL. */
  url: [setting: SettingName, url: string]
  /** Turns the address to another network, which shows the same payments, and back. */
  serveOther(isOther: boolean): void
  /** Returns results of its own by method; those of the node again with none. */
  respondWith(results: object): void
  /** Pays an invoice of 5 USD, with enough blocks on it. */
  pay(invoice: { address: string; uri: string }): Promise<unknown>
  problem: string
}

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

function startProxy(url: string, own: object, other: object) {
  const proxy: NodeProxy = startNodeProxy(url)
  stops.push(proxy.stop)
  const serveOther = (isOther: boolean) => void (proxy.answers = { ...(isOther ? other : own) })
  serveOther(false)
  const respondWith = (results: object) => void (proxy.answers = { ...own, ...results })
  return { proxy, serveOther, respondWith }
}

async function startEvm(method: 'usdt' | 'eth' = 'usdt'): Promise<Node> {
  const chain = await startEvmChain()
  stops.push(chain.stop)
  await chain.mine(20)
  const { proxy, serveOther, respondWith } = startProxy(chain.url, {}, { eth_chainId: '0x5' })
  return {
    network: 'eip155:1',
    method,
    settings: { TOPUP_EVM_XPUB: testXpub, TOPUP_EVM_CONFIRMATIONS: '3' },
    url: ['TOPUP_EVM_RPC_URLS', proxy.url],
    serveOther,
    respondWith,
    pay: async ({ address }) => {
      if (method === 'usdt') await chain.sendUsdt([address, 5_000_000n])
      else await chain.forwardEther(address, 1_666_666_666_666_667n)
      await chain.mine(3)
    },
    problem: 'It serves chain 5 instead of 1. Correct the URL.',
  }
}

async function startSolana(): Promise<Node> {
  const chain = await startSolanaChain()
  stops.push(chain.stop)
  const { proxy, serveOther, respondWith } = startProxy(
    chain.url,
    { getGenesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' },
    { getGenesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' },
  )
  return {
    network: 'solana:devnet',
    method: 'sol',
    settings: { TOPUP_SOL_RECIPIENT: chain.recipient, TOPUP_SOL_NETWORK: 'devnet' },
    url: ['TOPUP_SOL_RPC_URLS', proxy.url],
    serveOther,
    respondWith,
    pay: ({ uri }) => {
      const references = [/&reference=(\w+)$/.exec(uri)?.[1] ?? '']
      return chain.send({ to: chain.recipient, amount: 33_333_334n, references })
    },
    problem: 'It serves another network than devnet. Correct the URL.',
  }
}

async function startBitcoind(): Promise<Node> {
  const chain = await startBitcoinChain()
  stops.push(chain.stop)
  const { proxy, serveOther, respondWith } = startProxy(
    chain.rpcUrl,
    {},
    { getblockchaininfo: { chain: 'test' } },
  )
  return {
    network: 'bitcoin:regtest',
    method: 'btc',
    settings: { TOPUP_BTC_NETWORK: 'regtest', TOPUP_BTC_XPUB: testVpub },
    url: ['TOPUP_BTC_RPC_URL', proxy.url],
    serveOther,
    respondWith,
    pay: async ({ address }) => {
      await chain.send([address, 8_334n])
      await chain.mine(2)
    },
    problem: 'It serves another network than regtest. Correct the URL.',
  }
}

/** Testnet and signet have the same addresses. */
async function startEsplora(): Promise<Node> {
  const signet = '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6'
  const testnet = '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943'
  const chain = new ModelChain(
    () => 0,
    () => 0,
  )
  let first = testnet
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url)
      return Response.json(
        pathname === '/blocks/0' ? [{ id: first }] : readEsplora(chain, pathname),
      )
    },
  })
  stops.push(() => server.stop(true))
  return {
    network: 'bitcoin:testnet',
    method: 'btc',
    settings: { TOPUP_BTC_NETWORK: 'testnet', TOPUP_BTC_XPUB: testVpub },
    url: ['TOPUP_BTC_ESPLORA_URLS', server.url.href],
    serveOther: (isOther) => void (first = isOther ? signet : testnet),
    respondWith: () => undefined,
    pay: async ({ address: to }) => {
      chain.pay({ asset: 'BTC', to, amount: 8_334n })
      chain.mine(4)
      chain.mine()
    },
    problem: 'It serves another network than testnet. Correct the URL.',
  }
}

const nodes: Record<string, () => Promise<Node>> = {
  USDT: () => startEvm('usdt'),
  'ETH of a contract': () => startEvm('eth'),
  Solana: startSolana,
  'Bitcoin by Esplora': startEsplora,
  ...(findBitcoinNode() !== undefined && { 'Bitcoin by bitcoind': startBitcoind }),
}

describe.each(Object.entries(nodes))('%s', (_, startNode) => {
  test('an address that begins to serve another network credits nothing', async () => {
    const node = await startNode()
    const [setting, url] = node.url
    const t = await startTopupServer({ ...node.settings, [setting]: url })
    stops.push(t.close)
    await t.watch(node.network)
    const invoice = await t.invoice(node.method, 5)
    await t.watch(node.network)
    expect(await t.status(invoice.id)).toMatchObject({ watcher: { ok: true } })

    node.serveOther(true)
    await node.pay(invoice)
    await t.watch(node.network)
    await t.watch(node.network)
    const unpaid = { status: 'New', payments: [], watcher: { ok: false } }
    expect(await t.status(invoice.id)).toMatchObject(unpaid)
    expect([await t.balance(), await t.credits()]).toEqual([0n, 0])
    const doctor = await commands['doctor']?.(t.ctx, [])
    expect([doctor?.ok, doctor?.text]).toEqual([false, expect.stringContaining(node.problem)])

    node.serveOther(false)
    t.clock.advance(60_000)
    await t.watch(node.network)
    await t.watch(node.network)
    expect(await commands['doctor']?.(t.ctx, [])).toMatchObject({ ok: true })
    expect(await t.status(invoice.id)).toMatchObject({ status: 'Settled', watcher: { ok: true } })
    expect(await t.credits()).toBe(1)
  }, 60_000)
})

const garbled: [name: string, method: string, start: () => Promise<Node>][] = [
  ['USDT', 'eth_getLogs', () => startEvm('usdt')],
  ['ETH', 'eth_blockNumber', () => startEvm('eth')],
  ['ETH', 'eth_getBlockByNumber', () => startEvm('eth')],
  ['Solana', 'getSignaturesForAddress', startSolana],
  ['Solana', 'getTransaction', startSolana],
  ...(findBitcoinNode() === undefined
    ? []
    : (['listsinceblock', 'gettransaction'] as const).map((method): (typeof garbled)[number] => [
        'Bitcoin by bitcoind',
        method,
        startBitcoind,
      ])),
]

test.each(garbled)(
  '%s: garbage in place of %p does not count as an empty chain',
  async (_, method, startNode) => {
    const node = await startNode()
    const [setting, url] = node.url
    const t = await startTopupServer({ ...node.settings, [setting]: url })
    stops.push(t.close)
    await t.watch(node.network)
    const invoice = await t.invoice(node.method, 5)
    await t.watch(node.network)
    await node.pay(invoice)
    const { cursor } = await readWatcher(t.ctx, node.network)
    for (const garbage of [{ a: 1 }, null]) {
      node.respondWith({ [method]: garbage })
      t.clock.advance(60_000)
      await t.watch(node.network)
      const { ok, cursor: after } = await readWatcher(t.ctx, node.network)
      expect([ok, after]).toEqual([false, cursor])
    }
    node.respondWith({})
    t.clock.advance(60_000)
    await t.watch(node.network)
    expect(await t.status(invoice.id)).toMatchObject({ status: 'Settled', watcher: { ok: true } })
  },
  60_000,
)

test('of several servers, the one that changes its chain is left out and shown', async () => {
  const [first, second] = [await startEvm(), await startEvm()]
  const urls = `${first.url[1]},${second.url[1]}`
  const t = await startTopupServer({ ...first.settings, TOPUP_EVM_RPC_URLS: urls })
  stops.push(t.close)
  await t.watch(first.network)
  const invoice = await t.invoice('usdt', 5)
  first.serveOther(true)
  await first.pay(invoice)
  await second.pay(invoice)
  await t.watch(first.network)
  const paid = { status: 'Settled', credited: 5, watcher: { ok: true } }
  expect(await t.status(invoice.id)).toMatchObject(paid)
  expect(await t.credits()).toBe(1)
  const shown = expect.stringContaining(first.problem)
  const conditions = await checkConditions(t.ctx)
  expect(conditions).toContainEqual({ name: 'payments', isFiring: true, text: shown })
  const operator = await signInOperator(t)
  expect(await operator.read('/console/payments')).toEqual(shown)
  expect(await commands['doctor']?.(t.ctx, [])).toMatchObject({ ok: false, text: shown })
})
