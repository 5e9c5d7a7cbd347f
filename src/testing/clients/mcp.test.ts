/** Real MCP clients: each creates an agent, publishes a page, changes it and reads it back. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createMCPClient } from '@ai-sdk/mcp'
import { Client as Client2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import * as http1 from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { node, startMcpTestServer } from '../fixtures/mcp-server.ts'
import { textAt } from '../processes/server-process.ts'
import { isThorough } from '../thorough.ts'

const ctx = await startMcpTestServer()
const folder = mkdtempSync(join(tmpdir(), 'berth-mcp-'))
afterAll(async () => {
  await ctx.close()
  rmSync(folder, { recursive: true })
})

const page = (text: string) => `<!doctype html><title>Tide</title><h1>${text}</h1>`

/** Calls a tool through a client and returns the client's result. */
type Caller = (name: string, args: Record<string, unknown>) => Promise<unknown>

/** Returns the structured result of a successful call. */
async function ask(call: Caller, name: string, args: Record<string, unknown>): Promise<unknown> {
  const result = await call(name, args)
  expect(result).not.toMatchObject({ isError: true })
  return Reflect.get(Object(result), 'structuredContent')
}

/** Publishes, changes and reads a page. `isShort` leaves out what calls a tool once more. */
async function play(call: Caller, isShort = false): Promise<void> {
  const key = textAt(await ask(call, 'new_agent', {}), 'key')
  const made = await ask(call, 'publish_app', { key, html: page('Low'), title: 'Tide' })
  const id = textAt(made, 'app.id')
  if (!isShort) {
    const changed = await ask(call, 'publish_version', { key, id, html: page('High') })
    expect(changed).toMatchObject({ app: { id, version: 2 } })
    expect(await ask(call, 'get_app', { key, id })).toMatchObject({
      app: { title: 'Tide', version: 2 },
    })
  }
  const html = page(isShort ? 'Low' : 'High')
  expect(await ask(call, 'get_html', { key, id })).toEqual({ html })
  const link = new URL(textAt(made, 'app.link'))
  expect((await ctx.request('GET', link.pathname)).status).toBe(200)
  const rejected = await call('get_app', { key, id: 'AAAAAAAAAAAA' })
  expect(rejected).toMatchObject({ isError: true, structuredContent: { code: 'not_found' } })
}

test('the official client of version 1 lists and calls the tools', async () => {
  const client = new Client1({ name: 'v1', version: '1' })
  await client.connect(new http1.StreamableHTTPClientTransport(new URL(ctx.url)))
  const { tools } = await client.listTools()
  expect(tools.length).toBeGreaterThan(11)
  await play((name, args) => client.callTool({ name, arguments: args }))
  await client.close()
})

test.each(['auto', 'legacy'] as const)(
  'the official client of version 2 lists and calls the tools (%s)',
  async (mode) => {
    const client = new Client2({ name: 'v2', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(ctx.url)))
    const revision = mode === 'auto' ? '2026-07-28' : '2025-11-25'
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    expect((await client.listTools()).tools.length).toBeGreaterThan(11)
    await play((name, args) => client.callTool({ name, arguments: args }))
    await client.close()
  },
)

test('the AI SDK lists and calls the tools', async () => {
  const client = await createMCPClient({ transport: { type: 'http', url: ctx.url } })
  const tools = await client.tools()
  expect(Object.keys(tools)).toContain('publish_app')
  await play((name, args) =>
    Promise.resolve(tools[name]?.execute(args, { toolCallId: name, messages: [], context: {} })),
  )
  await client.close()
})

/** Each call of a command line starts a process, so CI makes fewer of them. */
const playShort = (call: Caller) => play(call, !isThorough)

/** Runs a client's command line to its end and parses the JSON that it prints. */
async function run(words: string[]): Promise<unknown> {
  const env = { PATH: Bun.env.PATH, HOME: folder }
  const child = Bun.spawn([node, ...words], { cwd: folder, env, stderr: 'pipe', timeout: 60_000 })
  const [output, errorOutput] = await Promise.all([child.stdout.text(), child.stderr.text()])
  try {
    return JSON.parse(output)
  } catch {
    throw new Error(`${output}${errorOutput}`.slice(0, 2_000))
  }
}

const modules = join(import.meta.dir, '../../../node_modules')

test('the command line of the inspector lists and calls the tools', async () => {
  const cli = join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  await playShort((name, args) => {
    const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`])
    const words = ['--cli', ctx.url, '--method', 'tools/call', '--tool-name', name]
    return run([cli, ...words, ...pairs])
  })
}, 120_000)

test('mcporter lists and calls the tools, and prints the structured result', async () => {
  const cli = join(modules, 'mcporter/dist/cli.js')
  await playShort(async (name, args) => {
    const words = ['call', '--http-url', ctx.url, '--allow-http', '--tool', name]
    const reply = await run([cli, ...words, '--args', JSON.stringify(args), '--output', 'json'])
    const isError = 'code' in Object(reply)
    return { structuredContent: reply, ...(isError && { isError }) }
  })
}, 120_000)
