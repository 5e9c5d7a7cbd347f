import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import { listSiteRoutes } from '../../testing/fixtures/site-routes.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { getDocument, getGatewayDocument, listOperations } from '../../testing/openapi/document.ts'
import { createWorld } from '../../testing/openapi/world.ts'
import { type RunningServer, serve } from './server.ts'

const signIn = { PERSON_HEADER: 'remote-user', TRUSTED_PROXIES: '203.0.113.9' }
const home = await startTestServer({ DEMO_MODELS: 'on', ...signIn })
const named = await startTestServer({
  DEMO_MODELS: 'on',
  APP_URL: 'https://berth.example',
  ...signIn,
})
afterAll(() => Promise.all([home.close(), named.close()]))

/** Every header that can name a host. */
const forged = {
  host: 'evil.example:81',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'evil',
  'x-forwarded-port': '6666',
  'x-original-host': 'evil.example',
  forwarded: 'host=evil.example;proto=evil',
  origin: 'https://evil.example',
  referer: 'https://evil.example/a',
}
const { host: _, ...forwarded } = forged

/** Returns the paths of all GET routes, with what exists in place of their parameters. */
async function listPaths(t: TestServer): Promise<string[]> {
  const { own } = await (await createWorld(t)).known({ path: '/packs/{id}' })
  const value = (name: string): string => own[name] ?? own['id'] ?? 'x'
  const routes = listSiteRoutes(t).map((path) =>
    path.replaceAll(/:(\w+)|\*/g, (_, name: string) => value(name)),
  )
  const operations = [
    ['/api', await getDocument(t)] as const,
    ['/v1', await getGatewayDocument(t)] as const,
  ].flatMap(([root, document]) =>
    listOperations(document)
      .filter(({ method, operationId }) => method === 'GET' && operationId !== 'watch_notes')
      .map(({ path }) => root + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => value(name))),
  )
  return [...new Set([...routes, ...operations, '/mcp', '/healthz', '/readyz', '/none', '//none'])]
}

/** Returns the paths whose response has the forged host. */
async function findForged(t: TestServer, paths: string[], headers: Record<string, string>) {
  const statuses = new Map<string, number>()
  const found: string[] = []
  for (const path of paths) {
    const response = await t.request('GET', path, { headers })
    const text = JSON.stringify([...response.headers]) + new TextDecoder().decode(response.bytes)
    statuses.set(path, response.status)
    // An id or a hash may have the digits by chance, but not with the colon of a port.
    if (/\bevil[.:]|:6666\b/.test(text)) found.push(path)
  }
  return { statuses, found }
}

describe('a forged host is in no header and no body', () => {
  test('of a server with APP_URL, which serves its pages there', async () => {
    const paths = await listPaths(named)
    const { statuses, found } = await findForged(named, paths, forged)
    expect(found).toEqual([])
    const served = [...statuses].filter(([path, status]) => path.length > 1 && status === 200)
    expect(served.length).toBeGreaterThan(40)
    expect([...statuses.values()]).not.toContain(421)
  })

  test('of a server without APP_URL, which serves no pages there', async () => {
    const paths = await listPaths(home)
    const { statuses, found } = await findForged(home, paths, forged)
    expect(found).toEqual([])
    expect([statuses.get('/'), statuses.get('/explore'), statuses.get('/none')]).toEqual([
      421, 421, 421,
    ])
    expect([statuses.get('/api/on'), statuses.get('/healthz'), statuses.get('/mcp')]).toEqual([
      200, 200, 403,
    ])
    expect((await findForged(home, paths, forwarded)).found).toEqual([])
  })
})

/** Returns the hosts of the sandbox in the CSP of an app, and of a page with a preview. */
async function framesOf(t: TestServer, host: string): Promise<string[]> {
  const ann = await t.agent('ann')
  const { apps } = Object((await ann.call('GET', '/apps')).body)
  const id: string = apps[0]?.id ?? (await ann.publish({ store: true }))
  const sources: string[] = []
  // The first page comes from the routes, the next one from memory.
  for (const path of [`/a/${id}`, `/a/${id}`, '/new']) {
    const person = path === '/new' ? { 'remote-user': 'olga' } : {}
    const { headers, status } = await t.request('GET', path, { headers: { host, ...person } })
    const csp = headers.get('content-security-policy') ?? ''
    sources.push(/frame-src ([^;\s]+)\/frame(?:[;\s]|$)/.exec(csp)?.[1] ?? String(status))
  }
  return [...new Set(sources)]
}

describe('pages name', () => {
  const local: [given: string, named: string][] = [
    ['localhost:3000', 'localhost:3000'],
    ['localhost', 'localhost'],
    ['127.0.0.1:3000', '127.0.0.1:3000'],
    ['192.168.1.5:3000', '192.168.1.5:3000'],
    ['10.1.2.3', '10.1.2.3'],
    ['172.20.0.2:3000', '172.20.0.2:3000'],
    ['100.100.1.1', '100.100.1.1'],
    ['[::1]:3000', '[::1]:3000'],
    ['[fd00::5]:3000', '[fd00::5]:3000'],
    ['mybox:3000', 'mybox:3000'],
    ['MyBox.local:3000', 'mybox.local:3000'],
    ['mybox.local.:3000', 'mybox.local.:3000'],
    ['mybox.lan', 'mybox.lan'],
  ]
  test.each(local)('the local host %s, without APP_URL', async (given, named) => {
    expect(await framesOf(home, given)).toEqual([named])
  })

  test.each([
    'berth.example',
    'localhost.example',
    '8.8.8.8',
    '11.0.0.1',
    '172.32.0.1',
    '[2001:4860::1]',
    '[::ffff:8.8.8.8]',
    'local.example:3000',
    'a@localhost',
    "x; script-src 'unsafe-inline'",
    'localhost, evil.example',
    '',
  ])('no other host: %p is misdirected', async (host) => {
    expect(await framesOf(home, host)).toEqual(['421'])
  })

  test('the host of APP_URL, whatever a proxy sends', async () => {
    for (const host of [
      'berth.example',
      'evil.example',
      '127.0.0.1:3000',
      'upstream',
      '192.168.1.5',
    ]) {
      expect([host, ...(await framesOf(named, host))]).toEqual([host, 'berth.example'])
    }
  })
})

describe('over a socket', () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-host-'))
  const quiet = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off', DATABASE_URL: '' }
  const config = loadConfig({ DATA_DIR: dir, PORT: '0', ...quiet }, {})
  let t: RunningServer
  beforeAll(async () => {
    t = await serve(config)
  })
  afterAll(async () => {
    await t.stop()
    rmSync(dir, { recursive: true })
  })

  /** Sends raw bytes and returns the whole response. */
  function send(...lines: string[]): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const socket = connect(Number(new URL(t.origin).port), '127.0.0.1')
    let received = ''
    socket.on('data', (bytes) => (received += bytes.toString()))
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
    socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
    return promise
  }

  const invalid =
    'a b|"q|a@b|localhost@evil.example|[::1|::1|a%20b|localhost/evil|localhost?x|localhost#x|' +
    'localhost\\x|localhost:x|localhost:99999|bücher.de|localhost, localhost|[fe80::1%25eth0]|' +
    'localhost\r\nHost: evil.example'
  test.each([...invalid.split('|'), ''])('the Host %j is 400', async (host) => {
    // The host of the request before is remembered.
    expect(await send('GET /healthz HTTP/1.1', 'Host: localhost')).toStartWith('HTTP/1.1 200')
    const response = await send('GET / HTTP/1.1', `Host: ${host}`)
    expect(response).toStartWith('HTTP/1.1 400')
    expect(response).not.toContain('evil')
  })

  const requests: [status: string, ...lines: string[]][] = [
    ['421', 'GET / HTTP/1.1', 'Host: evil.example'],
    ['421', 'GET http://localhost/ HTTP/1.1', 'Host: evil.example'],
    ['200', 'GET http://evil.example/ HTTP/1.1', 'Host: localhost'],
    ['404', 'GET //evil.example/ HTTP/1.1', 'Host: localhost'],
    ['404', 'GET //evil.example/explore HTTP/1.1', 'Host: localhost'],
    ['200', 'GET /explore HTTP/1.1', 'Host: localhost:'],
    ['200', 'GET /explore HTTP/1.1', 'Host: mybox.local:3000'],
    ['200', 'GET /explore HTTP/1.0'],
  ]
  test.each(requests)('%s: %s, %s', async (status, ...lines) => {
    const response = await send(...lines)
    expect(response).toStartWith(`HTTP/1.1 ${status}`)
    expect(response).not.toContain('evil')
  })
})
