/** Published clients of OAuth: each finds the sign-in, a person connects it, it calls a tool. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as sdk2 from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import * as http1 from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { connectorTokenMs } from '../../kernel/limits.ts'
import { claimAgent, type FormBrowser, signUp } from '../fixtures/form-browser.ts'
import { type McpTestServer, node, startMcpTestServer } from '../fixtures/mcp-server.ts'
import { approveAt, register, revokeFirst } from '../fixtures/oauth-client.ts'
import type { TestAgent } from '../fixtures/test-server.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'

let t: McpTestServer
let ann: TestAgent
let browser: FormBrowser

beforeAll(async () => {
  t = await startMcpTestServer()
  const { host } = new URL(t.url)
  ann = await t.agent('ann')
  browser = await signUp(t, 'olga', undefined, { host })
  await claimAgent(browser, ann)
})
afterAll(() => t.close())

const callback = 'http://localhost:49152/callback'
const metadata = {
  client_name: 'Published client',
  redirect_uris: [callback],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}

/** The memory of a client, whose person approves at once. */
class Memory {
  readonly redirectUrl = callback
  readonly clientMetadata = metadata
  back: URL | undefined
  private readonly saved = new Map<string, string>()

  // Each client has its own types of these values, and reads what it has saved.
  private readonly read = (name: string) => {
    const text = this.saved.get(name)
    return text === undefined ? undefined : JSON.parse(text)
  }
  private readonly save = (name: string, value: unknown): void =>
    void this.saved.set(name, JSON.stringify(value))

  clientInformation = () => this.read('client')
  saveClientInformation = (value: unknown) => this.save('client', value)
  tokens = () => this.read('tokens')
  saveTokens = (value: unknown) => this.save('tokens', value)
  codeVerifier = () => this.read('verifier')
  saveCodeVerifier = (value: string) => this.save('verifier', value)
  discoveryState = () => this.read('discovery')
  saveDiscoveryState = (value: unknown) => this.save('discovery', value)
  invalidateCredentials = () => this.saved.clear()
  redirectToAuthorization = async (url: URL) => {
    this.back = await approveAt(browser, url, ann.handle)
  }
}

interface TestClient {
  connect(): Promise<void>
  finish(back: URL): Promise<void>
  call(name: string): Promise<unknown>
  close(): Promise<void>
}

const clients: Record<string, (authProvider: Memory) => TestClient> = {
  'the official client of version 1': (authProvider) => {
    const client = new Client1({ name: 'v1', version: '1' })
    const open = () =>
      new http1.StreamableHTTPClientTransport(new URL(`${t.url}/connect`), { authProvider })
    let transport = open()
    return {
      connect: () => client.connect(transport),
      async finish(back) {
        await transport.finishAuth(back.searchParams.get('code') ?? '')
        transport = open()
      },
      call: (name) => client.callTool({ name, arguments: {} }),
      close: () => client.close(),
    }
  },
  'the official client of version 2': (authProvider) => {
    const client = new sdk2.Client({ name: 'v2', version: '1' })
    const open = () =>
      new sdk2.StreamableHTTPClientTransport(new URL(`${t.url}/connect`), { authProvider })
    let transport = open()
    return {
      connect: () => client.connect(transport),
      async finish(back) {
        await transport.finishAuth(back.searchParams)
        transport = open()
      },
      call: (name) => client.callTool({ name, arguments: {} }),
      close: () => client.close(),
    }
  },
}

test.each(Object.entries(clients))(
  '%s signs in, calls, refreshes, and fails after it is revoked',
  async (_, create) => {
    const memory = new Memory()
    const client = create(memory)
    await expect(client.connect()).rejects.toThrow(/Unauthorized/i)
    if (!memory.back) throw new Error('the client opened no consent page')
    await client.finish(memory.back)
    await client.connect()
    const isAnn = { structuredContent: { handle: ann.handle } }
    expect(await client.call('get_me')).toMatchObject(isAnn)
    t.clock.advance(connectorTokenMs)
    expect(await client.call('get_me')).toMatchObject(isAnn)
    memory.back = undefined
    await revokeFirst(browser)
    await expect(client.call('get_me')).rejects.toThrow()
    await client.close()
  },
  60_000,
)

test('the conformance suite of authorization servers passes', async () => {
  const port = await freePort()
  const redirect_uris = [`http://127.0.0.1:${port}/callback`]
  const client = await register(t, { redirect_uris })
  const results = mkdtempSync(join(tmpdir(), 'berth-conformance-'))
  const cli = join(import.meta.dir, '../../../node_modules/conformance-modern/dist/index.js')
  const { origin } = new URL(t.url)
  const words = ['--url', origin, '--client-id', client, '--resource', t.url, '-p', String(port)]
  const child = Bun.spawn([node, cli, 'authorization', ...words, '-o', results], {
    stdout: 'pipe',
    timeout: 60_000,
  })
  let output = ''
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const before = output
    output += chunk
    const page = /^http\S+oauth\/authorize\S+(?=\n)/m
    const [address] = page.exec(output) ?? []
    if (!address || page.test(before)) continue
    const callback = await approveAt(browser, address, ann.handle)
    // The suite prints the address before it listens for its callback.
    await until(() => fetch(callback).catch(() => undefined))
  }
  rmSync(results, { recursive: true })
  const scenarios = [...output.matchAll(/^[✓✗] (\S+): (\d+ passed, \d+ failed)/gm)]
  expect(scenarios.map(([, name, counts]) => [name, counts])).toEqual([
    ['authorization-server-metadata-endpoint', '2 passed, 0 failed'],
    ['authorization-code-grant', '1 passed, 0 failed'],
  ])
}, 90_000)
