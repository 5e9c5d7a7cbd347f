/** Each operation that both transports have responds equally over HTTP and MCP. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'

import { contentOf } from '../../kernel/http/entity.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { callTool } from '../../testing/fixtures/mcp-server.ts'
import { startTestServer, type TestResponse } from '../../testing/fixtures/test-server.ts'
import { getDocument, listOperations } from '../../testing/openapi/document.ts'
import {
  generateRequest,
  golden,
  type KnownIds,
  pathKindsOf,
} from '../../testing/openapi/request-generator.ts'
import { createWorld } from '../../testing/openapi/world.ts'
import { agentOperations, describedAgentApi } from '../agent-api.ts'
import { fieldOf, type Tool, toolsOf } from '../mcp/tools.ts'
import { type DescribedOperation, readDescription } from './api-description.ts'

setDefaultTimeout(60_000)

const server = await startTestServer()
afterAll(() => server.close())
const world = await createWorld(server)
const gatewayKey = (await server.request('POST', '/accounts/create')).text('api_key')
const described = listOperations(await getDocument(server))
const { content } = contentOf(await describedAgentApi(server.ctx))
const tools = toolsOf(readDescription(await content.json()), agentOperations)

/** A call for both transports. */
interface Call {
  path: string
  args: Json
  body: Json | undefined
  key: string | undefined
}

/** The success or the error of a call, without what is new with each call. */
interface Outcome {
  isError: boolean
  body: unknown
}

/** Ids, keys, times and the handles of agents that choose none. */
const newWithEachCall =
  /\d{4}-\d\d-\d\dT[\d:.]+Z|\b[a-z]+-[a-z]+-\d{4}\b|\b(?=[\w-]*\d|[\w-]*[A-Z][\w-]*[A-Z])[\w-]{11,}/g
const comparable = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replace(newWithEachCall, 'new'))

async function overHttp({ operation }: Tool, { path, body, key }: Call): Promise<Outcome> {
  const response: TestResponse = await server.call(operation.method, path, {
    body,
    key,
    from: world.from(),
    ...(body && { headers: { 'content-type': 'application/json' } }),
  })
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  const value = isRecord(response.body) ? response.body : { [fieldOf(type)]: response.body }
  return { isError: response.status >= 400, body: comparable(value) }
}

async function overMcp({ operation }: Tool, { args, key }: Call): Promise<Outcome> {
  const message = { from: world.from(), ...(key !== undefined && { key }) }
  const { isError = false, structuredContent } = await callTool(server, operation.id, args, message)
  return { isError, body: comparable(structuredContent) }
}

function describedOf({ operation: { id } }: Tool): DescribedOperation {
  const found = described.find(({ operationId }) => operationId === id)
  if (!found) throw new Error(`${id} is not described`)
  return found
}

const dataUrl = { data: 'data:application/json;base64,W10=' }

/** Adds the id of nothing for each kind in the path that the world has no value of. */
const complete = (operation: DescribedOperation, ids: Record<string, string>) => ({
  ...Object.fromEntries(pathKindsOf(operation).map((kind) => [kind, 'A'.repeat(12)])),
  ...ids,
})

/** Generates a call with which the operation succeeds, with ids of the caller or of nothing. */
async function callOf(tool: Tool, known: KnownIds, place: 'own' | 'unknown'): Promise<Call> {
  const operation = describedOf(tool)
  const ids = { ...known, own: complete(operation, known.own) }
  const all = { ...ids, unknown: complete(operation, known.unknown) }
  const made = await generateRequest(operation, { ...golden, place }, all)
  const url = new URL(made.path, 'http://localhost')
  const sent = typeof made.body === 'string' ? dataUrl : made.body
  const body = isRecord(sent) ? sent : undefined
  const pattern = new RegExp(operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)'))
  const inPath = Object.entries(pattern.exec(url.pathname)?.groups ?? {}).map(
    ([name, text]) => [name, decodeURIComponent(text)] as const,
  )
  const texts = [...inPath, ...url.searchParams]
  const args = Object.fromEntries(texts.map(([name, text]) => [name, valueOf(tool, name, text)]))
  return { path: made.path, args: { ...args, ...body }, body, key: made.key }
}

/** Returns an argument with the type that the tool has for it. */
function valueOf({ definition }: Tool, name: string, text: string): unknown {
  const { type } = recordOf(recordOf(definition.inputSchema.properties)[name])
  if (type === 'boolean') return text === 'true'
  return type === 'integer' || type === 'number' ? Number(text) : text
}

/** Returns both outcomes of a call, HTTP first. */
async function both(tool: Tool, change: (call: Call) => Partial<Call> = () => ({})) {
  const call = await callOf(tool, await world.known(describedOf(tool)), 'own')
  const changed = { ...call, ...change(call) }
  return [await overHttp(tool, changed), await overMcp(tool, changed)] as const
}

const named = (all: Tool[]): [string, Tool][] => all.map((tool) => [tool.operation.id, tool])
const fieldsOf = (tool: Tool): Json =>
  recordOf(describedOf(tool).requestBody?.content['application/json']?.schema['properties'])
/** The JSON that is sent to put_asset may be any file. */
const withBody = named(
  tools.filter(
    (tool) => tool.operation.id !== 'put_asset' && Object.keys(fieldsOf(tool)).length > 0,
  ),
)

/** Operations that return only files, feeds and streams. */
const withoutText = [
  'watch_notes',
  'get_ledger_csv',
  'get_earnings_csv',
  'export_app',
  'get_atom_feed',
  'get_json_feed',
  'read_skill_file',
  'read_framework_file',
  'watch_job',
  'get_asset',
  'look_at_asset',
]

test('MCP has each operation that is not hidden, no person operation, and returns a text', () => {
  const names = new Set(tools.map(({ operation }) => operation.id))
  const others = agentOperations.filter(({ id }) => !names.has(id))
  const left = others.filter(({ mcp, access }) => mcp !== 'hidden' && access.auth !== 'person')
  expect(left.map(({ id }) => id)).toEqual(withoutText)
  expect(tools.filter(({ operation: { access } }) => access.auth === 'person')).toEqual([])
})

describe('HTTP and MCP have equal outcomes', () => {
  test.each(named(tools))(
    'without a key, with a bad one and that of a gateway: %s',
    async (_, tool) => {
      for (const key of [undefined, 'ak_bogus', gatewayKey]) {
        const [http, mcp] = await both(tool, () => ({ key }))
        expect(mcp).toEqual(http)
        if (tool.operation.access.auth === 'agent') expect(http.isError).toBe(true)
      }
    },
  )

  const withIds = tools.filter((tool) => pathKindsOf(describedOf(tool)).length > 0)
  test.each(named(withIds))('for unknown ids: %s', async (_, tool) => {
    const call = await callOf(tool, await world.known(describedOf(tool)), 'unknown')
    const http = await overHttp(tool, call)
    expect(await overMcp(tool, call)).toEqual(http)
  })

  test.each(withBody)('for an unknown field: %s', async (_, tool) => {
    const [http, mcp] = await both(tool, ({ args, body }) => ({
      args: { ...args, burn: 1 },
      body: { ...body, burn: 1 },
    }))
    expect(mcp).toEqual(http)
    expect(recordOf(http.body)['code']).toBe('bad_request')
  })

  test.each(withBody)('for a field of a wrong type, except the message: %s', async (_, tool) => {
    const [field = '', schema] = Object.entries(fieldsOf(tool))[0] ?? []
    const wrong = { [field]: recordOf(schema)['type'] === 'boolean' ? 7 : true }
    const [http, mcp] = await both(tool, ({ args, body }) => ({
      args: { ...args, ...wrong },
      body: { ...body, ...wrong },
    }))
    const codes = [http, mcp].map(({ isError, body }) => [isError, recordOf(body)['code']])
    expect(codes).toEqual([
      [true, 'bad_request'],
      [true, 'bad_request'],
    ])
  })

  const reading = tools.filter(({ operation }) => operation.method === 'GET')
  test.each(named(reading))('of a read that succeeds: %s', async (_, tool) => {
    const [http, mcp] = await both(tool)
    expect(http.isError).toBe(false)
    expect(mcp).toEqual(http)
  })
})
