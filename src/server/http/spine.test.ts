/** Each operation responds equally over HTTP, over MCP, and to a form of a page. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'

import { AddressClient } from '../../kernel/client.ts'
import { contentOf } from '../../kernel/http/entity.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { setRequestContext } from '../../kernel/http/request-context.ts'
import { readPublic } from '../../kernel/public-files.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { findAgent } from '../../people/agents/agents.ts'
import { agent } from '../../people/authentication.ts'
import { errorEnvelope, knownError } from '../../people/error-response.ts'
import { becomeOperator, operatorLink } from '../../people/people.ts'
import { form, performAs } from '../../site/form.ts'
import type { Form } from '../../site/forms.ts'
import { type DescribedOperation, readDescription } from '../../site/guide/read-description.ts'
import { createLayout } from '../../site/layout.ts'
import { getPageRequest } from '../../site/session.ts'
import { callTool } from '../../testing/fixtures/mcp-server.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestResponse } from '../../testing/fixtures/test-server.ts'
import { getDocument, listOperations } from '../../testing/openapi/document.ts'
import {
  generateRequest,
  golden,
  type KnownIds,
  pathKindsOf,
} from '../../testing/openapi/request-generator.ts'
import { createWorld } from '../../testing/openapi/world.ts'
import { isPart } from '../../testing/thorough.ts'
import { agentOperations, describedAgentApi } from '../agent-api.ts'
import { fieldOf, type Tool, toolsOf } from '../mcp/tools.ts'

setDefaultTimeout(60_000)

const t = await startTestServer()
afterAll(() => t.close())
const world = await createWorld(t)
const gatewayKey = (await t.request('POST', '/accounts/create')).text('api_key')
const described = listOperations(await getDocument(t))
const { content } = contentOf(await describedAgentApi(t.ctx))
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

/**
 * Ids, keys, secrets, times, and the handles of the callers and of agents that choose none. An id
 * without a digit looks like a word of twelve letters: only the error of that length is told apart.
 */
const newWithEachCall =
  /\bak_[\w-]+|\bwhsec_[\w+/]+=*|\b(?:ann|kay|lee|rae)-\d+\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\b[a-z]+-[a-z]+-\d{4}\b|\b(?!unauthorized\b)[A-Za-z]{12}\b(?!-)|(?<!\d\.)\b(?=[\w-]*\d|[\w-]*[A-Z][\w-]*[A-Z])[\w-]{11,}/g
const comparable = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replace(newWithEachCall, 'new'))

async function overHttp({ operation }: Tool, { path, body, key }: Call): Promise<Outcome> {
  const response: TestResponse = await t.call(operation.method, path, {
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
  const { isError = false, structuredContent } = await callTool(t, operation.id, args, message)
  return { isError, body: comparable(structuredContent) }
}

/** Performs an operation as a form of a page does for the agent of a key. */
async function fromPage({ operation }: Tool, { args, body, key = '' }: Call): Promise<Outcome> {
  const { ctx } = t
  const request = new Request('http://localhost/studio')
  const client = new AddressClient(world.from(), ctx.state.costs)
  setRequestContext(request, { id: 'page', client, bodyArrivals: ctx.state.bodyArrivals })
  const owner = await findAgent(ctx, (await ctx.keys.find(key))?.owner ?? '')
  if (!owner) throw new Error('the key has no agent')
  const params = Object.fromEntries(
    [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, String(args[name])]),
  )
  try {
    const value = await performAs({ ctx, request }, { agent: owner }, operation, params, body)
    return { isError: false, body: comparable(value) }
  } catch (error) {
    const known = knownError(error)
    if (!known) throw error
    return { isError: true, body: comparable(errorEnvelope(known).body) }
  }
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
  'export_me',
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

test('MCP has each visible operation except those of people, and each returns a text', () => {
  const names = new Set(tools.map(({ operation }) => operation.id))
  const others = agentOperations.filter(({ id }) => !names.has(id))
  const isShown = (mcp: unknown): boolean => mcp !== 'hidden' && mcp !== 'app'
  const left = others.filter(({ mcp, access }) => isShown(mcp) && access.auth !== 'person')
  expect(left.map(({ id }) => id)).toEqual(withoutText)
  expect(tools.filter(({ operation: { access } }) => access.auth === 'person')).toEqual([])
})

describe('HTTP and MCP have equal outcomes', () => {
  test.each(named(tools))(
    'without a key, with a bad one and that of a gateway: %s',
    async (_, tool) => {
      // One check refuses both keys, so in CI each tool gets one of them.
      const at = tools.indexOf(tool)
      const bad = ['ak_bogus', gatewayKey].filter((_, place) => isPart(at + place, 2))
      for (const key of [undefined, ...bad]) {
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

  test.each(withBody)('for a field of a wrong type: %s', async (_, tool) => {
    const [field = '', schema] = Object.entries(fieldsOf(tool))[0] ?? []
    const wrong = { [field]: recordOf(schema)['type'] === 'boolean' ? 7 : true }
    const [http, mcp] = await both(tool, ({ args, body }) => ({
      args: { ...args, ...wrong },
      body: { ...body, ...wrong },
    }))
    expect(recordOf(http.body)['code']).toBe('bad_request')
    expect(mcp).toEqual(http)
  })

  test.each(withBody)('for bad fields without a key: %s', async (_, tool) => {
    const [http, mcp] = await both(tool, () => ({
      key: undefined,
      args: { burn: 1 },
      body: { burn: 1 },
    }))
    if (tool.operation.access.auth === 'agent') expect(recordOf(http.body)['code']).toBe('no_key')
    if (!tool.operation.path.includes(':')) expect(mcp).toEqual(http)
  })

  test.each(named(withIds))('for ids of another form: %s', async (_, tool) => {
    const call = await callOf(tool, await world.known(describedOf(tool)), 'own')
    const names = [...tool.places].flatMap(([name, place]) => (place === 'path' ? [name] : []))
    const path = names.reduce(
      (all, name) => all.replace(encodeURIComponent(String(call.args[name])), '!'),
      call.path,
    )
    const wrong = Object.fromEntries(names.map((name) => [name, '!']))
    const changed = { ...call, path, args: { ...call.args, ...wrong } }
    expect(await overMcp(tool, changed)).toEqual(await overHttp(tool, changed))
  })

  const reading = tools.filter(({ operation }) => operation.method === 'GET')
  test.each(named(reading))('of a read that succeeds: %s', async (_, tool) => {
    const [http, mcp] = await both(tool)
    expect(http.isError).toBe(false)
    expect(mcp).toEqual(http)
  })
})

/** Changes that an agent can make once, or whose result depends on earlier ones. */
const once = new Set(
  `publish_skill publish_framework review_item remove_review answer_review remove_comment put_icon
  report_run`.split(/\s+/),
)

/**
 * Performs a change that succeeds, on data that no other call used up. Numbers are not compared:
 * they count earlier calls.
 */
async function changed(tool: Tool, transport: typeof overHttp): Promise<Outcome> {
  const { id } = tool.operation
  if (once.has(id)) world.used('close_me')
  const call = await callOf(tool, await world.known(describedOf(tool)), 'own')
  const { isError, body } = await transport(tool, call)
  world.used(id)
  return { isError, body: JSON.parse(JSON.stringify(body).replace(/\d+(?:\.\d+)?/g, '0')) }
}

/** Changes by a key (`agentKey`), which the compiler keeps from forms of pages. */
const ofKeys = ['add_hook']
/** Changes that need payments on chains, which this server does not take. */
const paidOnChain = ['top_up', 'pay_share']
const changes = named(
  tools.filter(({ operation: { id, method } }) => method !== 'GET' && !paidOnChain.includes(id)),
)

describe('each transport has an equal outcome of a change that succeeds', () => {
  test.each(changes)('%s', async (_, tool) => {
    const http = await changed(tool, overHttp)
    expect(http).toMatchObject({ isError: false })
    expect(await changed(tool, overMcp)).toEqual(http)
    const isOfPages = tool.operation.access === agent && !ofKeys.includes(tool.operation.id)
    if (isOfPages) expect(await changed(tool, fromPage)).toEqual(http)
  })
})

describe('HTTP and a form of a page have equal outcomes', () => {
  // A form has no query: its page reads lists itself.
  const changing = tools.filter(
    ({ operation: { access, method } }) => access === agent && method !== 'GET',
  )
  const withIds = changing.filter((tool) => pathKindsOf(describedOf(tool)).length > 0)
  test.each(named(withIds))('for unknown ids: %s', async (_, tool) => {
    const call = await callOf(tool, await world.known(describedOf(tool)), 'unknown')
    const http = await overHttp(tool, call)
    expect(http.isError).toBe(true)
    expect(await fromPage(tool, call)).toEqual(http)
  })

  const withFields = changing.filter((tool) => withBody.some(([, one]) => one === tool))
  test.each(named(withFields))('for fields of a wrong name or type: %s', async (_, tool) => {
    const call = await callOf(tool, await world.known(describedOf(tool)), 'own')
    const [field = ''] = Object.keys(fieldsOf(tool))
    for (const wrong of [{ burn: 1 }, { [field]: {} }]) {
      const changed = { ...call, body: { ...call.body, ...wrong } }
      const http = await overHttp(tool, changed)
      expect(recordOf(http.body)['code']).toBe('bad_request')
      expect(await fromPage(tool, changed)).toEqual(http)
    }
  })
})

describe('HTTP and a form of a page have equal outcomes for a person', () => {
  // Each call of sign_out ends the session of the next.
  const ofPeople = agentOperations.filter(
    ({ id, access, method }) => access.auth === 'person' && method !== 'GET' && id !== 'sign_out',
  )
  const signIn = async (name: string) => {
    const someone = await createTestPerson(t, name)
    if (name === 'opal') {
      const code = (await operatorLink(t.ctx))?.split('/').at(-1) ?? ''
      await becomeOperator(t.ctx, someone.person, code)
    }
    return (await createTestSession(t, someone)).cookie
  }
  /** The cookies of a person who owns nothing, of the operator, and of nobody. */
  const cookies = Promise.all([signIn('nora'), signIn('opal'), ''])
  const layout = createLayout(readPublic(), t.ctx)

  /** Sends a call over HTTP with a session cookie. */
  async function sentBy(cookie: string, { method }: Operation, path: string, body: unknown) {
    const headers = { cookie, 'content-type': 'application/json' }
    const response = await t.call(method, path, { body, headers, from: world.from() })
    return { isError: response.status >= 400, body: comparable(response.body) }
  }

  /** Submits a form of an operation with the same cookie. Returns the error that its page shows. */
  async function submitted(
    cookie: string,
    operation: (typeof agentOperations)[number],
    params: Record<string, string>,
    body: unknown,
  ) {
    const { ctx } = t
    const request = new Request('http://localhost/account', { method: 'POST', headers: { cookie } })
    const client = new AddressClient(world.from(), ctx.state.costs)
    setRequestContext(request, { id: 'page', client, bodyArrivals: ctx.state.bodyArrivals })
    const req = await getPageRequest({ ctx, layout, request, query: new URLSearchParams() })
    let value: unknown
    const then = (result: unknown) => {
      value = result
      return '/'
    }
    try {
      await form(operation, { params, fields: () => body, then })(req, noFields)
      return { isError: false, body: comparable(value) }
    } catch (error) {
      const known = knownError(error)
      if (!known) throw error
      return { isError: true, body: comparable(errorEnvelope(known).body) }
    }
  }
  const noFields: Form = { text: () => '', has: () => false, file: () => undefined }

  test.each(ofPeople.map((one) => [one.id, one] as const))(
    'for unknown ids and fields, and without a session: %s',
    async (_, operation) => {
      const params = Object.fromEntries(
        [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 'A'.repeat(12)]),
      )
      const path = operation.path.replaceAll(/:\w+/g, 'A'.repeat(12))
      for (const cookie of await cookies) {
        const http = await sentBy(cookie, operation, path, { burn: 1 })
        expect(await submitted(cookie, operation, params, { burn: 1 })).toEqual(http)
        if (cookie === '') expect(recordOf(http.body)['code']).toBe('no_key')
      }
    },
  )
})
