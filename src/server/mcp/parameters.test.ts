/** Every method with missing, wrong and odd parameters, in both revisions and in a batch. */
import { afterAll, describe, expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { post, send } from '../../testing/fixtures/mcp-server.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { ownedNames } from '../../testing/openapi/hostile.ts'

const ctx = await startTestServer()
afterAll(async () => {
  expect(ctx.lines.filter(({ level }) => level === 'error')).toEqual([])
  await ctx.close()
})

const noMethods = { toString: 1, valueOf: 1 }
const nothing = 'AAAAAAAAAAAA'
const cursors: Json[] = [{ cursor: 7 }, { cursor: null }, { cursor: {} }, { cursor: noMethods }]
const uris: Json[] = [{}, { uri: 7 }, { uri: null }, { uri: [] }, { uri: noMethods }, { name: 'x' }]
const names: Json[] = [{}, { name: 7 }, { name: null }, { name: noMethods }, { uri: 'x' }]

/** Parameters that are invalid, by method. */
const invalid: [method: string, params: Json[]][] = [
  ['tools/list', cursors],
  ['tools/call', [...names, { name: 'start', arguments: 7 }, { name: 'start', arguments: [] }]],
  ['resources/list', [...cursors, ...ownedNames.map((cursor) => ({ cursor }))]],
  ['resources/templates/list', cursors],
  ['resources/read', uris],
  ['prompts/list', [...cursors, ...ownedNames.map((cursor) => ({ cursor }))]],
  ['prompts/get', [...names, { name: 'ann.x', arguments: { task: 7 } }]],
]
/** Names of things that do not exist. */
const unknown: [method: string, params: Json[]][] = [
  ['tools/call', ownedNames.map((name) => ({ name, arguments: {} }))],
  [
    'resources/read',
    [
      '',
      'x',
      'file:///a',
      `skill://${nothing}/SKILL.md`,
      'skill://%ff/%ff',
      `skill://${nothing}/%ff`,
    ]
      .concat(ownedNames.flatMap((name) => [name, `skill://${name}/${name}`]))
      .map((uri) => ({ uri })),
  ],
  ['prompts/get', ['', '.', 'a.b.c', ...ownedNames, 'ann.__proto__'].map((name) => ({ name }))],
]

describe.each([...invalid, ...unknown])('%s', (method, all) => {
  test.each(all)('with %j is invalid', async (params) => {
    const message = { jsonrpc: '2.0', method, params }
    const old = await post(ctx, { ...message, id: 5 })
    expect(old.message).toMatchObject({ id: 5, error: { code: -32_602 } })
    const { body } = await send(ctx, method, params)
    expect(body).toMatchObject({ error: { code: -32_602 } })
    // The other messages of a batch run.
    const { bytes } = await ctx.request('POST', '/mcp', {
      headers: {
        host: 'localhost',
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify([
        { ...message, id: 5 },
        { jsonrpc: '2.0', id: 6, method: 'ping' },
      ]),
    })
    const events = new TextDecoder().decode(bytes).match(/(?<=^data: ).+$/gm) ?? []
    const replies = events.map((event) => JSON.parse(event)).sort((a, b) => a.id - b.id)
    expect(replies).toMatchObject([
      { id: 5, error: { code: -32_602 } },
      { id: 6, result: {} },
    ])
  })
})

test.each([...invalid.map(([method]) => method), 'ping', 'initialize'])(
  '%s with parameters that are no object is invalid',
  async (method) => {
    for (const params of [null, 7, 'x', [], true]) {
      const { status, message } = await post(ctx, { jsonrpc: '2.0', id: 5, method, params })
      expect([params, status, message]).toMatchObject([params, 400, { error: {} }])
      const { code } = Object(message).error
      expect([-32_600, -32_602]).toContain(code)
    }
  },
)

test.each(['resources/read', 'prompts/get', 'tools/call', 'initialize'])(
  '%s without parameters is invalid',
  async (method) => {
    const { message } = await post(ctx, { jsonrpc: '2.0', id: 5, method })
    expect(message).toMatchObject({ id: 5, error: { code: -32_602 } })
  },
)

test.each([...ownedNames, 'resources/subscribe', 'completion/complete', 'logging/setLevel', ''])(
  'the method %j does not exist',
  async (method) => {
    const { message } = await post(ctx, { jsonrpc: '2.0', id: 5, method, params: {} })
    expect(message).toMatchObject({ id: 5, error: { code: -32_601 } })
    expect(await send(ctx, method)).toMatchObject({ body: { error: {} } })
  },
)

test.each([
  '7',
  '"x"',
  'true',
  '{}',
  '[7]',
  '[null]',
  '[[]]',
  '{"jsonrpc":"2.0","id":{},"method":"ping"}',
  '{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"method":{"toString":1,"valueOf":1}}',
  '{"__proto__":{"jsonrpc":"2.0"},"id":1,"method":"ping"}',
  '\ufeff7',
])('%s is no message', async (body) => {
  const { status, message } = await post(ctx, body)
  expect([status, message]).toMatchObject([400, { error: { code: -32_600 } }])
})
