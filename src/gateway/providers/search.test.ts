import { afterAll, beforeEach, expect, test } from 'bun:test'

import { loadConfig } from '../../kernel/config/load.ts'
import { searchResponseBytesMax } from '../../kernel/limits.ts'
import { openLog } from '../../kernel/log.ts'
import { systemClock } from '../../kernel/time.ts'
import {
  brave,
  createEngines,
  createSearcher,
  exa,
  openSearcher,
  searxng,
  tavily,
} from './search.ts'

const sent: { method: string; url: URL; headers: Headers; body: string }[] = []
let response: (path: string) => Response
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const url = new URL(request.url)
    const { method, headers } = request
    sent.push({ method, url, headers, body: await request.text() })
    return response(url.pathname)
  },
})
afterAll(() => server.stop(true))
beforeEach(() => void (sent.length = 0))

const base = `http://127.0.0.1:${server.port}`
const lines: string[] = []
const log = openLog(systemClock, (line) => void lines.push(line))
const never = new AbortController().signal
const page = (name: string, text: string) => ({
  title: name,
  url: `https://${name}.example/`,
  ...read(text),
})
const read = (text: string) => ({ content: text, description: text, text })

test('sends each engine’s request format and reads its response', async () => {
  const results = [page('a', 'words'), { title: 5, url: 'https://b.example/' }, { url: 'ftp://c/' }]
  response = (path) => Response.json(path.startsWith('/res/') ? { web: { results } } : { results })
  const found = [
    { title: 'a', url: 'https://a.example/', text: 'words' },
    { title: 'https://b.example/', url: 'https://b.example/', text: '' },
  ]
  const all = [searxng(base), brave('k-1', base), tavily('k-2', base), exa('k-3', base)]
  for (const engine of all)
    expect(await createSearcher([engine], log)('low tide', never)).toEqual(found)
  const [one, two, three, four] = sent
  expect([one?.method, one?.url.pathname, one?.url.search]).toEqual([
    'GET',
    '/search',
    '?q=low+tide&format=json',
  ])
  expect([two?.url.search, two?.headers.get('x-subscription-token')]).toEqual([
    '?q=low+tide&count=5',
    'k-1',
  ])
  expect([three?.headers.get('authorization'), three?.body]).toEqual([
    'Bearer k-2',
    '{"query":"low tide","max_results":5}',
  ])
  expect(four?.headers.get('x-api-key')).toBe('k-3')
  expect(JSON.parse(four?.body ?? '')).toMatchObject({ query: 'low tide', numResults: 5 })
})

test('tries the next engine and logs the name without the key', async () => {
  const bad = [
    () => new Response('no', { status: 403 }),
    () => new Response(null, { status: 302, headers: { location: `${base}/elsewhere` } }),
    () => new Response('<html>'),
    () => Response.json({ error: 'k-secret' }),
    () => new Response(new Uint8Array(searchResponseBytesMax + 1)),
  ]
  for (const fail of bad) {
    response = (path) => (path === '/res/v1/web/search' ? fail() : Response.json({ results: [] }))
    const both = createSearcher([brave('k-secret', base), tavily('k-2', base)], log)
    expect(await both('x', never)).toEqual([])
    expect(await createSearcher([brave('k-secret', base)], log)('x', never)).toBeUndefined()
  }
  expect(sent.some(({ url }) => url.pathname === '/elsewhere')).toBe(false)
  expect(lines).toHaveLength(2 * bad.length)
  expect(lines.every((line) => line.includes('brave') && !line.includes('k-secret'))).toBe(true)
})

test('stops when the request is aborted', async () => {
  const client = new AbortController()
  response = () => {
    client.abort()
    return Response.json({ results: [] })
  }
  const both = createSearcher([searxng(base), searxng(base)], log)
  await both('x', client.signal)
  expect(sent).toHaveLength(1)
})

test('creates the configured engines in order', () => {
  const config = (settings: Record<string, string>) => loadConfig(settings, {})
  const all = config({
    EXA_API_KEY: 'e',
    TAVILY_API_KEY: 't',
    BRAVE_API_KEY: 'b',
    SEARXNG_URL: 'http://127.0.0.1:8888',
  })
  expect(createEngines(all).map(({ name }) => name)).toEqual(['searxng', 'brave', 'tavily', 'exa'])
  const open = (settings: Record<string, string>, demo: boolean) =>
    openSearcher(config(settings), { log, isDemo: () => demo }) !== undefined
  expect(open({}, false)).toBe(false)
  expect(open({}, true)).toBe(true)
  expect(open({ EXA_API_KEY: 'e' }, false)).toBe(true)
  expect(open({ EXA_API_KEY: 'e', SEARCH_ON: 'off' }, true)).toBe(false)
})
