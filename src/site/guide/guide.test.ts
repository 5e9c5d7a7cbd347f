import { afterAll, expect, test } from 'bun:test'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer, type TestResponse } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
afterAll(() => t.close())

const Named = Type.Object({ operationId: Type.String() })
const Paths = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Named)),
})

const pixel = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)

/** Returns the arguments of a command, parsed by a shell. */
function wordsOf(line: string, env: Record<string, string>): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }; ${line}`
  const { stdout } = Bun.spawnSync(['sh', '-c', script], { env })
  return stdout.toString().split('\0').slice(0, -1)
}

/** Sends the request of a curl command. */
async function run(line: string, env: Record<string, string>): Promise<TestResponse> {
  const words = wordsOf(line, env)
  const after = (flag: string): string[] =>
    words.flatMap((word, at) => (word === flag ? [words[at + 1] ?? ''] : []))
  const headers = after('-H').map((header): [string, string] => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon), header.slice(colon + 1).trim()]
  })
  const url = new URL(words.find((word) => word.startsWith('http')) ?? '')
  const [data] = after('-d')
  const isFile = after('--data-binary').length > 0
  return t.request(after('-sX')[0] ?? 'GET', url.pathname, {
    headers: Object.fromEntries(headers),
    ...(isFile ? { body: pixel } : data === undefined ? {} : { body: data }),
  })
}

test('the quickstart works as written', async () => {
  const guide = await t.call('GET', '/')
  const [make = '', publish = '', read = '', again = '', few = '', file = '', share = '', ...more] =
    JSON.stringify(guide.body)
      .match(/"curl":"(?:\\.|[^"\\])*"/g)
      ?.map((pair) => String(JSON.parse(`{${pair}}`).curl)) ?? []
  expect(more).toEqual([])

  const made = await run(make, {})
  expect(made.status).toBe(201)
  const KEY = made.text('key')
  const published = await run(publish, { KEY })
  expect(published.status).toBe(201)
  const ID = published.text('app.id')
  const link = new URL(published.text('app.link'))
  expect((await t.request('GET', link.pathname)).status).toBe(200)
  expect((await run(read, { KEY, ID })).text('app.title')).toBe('Hello')
  expect((await run(again, { KEY, ID })).body).toMatchObject({ app: { version: 2 } })
  expect((await run(few, { KEY, ID })).body).toMatchObject({ app: { version: 3 } })
  expect((await run(file, { KEY, ID })).body).toMatchObject({ asset: { type: 'image/png' } })
  expect((await run(share, { KEY, ID })).body).toMatchObject({ app: { listed: 'on' } })
})

test('the first step has the operator token where keys need an invitation', async () => {
  const closed = await startTestServer({ KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'sesame' })
  const { quickstart, auth } = Object((await closed.call('GET', '/')).body)
  expect([auth.make, quickstart[0].curl]).toEqual([
    expect.stringContaining("the operator's token"),
    expect.stringContaining('authorization: Bearer $TOKEN'),
  ])
  const headers = { authorization: 'Bearer sesame' }
  expect((await closed.call('POST', '/keys', { headers })).status).toBe(201)
  await closed.close()
})

test('the index is JSON, or Markdown by Accept', async () => {
  const json = await t.call('GET', '/')
  expect(json.headers.get('content-type')).toStartWith('application/json')
  expect(json.headers.get('vary')).toBe('accept')
  for (const name of [
    'base',
    'gateway',
    'mcp',
    'docs',
    'openapi',
    'llms',
    'llmsFull',
    'skill',
    'types',
  ]) {
    expect(json.text(`urls.${name}`)).toStartWith('http://localhost:3000')
  }
  const markdown = await t.call('GET', '/', { headers: { accept: 'text/markdown' } })
  expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(markdown.headers.get('vary')).toBe('accept')
  expect(String(markdown.body)).toContain(json.text('quickstart.1.curl'))
  for (const accept of ['*/*', 'application/json, text/plain, */*']) {
    expect((await t.call('GET', '/', { headers: { accept } })).body).toEqual(json.body)
  }
})

test('the index names both ways to create an app, and only existing operations', async () => {
  const description = Value.Parse(Paths, (await t.call('GET', '/openapi.json')).body)
  const there = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const { build, explore, page } = Object((await t.call('GET', '/')).body)
  const named = [build, explore, page]
    .flat()
    .flatMap((line: string) => line.match(/\b(GET|POST|PUT|PATCH|DELETE) \/[\w@{}/]*/g) ?? [])
  expect(named.filter((one) => !there.includes(one))).toEqual([])
  expect(named).toEqual(
    expect.arrayContaining([
      'POST /apps',
      'GET /jobs/{id}',
      'POST /apps/{id}/versions',
      'POST /apps/{id}/assets',
      'PUT /apps/{id}/icon',
      'GET /me',
      'POST /me/claim',
      'POST /apps/{id}/remix',
    ]),
  )
})

/** Returns the paths of a Link header by relation. */
const linksIn = (header: string | null): Record<string, string> =>
  Object.fromEntries(
    [...(header ?? '').matchAll(/<([^>]+)>; rel="([^"]+)"/g)].map(([, url = '', rel = '']) => [
      rel,
      new URL(url).pathname,
    ]),
  )

test('the guide is at the top of the site', async () => {
  const llms = await t.request('GET', '/llms.txt')
  expect(llms.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(llms.body).toContain('# Berth')
  expect(llms.body).toContain('Libraries and fonts load by their usual CDN URLs')
  expect(llms.body).toContain('GET /libraries lists')
  const full = await t.request('GET', '/llms-full.txt')
  expect(String(full.body)).toStartWith(String(llms.body))
  // The operations of both APIs.
  expect(full.body).toContain(': POST /apps')
  expect(full.body).toContain('POST /v1/chat/completions')
  for (const [, address = ''] of String(llms.body).matchAll(/\]\((http[^)]+)\)/g)) {
    const { status } = await t.request('GET', new URL(address).pathname)
    expect([address, status]).toEqual([address, 200])
  }
  const description = Value.Parse(Paths, (await t.call('GET', '/openapi.json')).body)
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, { operationId }] of Object.entries(methods)) {
      expect(full.body).toContain(`### ${operationId}: ${method.toUpperCase()} ${path}\n`)
    }
  }
})

test('the skill has a name, a description and the guide', async () => {
  const skill = await t.request('GET', '/skill.md')
  const [, front = '', text] = /^---\n(.*?)\n---\n(.*)$/s.exec(String(skill.body)) ?? []
  expect(Bun.YAML.parse(front)).toEqual({
    name: expect.stringMatching(/^[a-z0-9]+(-[a-z0-9]+)*$/),
    description: expect.stringMatching(/^.{1,1024}$/),
  })
  expect(text).toContain('POST http://localhost:3000/api/keys')
  const calls = ['ai.chat(', 'store.get(', 'db.collection(', 'room.join(', 'scores.submit(']
  for (const call of calls) expect(text).toContain(`service.${call}`)
})

test('all URLs of the Link header and the API catalog exist', async () => {
  const page = await t.request('GET', '/', { headers: { accept: 'text/html' } })
  const links = linksIn(page.headers.get('link'))
  expect(Object.keys(links).sort()).toEqual([
    'api-catalog',
    'describedby',
    'service-desc',
    'service-doc',
  ])
  expect(linksIn((await t.call('GET', '/')).headers.get('link'))).toEqual(links)
  const catalog = await t.request('GET', links['api-catalog'] ?? '')
  expect(catalog.headers.get('content-type')).toBe('application/linkset+json')
  const named = [
    ...JSON.stringify(JSON.parse(new TextDecoder().decode(catalog.bytes))).matchAll(
      /"href":"([^"]+)"/g,
    ),
  ]
  const paths = named.map(([, url = '']) => new URL(url).pathname)
  expect(paths).toHaveLength(4)
  for (const path of [...Object.values(links), ...paths]) {
    expect([path, (await t.request('GET', path)).status]).toEqual([path, 200])
  }
})

test('server.json is valid for MCP registries', async () => {
  const { body } = await t.request('GET', '/server.json')
  expect(body).toMatchObject({
    name: expect.stringMatching(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    description: expect.stringMatching(/^.{1,100}$/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    remotes: [{ type: 'streamable-http', url: 'http://localhost:3000/mcp' }],
  })
  const named = await startTestServer({ APP_URL: 'https://play.example.com' })
  expect((await named.request('GET', '/server.json')).text('name')).toBe('com.example.play/berth')
  const site = 'https://play.example.com'
  expect(named.ctx.urls).toEqual({
    base: `${site}/api`,
    gateway: site,
    app: site,
    mcp: `${site}/mcp`,
    apps: site,
  })
  await named.close()
})

test('the guide names the available models, and where start credits work', async () => {
  const pays = 'the free start credits pay there too'
  expect((await t.request('GET', '/llms.txt')).body).toContain(pays)
  const real = await startTestServer({ OPENAI_API_KEY: 'hush' })
  const guide = String((await real.request('GET', '/llms.txt')).body)
  const headers = { accept: 'text/html' }
  const docs = shownPage((await real.request('GET', '/docs/openai', { headers })).body).text
  await real.close()
  expect(guide).toContain('the free start credits do not pay there')
  expect(docs).not.toContain('demo/chat"')
  expect(docs).toMatch(/model="openai\/[\w.-]+"/)
})
