import { afterEach, expect, test } from 'bun:test'

import { addLibrary } from '../../apps/libraries/added.ts'
import { callTool, post, send, viewCapabilities } from '../../testing/fixtures/mcp-server.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const html = '<!doctype html><title>Tide</title><h1>Tide</h1>'
const appTools = ['open_app_page', 'use_app_data', 'use_app_model']

let t: TestServer
afterEach(() => t.close())

async function open(): Promise<{ ann: TestAgent; id: string }> {
  t = await startTestServer({ APP_URL: 'https://berth.example' })
  const ann = await t.agent('ann')
  return { ann, id: await ann.publish({ html, title: 'Tide' }) }
}

const headers = { host: 'berth.example' }

const resultOf = async (method: string, params: object, message: object = {}) => {
  const { body } = await send(t, method, { ...params }, { headers, ...message })
  return Reflect.get(Object(body), 'result') ?? Reflect.get(Object(body), 'error')
}
const toolsFor = async (capabilities: object) =>
  (await resultOf('tools/list', {}, { capabilities })).tools
const readView = async (uri: string, key?: string) =>
  resultOf('resources/read', { uri }, key === undefined ? {} : { key })

test('tools name their view, and those of views are for hosts that declare the extension', async () => {
  await open()
  const plain = await toolsFor({})
  const shown = await toolsFor(viewCapabilities)
  const names = plain.map(({ name }: { name: string }) => name)
  for (const name of appTools) expect(names).not.toContain(name)
  // The example host of the reference implementation declares nothing.
  expect(shown.slice(0, plain.length)).toEqual(plain)
  const metas = Object.fromEntries(
    shown.flatMap((tool: { name: string; _meta?: object }) =>
      tool._meta ? [[tool.name, tool._meta]] : [],
    ),
  )
  const view = { ui: { resourceUri: 'ui://berth/app' } }
  expect(metas).toMatchObject({
    publish_app: view,
    build_app: view,
    publish_version: view,
    change_app: view,
    play_app: view,
    ...Object.fromEntries(appTools.map((name) => [name, { ui: { visibility: ['app'] } }])),
  })
  const other = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/plain'] } } }
  expect(await toolsFor(other)).toEqual(plain)
})

test('a client that declares views in initialize gets them with the name of its session', async () => {
  await open()
  const initialize = (capabilities: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'a', version: '1' },
    },
  })
  const begin = async (capabilities: object) => {
    const body = JSON.stringify(initialize(capabilities))
    const response = await t.request('POST', '/mcp', {
      body,
      headers: {
        ...headers,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
    })
    expect(response.status).toBe(200)
    expect(String(response.body)).toContain('io.modelcontextprotocol/ui')
    return response.headers.get('mcp-session-id')
  }
  expect(await begin({})).toBeNull()
  const session = (await begin(viewCapabilities)) ?? ''
  expect(session).toMatch(/^views-\w{40}$/)
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  const listed = async (more: object) => {
    const { message } = await post(t, list, {
      ...headers,
      'mcp-protocol-version': '2025-11-25',
      ...more,
    })
    return JSON.stringify(message)
  }
  // In this order: a remembered list of one kind is not that of the other.
  expect(await listed({})).not.toContain('use_app_data')
  expect(await listed({ 'mcp-session-id': session })).toContain('use_app_data')
  expect(await listed({})).not.toContain('use_app_data')
})

test('every app is a view, with its page and without a key', async () => {
  const { ann, id } = await open()
  const { contents } = await readView(`ui://berth/${id}`, ann.key)
  expect(contents).toMatchObject([
    {
      uri: `ui://berth/${id}`,
      mimeType: 'text/html;profile=mcp-app',
      // Nothing of the network.
      _meta: {
        ui: {
          csp: { connectDomains: ['blob:', 'data:'], resourceDomains: ['blob:', 'data:'] },
          permissions: {},
          prefersBorder: true,
        },
      },
    },
  ])
  expect(contents[0].text).toStartWith('<!doctype html>')
  expect(contents[0].text).toContain('\\u003ch1>Tide')
  expect(contents[0].text).not.toContain(ann.key)
  const { resourceTemplates } = await resultOf('resources/templates/list', {})
  expect(resourceTemplates).toContainEqual(
    expect.objectContaining({ uriTemplate: 'ui://berth/{id}' }),
  )
  for (const uri of [
    'ui://berth/nothing00000',
    'ui://berth/',
    'ui://other/app',
    'ui://berth/../app',
  ]) {
    expect(await readView(uri)).toMatchObject({ code: expect.any(Number) })
  }
})

test('the policy of a view reaches the files of its app alone', async () => {
  const { ann } = await open()
  const files = [
    { path: 'index.html', text: '<!doctype html><title>Map</title><img src="map.svg">' },
    { path: 'map.svg', text: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  ]
  const made = await ann.call('POST', '/apps', { files, title: 'Map' })
  const id = made.text('app.id')
  const { contents } = await readView(`ui://berth/${id}`)
  const { csp } = contents[0]._meta.ui
  const address = csp.resourceDomains[2]
  expect(address).toMatch(/^https:\/\/berth\.example\/f\/[0-9a-f]{32}\/$/)
  expect(csp).toEqual({
    connectDomains: ['blob:', 'data:', address],
    resourceDomains: ['blob:', 'data:', address],
    baseUriDomains: [address],
  })
  const page = await callTool(t, 'open_app_page', { id }, { headers })
  const { policy } = Object(page.structuredContent)
  expect(policy).toStartWith("default-src 'none'; script-src 'unsafe-inline'")
  expect(policy.match(/https?:[^ ;]+/g)).toEqual(Array(10).fill(address))
  const shared = await readView('ui://berth/app')
  expect(shared.contents[0]._meta.ui.csp.baseUriDomains).toEqual(['https://berth.example/f/'])
})

test('a view shows an app to those who may open it, as the viewer does', async () => {
  const { ann, id } = await open()
  const ben = await t.agent('ben')
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
  const before = await t.snapshot()
  for (const key of [undefined, ben.key, 'sk-nothing']) {
    expect(await readView(`ui://berth/${id}`, key)).toHaveProperty('code')
    const message = { headers, ...(key !== undefined && { key }) }
    const opened = await callTool(t, 'open_app_page', { id }, message)
    expect([opened.isError, opened.structuredContent['code']]).toEqual([true, 'not_found'])
    const played = await callTool(
      t,
      'play_app',
      { id },
      { headers, ...(key === ben.key && { key }) },
    )
    expect(played.structuredContent['code']).toBe('not_found')
  }
  expect(await t.snapshot()).toEqual(before)
  expect(await readView(`ui://berth/${id}`, ann.key)).toHaveProperty('contents')
  const played = await callTool(t, 'play_app', { id }, { headers, key: ann.key })
  expect(played.structuredContent).toMatchObject({
    app: { id, title: 'Tide', version: 1, link: `https://berth.example/a/${id}` },
  })
  await ann.call('DELETE', `/apps/${id}`)
  expect(await readView(`ui://berth/${id}`, ann.key)).toHaveProperty('code')
})

test('an app that is being built tells its progress', async () => {
  const { ann } = await open()
  const { body } = await ann.call('POST', '/apps', { prompt: 'A calm clock' })
  const { id } = Object(body).app
  const opened = await callTool(t, 'open_app_page', { id }, { headers, key: ann.key })
  expect(opened.structuredContent).toMatchObject({ id, progress: expect.any(Number) })
})

test('an app with too much for a chat is not read, and its link is given instead', async () => {
  await open()
  const ann = await t.agent('ann')
  const bytes = Buffer.from('large();\n'.repeat(500_000))
  const tags: string[] = []
  for (const [at, name] of ['large-a', 'large-b'].entries()) {
    const about = JSON.stringify({ name, version: '1.2.3', license: 'MIT', main: 'a.js' })
    const files = new Map([
      ['package.json', Buffer.from(about)],
      ['a.js', Buffer.concat([bytes, Buffer.from(`large(${at})`)])],
    ])
    await addLibrary(t.ctx, { name, version: '1.2.3', license: 'MIT', files })
    tags.push(`<script src="https://unpkg.com/${name}@1.2.3/a.js"></script>`)
  }
  const publish = (some: string[]) => ann.publish({ html: html + some.join('') })
  const one = await publish(tags.slice(1))
  const small = await callTool(t, 'open_app_page', { id: one }, { headers })
  expect(Object(small.structuredContent['libraries']).files).toHaveLength(1)
  // The page is sent once.
  expect(JSON.stringify(small.content).length).toBeLessThan(200)
  const id = await publish(tags)
  const { isError, structuredContent } = await callTool(t, 'open_app_page', { id }, { headers })
  expect([isError, structuredContent['code']]).toEqual([true, 'view_too_large'])
  expect(structuredContent['error']).toEndWith(`https://berth.example/a/${id}`)
  const { code, message } = await readView(`ui://berth/${id}`)
  expect([code, message]).toEqual([-32_602, structuredContent['error']])
})

test('build_app has an app built from a prompt, as publish_app does', async () => {
  const { ann } = await open()
  const by = { headers, key: ann.key }
  const build = async (args: object, message: object = by) =>
    (await callTool(t, 'build_app', { ...args }, message)).structuredContent
  const priced = await build({ prompt: 'A calm clock', dryRun: true })
  expect(priced).toEqual(
    (await callTool(t, 'publish_app', { prompt: 'A calm clock', dryRun: true }, by))
      .structuredContent,
  )
  const before = await t.snapshot()
  for (const [args, code, message] of [
    [{}, 'bad_request', by],
    [{ prompt: '' }, 'bad_request', by],
    [{ prompt: 'A clock', html }, 'bad_request', by],
    [{ prompt: 'A clock', maxCredits: 0 }, 'price_above_max', by],
    [{ prompt: 'A clock' }, 'no_key', { headers }],
    [{ prompt: 'A clock' }, 'bad_key', { headers, key: 'ak_bogus' }],
  ] as const)
    expect([args, (await build(args, message))['code']]).toEqual([args, code])
  expect(await t.snapshot()).toEqual(before)
  const made = await build({ prompt: 'A calm clock', title: 'Clock', ref: 'build-0001' })
  expect(made).toMatchObject({ app: { id: expect.any(String) }, job: { kind: 'build' } })
  expect(await build({ prompt: 'A calm clock', title: 'Clock', ref: 'build-0001' })).toEqual(made)
})
