import { afterEach, beforeEach, expect, test } from 'bun:test'

import { openLog } from '../../kernel/log.ts'
import { systemClock } from '../../kernel/time.ts'
import { respondToRpc, type RpcReply } from '../../testing/fixtures/json-rpc.ts'
import { EvmRpc } from './json-rpc.ts'

/** Answers of a fake node by method. */
type Answers = Record<string, RpcReply>

const servers: Bun.Server<undefined>[] = []
let lines: Record<string, unknown>[] = []
beforeEach(() => {
  lines = []
})
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop(true))))

function startNode(responses: Answers, methods: string[] = []): string {
  const server = Bun.serve({
    port: 0,
    fetch: (request) =>
      respondToRpc(request, (method) => {
        methods.push(method)
        return responses[method] ?? {}
      }),
  })
  servers.push(server)
  return `${server.url.href}secret-key`
}

const rpcOf = (...urls: string[]) =>
  new EvmRpc({
    chainId: 84532,
    urls,
    setting: 'X402_RPC_URLS',
    log: openLog(systemClock, (line) => void lines.push(JSON.parse(line))),
  })

const ofBaseSepolia = { eth_chainId: { result: '0x14a34' } }

test('asks the servers in their order and skips one that is down', async () => {
  const [first, fallback]: [string[], string[]] = [[], []]
  const down = startNode({ eth_chainId: 503 }, first)
  const up = startNode({ ...ofBaseSepolia, eth_blockNumber: { result: '0x10' } }, fallback)
  const rpc = rpcOf(down, up)
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  // The one that failed rests, and the other one proves its chain with every call.
  expect(first).toEqual(['eth_chainId'])
  const call = ['eth_chainId', 'eth_blockNumber']
  expect(fallback).toEqual(['eth_chainId', ...call, ...call])
  expect(rpc.health().map(({ problem }) => problem)).toEqual(['status 503', undefined])
})

test('refuses a server of another chain, and says so without its key', async () => {
  const methods: string[] = []
  const wrong = startNode(
    { eth_chainId: { result: '0x1' }, eth_blockNumber: { result: '0x10' } },
    methods,
  )
  const rpc = rpcOf(wrong)
  const [health] = await rpc.check()
  expect(health?.problem).toBe('It serves chain 1 instead of 84532. Correct the URL.')
  const refusal = rpc.request('eth_blockNumber')
  await expect(refusal).rejects.toThrow('It serves chain 1 instead of 84532.')
  // It is asked for nothing but its chain.
  expect(new Set(methods)).toEqual(new Set(['eth_chainId']))
  expect(lines).toMatchObject([{ event: 'rpc_unusable', problem: health?.problem }])
  expect(JSON.stringify(lines)).not.toContain('secret-key')
})

test('an error of the chain is final; a limit of one server is not', async () => {
  const reverted = { error: { code: 3, message: 'execution reverted', data: '0x08' } }
  const limited = { error: { code: -32_005, message: 'limit exceeded' } }
  const first = startNode({ ...ofBaseSepolia, eth_call: reverted, eth_getLogs: limited })
  const second = startNode({
    ...ofBaseSepolia,
    eth_call: { result: '0x' },
    eth_getLogs: { result: [] },
  })
  const rpc = rpcOf(first, second)
  await expect(rpc.request('eth_call')).rejects.toMatchObject({ code: 3, data: '0x08' })
  expect(await rpc.request('eth_getLogs')).toEqual([])
})

test('checks the chain again after a failure: one name may have several nodes', async () => {
  const responses: Answers = { ...ofBaseSepolia, eth_blockNumber: { result: '0x10' } }
  const rpc = rpcOf(startNode(responses))
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  responses['eth_blockNumber'] = 502
  await expect(rpc.request('eth_blockNumber')).rejects.toThrow('status 502')
  responses['eth_chainId'] = { result: '0x1' }
  await expect(rpc.request('eth_blockNumber')).rejects.toThrow('It serves chain 1')
})

test('a server that serves another chain is not used until it returns to its own', async () => {
  const first: Answers = { ...ofBaseSepolia, eth_blockNumber: { result: '0x10' } }
  const other: Answers = { ...ofBaseSepolia, eth_blockNumber: { result: '0x20' } }
  const rpc = rpcOf(startNode(first), startNode(other))
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  first['eth_chainId'] = { result: '0x1' }
  expect(await rpc.request('eth_blockNumber')).toBe('0x20')
  expect(rpc.health()).toMatchObject([
    { isOfOtherNetwork: true, problem: 'It serves chain 1 instead of 84532. Correct the URL.' },
    { isOfOtherNetwork: false, problem: undefined },
  ])
  other['eth_chainId'] = { result: '0x1' }
  await expect(rpc.request('eth_blockNumber')).rejects.toThrow('No server of chain 84532 answers.')
  first['eth_chainId'] = ofBaseSepolia.eth_chainId
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  expect(rpc.health()[0]).toMatchObject({ isOfOtherNetwork: false, problem: undefined })
})

test.each([
  ['a status', () => new Response('', { status: 405 })],
  ['an error', () => Response.json({ jsonrpc: '2.0', error: { code: -32_600, message: 'batch' } })],
])('a server that refuses batches with %s proves its chain around a call', async (_, reject) => {
  let chains = ['0x14a34', '0x14a34']
  const methods: unknown[] = []
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const body: unknown = await request.clone().json()
      if (Array.isArray(body)) return reject()
      return respondToRpc(request, (method) => {
        methods.push(method)
        return { result: method === 'eth_chainId' ? (chains.shift() ?? '0x14a34') : '0x10' }
      })
    },
  })
  servers.push(server)
  const rpc = rpcOf(server.url.href)
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  expect(methods.slice(-3)).toEqual(['eth_chainId', 'eth_blockNumber', 'eth_chainId'])
  // The call itself could have been answered by the other chain.
  chains = ['0x14a34', '0x1']
  await expect(rpc.request('eth_blockNumber')).rejects.toThrow(
    'It serves chain 1 instead of 84532.',
  )
})

test('errors and garbage in place of the chain are failures of the server', async () => {
  const denied = { eth_chainId: { error: { code: -32_000, message: 'denied' } } }
  const good = { ...ofBaseSepolia, eth_blockNumber: { result: '0x10' } }
  const rpc = rpcOf(
    startNode(denied),
    startNode({ eth_chainId: { result: null } }),
    startNode({ eth_chainId: {} }),
    startNode(good),
  )
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  expect(rpc.health()).toMatchObject([
    { problem: 'It does not say which network it serves: denied', isOfOtherNetwork: false },
    { problem: 'It returned no chain id.', isOfOtherNetwork: false },
    { problem: 'It returned no chain id.', isOfOtherNetwork: false },
    { problem: undefined },
  ])
})
