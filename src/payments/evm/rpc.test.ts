import { afterEach, beforeEach, expect, test } from 'bun:test'

import { openLog } from '../../core/log.ts'
import { recordOf } from '../../core/schema.ts'
import { systemClock } from '../../core/time.ts'
import { EvmRpc } from './rpc.ts'

/** Answers of a fake node by method; a number is an HTTP status. */
type Answers = Record<string, unknown>

const servers: Bun.Server<undefined>[] = []
let lines: Record<string, unknown>[] = []
beforeEach(() => {
  lines = []
})
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop(true))))

function startNode(responses: Answers, methods: string[] = []): string {
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { id, method } = recordOf(await request.json())
      methods.push(String(method))
      const response = responses[String(method)]
      if (typeof response === 'number') return new Response('', { status: response })
      return Response.json({ jsonrpc: '2.0', id, ...recordOf(response) })
    },
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

test('asks the servers in their order, and goes on where one is down', async () => {
  const [first, fallback]: [string[], string[]] = [[], []]
  const down = startNode({ eth_chainId: 503 }, first)
  const up = startNode({ ...ofBaseSepolia, eth_blockNumber: { result: '0x10' } }, fallback)
  const rpc = rpcOf(down, up)
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  expect(await rpc.request('eth_blockNumber')).toBe('0x10')
  // The one that failed rests, and the other one is checked once.
  expect(first).toEqual(['eth_chainId'])
  expect(fallback).toEqual(['eth_chainId', 'eth_blockNumber', 'eth_blockNumber'])
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
  expect(methods).toEqual(['eth_chainId'])
  expect(lines).toMatchObject([{ event: 'rpc_unusable', problem: health?.problem }])
  expect(JSON.stringify(lines)).not.toContain('secret-key')
})

test('an error of the chain is an answer; a limit of one server is not', async () => {
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
