import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'

import fc from 'fast-check'

import type { SettingName } from '../../../kernel/config/settings.ts'
import { dialect } from '../../../kernel/db/columns.ts'
import { respondToRpc, type RpcResponder } from '../../../testing/fixtures/json-rpc.ts'
import { ModelChain, type ModelPayment } from '../../../testing/fixtures/model-chain.ts'
import {
  bitcoindNode,
  evmNode,
  readEsplora,
  solanaNode,
} from '../../../testing/fixtures/model-nodes.ts'
import { seeded } from '../../../testing/fixtures/random.ts'
import {
  startTopupServer,
  testVpub,
  testXpub,
  type TopupServer,
} from '../../../testing/fixtures/topups.ts'
import { isThorough } from '../../../testing/thorough.ts'
import { scriptOf } from './addresses.ts'
import type { Method } from './method.ts'

setDefaultTimeout(120_000)

const confirmations = 3
/** Random histories of each watcher: PROPERTY_RUNS. The watchers are the same on PostgreSQL. */
const runs = Number(
  Bun.env['PROPERTY_RUNS'] ?? (isThorough ? 12 : 6) / (dialect === 'postgres' ? 2 : 1),
)

/** A watcher under test: its settings, its node, and the coins that people and contracts send. */
interface Watcher {
  network: string
  methods: Method[]
  settings: Partial<Record<SettingName, string>>
  /** Returns what responds for the node of a world. */
  openNode(world: World): (request: Request) => Promise<Response> | Response
}

/** Units of a coin that are worth a whole number of billionths of a USD, and their value. */
const coins: Record<ModelPayment['asset'], { method: Method; units: bigint; value: bigint }> = {
  USDT: { method: 'usdt', units: 10n ** 6n, value: 10n ** 9n },
  ETH: { method: 'eth', units: 10n ** 15n, value: 3n * 10n ** 9n },
  contract: { method: 'eth', units: 10n ** 15n, value: 3n * 10n ** 9n },
  BTC: { method: 'btc', units: 10n ** 4n, value: 6n * 10n ** 9n },
  SOL: { method: 'sol', units: 10n ** 8n, value: 15n * 10n ** 9n },
}

const rpc = (openNode: (world: World) => RpcResponder) => (world: World) => {
  const node = openNode(world)
  return (request: Request) => respondToRpc(request, node)
}
const recipient = '4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA'
const bitcoin = { TOPUP_BTC_NETWORK: 'regtest', TOPUP_BTC_XPUB: testVpub } as const

const watchers: Record<string, Watcher> = {
  USDT: {
    network: 'eip155:1',
    methods: ['usdt'],
    settings: { TOPUP_EVM_XPUB: testXpub, TOPUP_EVM_CONFIRMATIONS: String(confirmations) },
    openNode: rpc(({ chain }) => evmNode(chain)),
  },
  ETH: {
    network: 'eip155:1',
    methods: ['eth'],
    settings: { TOPUP_EVM_XPUB: testXpub, TOPUP_EVM_CONFIRMATIONS: String(confirmations) },
    openNode: rpc(({ chain }) => evmNode(chain)),
  },
  'Bitcoin by Esplora': {
    network: 'bitcoin:regtest',
    methods: ['btc'],
    settings: { ...bitcoin, TOPUP_BTC_CONFIRMATIONS: String(confirmations) },
    openNode:
      ({ chain }) =>
      ({ url }) =>
        Response.json(readEsplora(chain, new URL(url).pathname)),
  },
  'Bitcoin by bitcoind': {
    network: 'bitcoin:regtest',
    methods: ['btc'],
    settings: { ...bitcoin, TOPUP_BTC_CONFIRMATIONS: String(confirmations) },
    openNode: rpc(({ chain, scripts }) =>
      bitcoindNode(chain, (address) => scripts.get(address) ?? address),
    ),
  },
  Solana: {
    network: 'solana:localnet',
    methods: ['sol'],
    settings: { TOPUP_SOL_RECIPIENT: recipient, TOPUP_SOL_NETWORK: 'localnet' },
    openNode: rpc((world) =>
      solanaNode(world.chain, { recipient, depth: deepest, behind: () => world.behind }),
    ),
  },
}
/** Blocks of the deepest reorganization; those of Solana are below what is finalized. */
const deepest = 8
const urlSettings: Record<string, SettingName> = {
  USDT: 'TOPUP_EVM_RPC_URLS',
  ETH: 'TOPUP_EVM_RPC_URLS',
  'Bitcoin by Esplora': 'TOPUP_BTC_ESPLORA_URLS',
  'Bitcoin by bitcoind': 'TOPUP_BTC_RPC_URL',
  Solana: 'TOPUP_SOL_RPC_URLS',
}

interface World {
  t: TopupServer
  chain: ModelChain
  /** Addresses by method, and references of SOL. */
  receivers: Map<Method, string[]>
  scripts: Map<string, string>
  /** Blocks that the node does not know yet. */
  behind: number
}

type Step =
  | { do: 'pay'; transfers: number }
  | { do: 'drop' }
  | { do: 'mine' | 'reorganize' | 'lag'; blocks: number }

const step = <Name extends 'mine' | 'reorganize' | 'lag'>(name: Name, min: number, max: number) =>
  fc.record({ do: fc.constant(name), blocks: fc.integer({ min, max }) })
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      transfers: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 4, arbitrary: step('mine', 1, confirmations + 1) },
  { weight: 2, arbitrary: step('reorganize', 1, deepest) },
  { weight: 1, arbitrary: step('lag', 0, 4) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const) }) },
)

let closeWorld = async (): Promise<void> => undefined
afterEach(() => closeWorld())

async function openWorld(name: string, draw: (limit: number) => number): Promise<World> {
  const watcher = watchers[name]
  const setting = urlSettings[name]
  if (!watcher || !setting) throw new Error('no watcher')
  const node = Bun.serve({ port: 0, fetch: (request) => respond(request) })
  const t = await startTopupServer({ ...watcher.settings, [setting]: node.url.href })
  closeWorld = async () => {
    await t.close()
    await node.stop(true)
  }
  const chain = new ModelChain(draw, () => t.clock.now())
  const world: World = { t, chain, receivers: new Map(), scripts: new Map(), behind: 0 }
  const respond = watcher.openNode(world)
  await t.watch(watcher.network)
  for (const method of watcher.methods) {
    const made = [await t.invoice(method, 5), await t.invoice(method, 5)]
    const receivers = made.map(({ address, uri }) => /&reference=(\w+)$/.exec(uri)?.[1] ?? address)
    world.receivers.set(method, receivers)
    for (const { address } of method === 'btc' ? made : []) {
      world.scripts.set(address, await scriptOf(t.ctx.config, address))
    }
  }
  return world
}

/** Pays with one transaction. Few amounts, so that many transfers are equal. */
function pay({ chain, receivers }: World, draw: (limit: number) => number, transfers: number) {
  const own = Object.entries(coins).filter(([, { method }]) => receivers.has(method))
  const [asset, { method, units }] = own[draw(own.length)] ?? ['', coins.USDT]
  const known = (['USDT', 'ETH', 'contract', 'BTC', 'SOL'] as const).find((one) => one === asset)
  if (!known) throw new Error('no coin')
  const to = receivers.get(method) ?? []
  // A transaction of a person sends ETH once.
  const count = known === 'ETH' ? 1 : transfers
  chain.pay(
    ...Array.from({ length: count }, () => ({
      asset: known,
      to: to[draw(to.length)] ?? '',
      amount: units * BigInt(1 + draw(2)),
    })),
  )
}

/** Returns the value of what the chain has now, in billionths of a USD. */
function valueOn({ chain, receivers }: World): bigint {
  let sum = 0n
  for (const [asset, { method, units, value }] of Object.entries(coins)) {
    for (const to of receivers.get(method) ?? []) {
      const known = (['USDT', 'ETH', 'contract', 'BTC', 'SOL'] as const).filter(
        (one) => one === asset,
      )
      sum += (chain.sumOf(known, to) / units) * value
    }
  }
  return sum
}

describe.each(Object.keys(watchers))('%s', (name) => {
  test('has credited what the chain has, whatever was reorganized', async () => {
    const network = watchers[name]?.network ?? ''
    const steps = fc.array(stepArbitrary, { minLength: 10, maxLength: 40 })
    const property = fc.asyncProperty(steps, fc.integer(), async (made, seed) => {
      const random = seeded(seed)
      const draw = (limit: number) => Math.floor(random() * limit)
      const world = await openWorld(name, draw)
      const { chain, t } = world
      /** Transactions that may be credited, which the chain must not lose for good. */
      const credited = new Set<string>()
      const watch = async () => {
        await t.watch(network)
        const deep = chain.blocks.slice(0, chain.blocks.length - confirmations + 1)
        for (const { transactions } of deep) for (const { id } of transactions) credited.add(id)
      }
      for (const step of made) {
        if (step.do === 'pay') pay(world, draw, step.transfers)
        else if (step.do === 'mine') for (let at = 0; at < step.blocks; at += 1) chain.mine()
        else if (step.do === 'reorganize') chain.reorganize(step.blocks)
        else if (step.do === 'lag') world.behind = step.blocks
        else chain.waiting = chain.waiting.filter(({ id }) => credited.has(id) || draw(2) === 0)
        // Some changes of the chain are between two passes.
        if (draw(3) > 0) await watch()
      }
      world.behind = 0
      chain.mine(4)
      for (let blocks = 0; blocks < deepest; blocks += 1) {
        chain.mine()
        await watch()
      }
      expect(await t.balance()).toBe(valueOn(world))
      await closeWorld()
      closeWorld = async () => undefined
    })
    await fc.assert(property, { numRuns: runs, seed: 20_261_128, endOnFailure: true })
  })
})

describe('ETH of an address', () => {
  const ether = 10n ** 15n
  const start = async () => {
    const world = await openWorld('ETH', () => 0)
    const [to = ''] = world.receivers.get('eth') ?? []
    const pass = async (blocks: number, chance: 0 | 4 = 0) => {
      for (let at = 0; at < blocks; at += 1) world.chain.mine(chance)
      await world.t.watch('eip155:1')
    }
    return { ...world, to, pass }
  }

  test('is not credited by its transaction after it was by its balance', async () => {
    const { chain, t, to, pass } = await start()
    await pass(6)
    // The payment is in no block that the watcher reads for the first time.
    chain.pay({ asset: 'ETH', to, amount: ether })
    chain.blocks.splice(-5)
    await pass(5, 4)
    expect(await t.balance()).toBe(3_000_000_000n)
    const [paid] = chain.blocks.flatMap(({ transactions }) => transactions)
    chain.blocks.splice(-6)
    if (paid) chain.waiting.push(paid)
    await pass(7)
    await pass(1, 4)
    await pass(3)
    await pass(3)
    expect(await t.balance()).toBe(3_000_000_000n)
  })

  test('by a contract is credited whole where a transaction beside it is replaced', async () => {
    const { chain, t, to, pass } = await start()
    chain.pay({ asset: 'contract', to, amount: 5n * ether })
    await pass(1, 4)
    await pass(1)
    chain.pay({ asset: 'ETH', to, amount: 4n * ether })
    await pass(1, 4)
    chain.blocks.splice(-1)
    await pass(2)
    await pass(3)
    expect(await t.balance()).toBe(15_000_000_000n)
  })
})
