/**
 * The built binary with agents that know only the text of `GET /` or the list of tools. A client
 * plays them with the demo model, which calls the tool it is told to call.
 */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

import { isRecord } from '../../kernel/schema.ts'
import { startServerProcess, textAt } from '../processes/server-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-agents-'))
const ctx = await startServerProcess(join(folder, 'data'), {
  env: { DEMO_MODELS: 'on', OLLAMA_HOST: 'off' },
})
/** Credentials for the model. */
const purse = await ctx.newKey()
afterAll(() => {
  ctx.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

const page = (text: string) => `<!doctype html><title>Tide</title><h1>${text}</h1>`
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

type Arguments = Record<string, unknown>

/**
 * Makes the model call a tool with some of these arguments. Returns the arguments as it sent them.
 */
async function decide(name: string, schema: object, defaults: Arguments): Promise<Arguments> {
  const known = Object(Reflect.get(schema, 'properties'))
  const properties = Object.fromEntries(
    Object.entries(defaults).map(([field, value]) => {
      expect([name, field in known]).toEqual([name, true])
      return [field, { ...known[field], const: value }]
    }),
  )
  const parameters = { type: 'object', properties, required: Object.keys(defaults) }
  const response = await ctx.call('POST', '/v1/chat/completions', purse, {
    model: 'demo/chat',
    messages: [{ role: 'user', content: `call ${name}` }],
    tools: [{ type: 'function', function: { name, parameters } }],
  })
  const body: unknown = await response.json()
  const { name: called, arguments: sent } = Object(body).choices[0].message.tool_calls[0].function
  expect(called).toBe(name)
  return JSON.parse(sent)
}

/** Checks that anyone can open the app and that it is on Explore. */
async function expectShared(link: string, id: string): Promise<void> {
  expect((await fetch(link)).status).toBe(200)
  const listed = await (await ctx.call('GET', '/api/explore')).json()
  expect(JSON.stringify(listed)).toContain(id)
}

test('an agent that knows only the list of tools publishes an app', async () => {
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${ctx.origin}/mcp?tools=core`)))
  const { tools } = await client.listTools()
  const call = async (name: string, defaults: Arguments): Promise<unknown> => {
    const tool = tools.find((one) => one.name === name)
    if (!tool) throw new Error(`the list has no ${name}`)
    const args = await decide(name, tool.inputSchema, defaults)
    const { structuredContent, isError } = await client.callTool({ name, arguments: args })
    expect([name, isError, structuredContent]).toMatchObject([name, undefined, {}])
    return structuredContent
  }
  const key = textAt(await call('new_agent', {}), 'key')
  const made = await call('publish_app', { key, html: page('Low'), title: 'Tide' })
  const [id, link] = [textAt(made, 'app.id'), textAt(made, 'app.link')]
  expect((await fetch(link)).status).toBe(200)
  const version = await call('publish_version', { key, id, html: page('High') })
  expect(version).toMatchObject({ app: { id, version: 2 } })
  expect(await call('change_app', { key, id, store: true })).toMatchObject({ app: { store: true } })
  expect(JSON.stringify(await call('explore', { q: 'tide' }))).toContain(id)
  await expectShared(link, id)
  await client.close()
})

test('an agent that knows only the text of GET / publishes an app', async () => {
  await Bun.write(join(folder, 'ship.png'), Uint8Array.fromBase64(pixel))
  const text = await (await fetch(`${ctx.origin}/`)).text()
  const lines = [...text.matchAll(/^ *```sh\n *(.+)\n *```$/gm)].map(([, line = '']) => line)
  expect(lines).toHaveLength(7)
  const shell = { properties: { command: { type: 'string' } } }
  const env = { PATH: Bun.env.PATH ?? '', KEY: '', ID: '' }
  const replies: unknown[] = []
  for (const line of lines) {
    const { command } = await decide('shell', shell, { command: line })
    const { stdout } = Bun.spawnSync(['sh', '-c', String(command)], { cwd: folder, env })
    const response: unknown = JSON.parse(stdout.toString())
    replies.push(response)
    if (isRecord(response) && typeof response['key'] === 'string') env.KEY = response['key']
    if (isRecord(response) && isRecord(response['app'])) env.ID = String(response['app']['id'])
  }
  expect(replies).toMatchObject([
    { key: env.KEY },
    { app: { version: 1 } },
    { app: { id: env.ID } },
    { app: { version: 2 } },
    { app: { version: 3 } },
    { asset: { name: 'ship.png' } },
    { app: { listed: 'on' } },
  ])
  await expectShared(textAt(replies[1], 'app.link'), env.ID)
})

test('the binary validates arguments, hosts and bodies like the sources', async () => {
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const accept = 'application/json, text/event-stream'
    const response = await fetch(`${ctx.origin}/mcp`, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json', ...headers },
      body,
    })
    return { status: response.status, text: await response.text() }
  }
  const call = (name: string, args: unknown) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    })
  expect((await post(call('get_app', { id: 7 }))).text).toContain('bad_request')
  expect((await post(call('get_app', { id: 'AAAAAAAAAAAA' }))).text).toContain('no_key')
  expect((await post(call('burn', {}))).text).toContain('-32602')
  expect((await post(call('is_on', {}), { origin: 'http://evil.example' })).status).toBe(403)
  expect((await post('{')).status).toBe(400)
  expect((await post(' '.repeat(30 * 1_048_576))).status).toBe(413)
})
