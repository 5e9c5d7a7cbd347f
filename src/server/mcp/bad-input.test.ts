import { afterAll, describe, expect, test } from 'bun:test'

import { isRecord } from '../../kernel/schema.ts'
import { callTool, listTools, post, send } from '../../testing/fixtures/mcp-server.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const ctx = await startTestServer()
const ann = await ctx.agent('ann')
afterAll(() => ctx.close())

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const failing = (code: number) => ({ error: { code, message: expect.any(String) } })

describe('messages', () => {
  test('a batch of 10,000 fails, and none of it runs', async () => {
    const before = await ctx.snapshot()
    const call = { method: 'tools/call', params: { name: 'new_agent', arguments: {} } }
    const batch = Array.from({ length: 10_000 }, (_, id) => ({ jsonrpc: '2.0', id, ...call }))
    const { status, message } = await post(ctx, batch)
    expect([status, message]).toMatchObject([400, failing(-32_600)])
    expect(await ctx.snapshot()).toEqual(before)
  })

  test('a small batch, which the revision of March 2025 allows, succeeds', async () => {
    expect((await post(ctx, [ping, { ...ping, id: 2 }])).status).toBe(200)
    expect((await post(ctx, [])).status).toBe(400)
  })

  test('an unknown method', async () => {
    expect((await post(ctx, { ...ping, method: 'tools/burn' })).message).toMatchObject(
      failing(-32_601),
    )
    const modern = await send(ctx, 'tools/burn')
    expect([modern.status, modern.body]).toMatchObject([404, failing(-32_601)])
  })

  test('an unknown tool', async () => {
    const { body } = await send(ctx, 'tools/call', { name: 'burn', arguments: {} })
    expect(body).toMatchObject(failing(-32_602))
  })

  test('an unknown protocol version', async () => {
    const old = await post(ctx, ping, { 'mcp-protocol-version': '1999-01-01' })
    expect([old.status, old.message]).toMatchObject([400, { error: {} }])
    const headers = { 'mcp-protocol-version': '2099-01-01' }
    expect((await send(ctx, 'tools/list', {}, { headers })).status).toBe(400)
  })

  test('headers that are missing or contradict the message', async () => {
    const wrong = [
      { 'mcp-method': 'tools/call' },
      { 'mcp-method': '' },
      { 'mcp-protocol-version': '2025-11-25' },
    ]
    for (const headers of wrong) {
      const { status, body } = await send(ctx, 'tools/list', {}, { headers })
      expect([headers, status, body]).toMatchObject([headers, 400, { error: { code: -32_020 } }])
    }
    expect((await post(ctx, ping, { accept: 'text/html' })).status).toBe(406)
    expect((await post(ctx, ping, { 'content-type': 'text/plain' })).status).toBe(415)
  })

  test('bodies that are not JSON', async () => {
    for (const body of ['', '{', 'null', '[[', new Uint8Array([0xff, 0xfe]), '['.repeat(1_000)]) {
      const { status, message } = await post(ctx, body)
      expect([status, message]).toMatchObject([400, { error: { code: expect.any(Number) } }])
    }
  })

  test('a body of 30 MB is not read, with or without its length', async () => {
    const body = ' '.repeat(30 * 1_048_576)
    expect((await post(ctx, body)).status).toBe(413)
    const announced = await post(ctx, '{}', { 'content-length': String(body.length) })
    expect(announced.status).toBe(413)
  })

  test('large bodies count against the rate limit of their address', async () => {
    const busy = await startTestServer({ REQUESTS_PER_MINUTE: '2' })
    const large = { ...ping, params: { _meta: { padding: ' '.repeat(70_000) } } }
    const statuses: number[] = []
    for (let at = 0; at < 3; at += 1) {
      statuses.push((await post(busy, large)).status)
    }
    expect(statuses).toEqual([200, 200, 429])
    await busy.close()
  })

  test('too many large bodies at the same time get 429', async () => {
    const large = { ...ping, params: { _meta: { padding: '\\u0020'.repeat(90_000) } } }
    const all = await Promise.all(Array.from({ length: 90 }, () => post(ctx, large)))
    const statuses = new Set(all.map(({ status }) => status))
    expect(statuses).toEqual(new Set([200, 429]))
    const late = all.find(({ status }) => status === 429)
    expect(late?.message).toMatchObject({
      error: { message: expect.stringContaining('Try again') },
    })
    expect((await post(ctx, ping)).status).toBe(200)
  })

  test('session ids are ignored', async () => {
    const session = { 'mcp-session-id': 'AAAAAAAA-0000' }
    expect((await post(ctx, ping, session)).message).toMatchObject({ result: {} })
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const headers = { host: 'localhost', accept: 'text/event-stream', ...session }
      expect([method, (await ctx.request(method, '/mcp', { headers })).status]).toEqual([
        method,
        405,
      ])
    }
  })
})

describe('arguments', () => {
  const wrong: unknown[] = [null, true, 7, -1.5, 'x'.repeat(100), [], ['x'], {}, { a: 1 }]

  test('of a wrong type fail with their name before anything runs', async () => {
    const id = await ann.publish()
    const before = await ctx.snapshot()
    const known: Record<string, unknown> = { id, key: ann.key }
    for (const { name, inputSchema } of await listTools(ctx)) {
      const properties = Object.entries(Object(inputSchema['properties']))
      for (const [field, schema] of properties) {
        const types = [isRecord(schema) ? schema['type'] : undefined].flat()
        const isWrong = (value: unknown) => !typesOf(value).some((type) => types.includes(type))
        for (const value of wrong.filter(isWrong)) {
          const others = properties.flatMap(([own]) => (own in known ? [[own, known[own]]] : []))
          const args = { ...Object.fromEntries(others), [field]: value }
          const { isError, structuredContent } = await callTool(ctx, name, args)
          expect([name, field, value, isError, structuredContent['code']]).toEqual([
            name,
            field,
            value,
            true,
            'bad_request',
          ])
          expect(JSON.stringify(structuredContent)).not.toContain('xxxxx')
        }
      }
    }
    expect(await ctx.snapshot()).toEqual(before)
  })

  test('a file in base64 without a data URL fails, and its JSON is not stored', async () => {
    const id = await ann.publish()
    const args = { id, name: 'ship.png', data: 'iVBORw0KGgo=' }
    const { structuredContent } = await callTool(ctx, 'put_asset', args, { key: ann.key })
    expect(structuredContent['code']).toBe('bad_request')
    expect((await ann.call('GET', `/apps/${id}/assets`)).body).toMatchObject({ assets: [] })
  })

  test('that are not an object', async () => {
    for (const args of ['x', 7, [], null]) {
      const { body } = await send(ctx, 'tools/call', { name: 'get_me', arguments: args })
      expect(body).toMatchObject({ error: { code: expect.any(Number) } })
    }
  })

  test('with an unknown name', async () => {
    const { structuredContent } = await callTool(ctx, 'get_me', { colour: 'red' })
    expect(structuredContent).toEqual({
      error: '"colour" is not a field of this operation. Remove it.',
      code: 'bad_request',
    })
  })

  test('that would change the path', async () => {
    const id = await ann.publish()
    const dots = [
      ['revoke_key', { prefix: '..' }],
      ['revoke_key', { prefix: '.' }],
      ['revoke_key', { prefix: '' }],
      ['delete_asset', { id, name: '..' }],
    ] as const
    for (const [name, args] of dots) {
      const { structuredContent } = await callTool(ctx, name, args, { key: ann.key })
      expect([name, structuredContent['code']]).toEqual([name, 'bad_request'])
    }
    const { structuredContent } = await callTool(
      ctx,
      'revoke_key',
      { prefix: '../..?x#' },
      { key: ann.key },
    )
    expect(structuredContent['code']).toBe('not_found')
    expect((await ann.call('GET', `/apps/${id}`)).status).toBe(200)
    expect((await ann.call('GET', '/me')).status).toBe(200)
  })
})

/** The types of a value as JSON Schema names them. */
function typesOf(value: unknown): string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number']
  return [typeof value]
}

describe('rebinding', () => {
  test.each(['evil.example', 'localhost.evil.example', '192.0.2.1', 'a b', ''])(
    'a foreign Host: %p',
    async (host) => {
      const before = await ctx.snapshot()
      const made = await send(ctx, 'tools/call', { name: 'new_agent' }, { headers: { host } })
      expect([made.status, made.body]).toMatchObject([403, failing(-32_000)])
      expect(await ctx.snapshot()).toEqual(before)
    },
  )

  test.each(['http://evil.example', 'https://localhost.evil.example', 'null', 'file://localhost'])(
    'a page of another site: %p',
    async (origin) => {
      const made = await send(ctx, 'tools/call', { name: 'new_agent' }, { headers: { origin } })
      expect(made.status).toBe(403)
      expect(made.headers.has('access-control-allow-origin')).toBe(false)
    },
  )

  test('our own hosts, localhost and local addresses are allowed', async () => {
    const named = await startTestServer({ MCP_URL: 'https://mcp.example.com/mcp' })
    const local = ['mybox.local:3000', 'mybox', '192.168.1.5:3000', '[fd00::5]']
    for (const host of ['mcp.example.com', 'localhost:1234', '127.0.0.1', '[::1]:80', ...local]) {
      expect([host, (await send(named, 'tools/list', {}, { headers: { host } })).status]).toEqual([
        host,
        200,
      ])
    }
    const origin = 'http://localhost:6274'
    const response = await send(named, 'tools/list', {}, { headers: { origin } })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      200,
      origin,
    ])
    const lan = 'http://192.168.1.5:3000'
    for (const [host, status] of [
      ['192.168.1.5:3000', 200] as const,
      ['localhost', 403] as const,
    ]) {
      const made = await send(named, 'tools/list', {}, { headers: { host, origin: lan } })
      expect([host, made.status]).toEqual([host, status])
    }
    const preflight = await named.request('OPTIONS', '/mcp', {
      headers: { host: 'localhost', origin },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
    await named.close()
  })
})
