import { afterAll, expect, test } from 'bun:test'

import { Berth, BerthError } from '../../../sdk/typescript/src/index.ts'
import { serveGateway } from '../fixtures/gateway.ts'
import { startTestServer } from '../fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const { origin: url, stop } = serveGateway(t)
const ann = await t.agent('ann')
const berth = new Berth({ url, key: ann.key })
afterAll(async () => {
  await stop()
  await t.close()
})

const html = '<!doctype html><title>Reef</title><h1>Reef</h1>'

/** Returns a client whose requests get these responses, one after the other, and the requests. */
function scripted(...responses: (Response | Error)[]) {
  const requests: Request[] = []
  const client = new Berth({
    url,
    key: ann.key,
    fetch: async (request) => {
      requests.push(request)
      const next = responses.shift()
      if (next instanceof Response) return next
      throw next ?? new Error('no more responses')
    },
  })
  return { client, requests }
}

const busy = (retryAfter: string, status = 429): Response =>
  Response.json(
    { error: 'Wait.', code: 'rate_limited' },
    { status, headers: { 'retry-after': retryAfter } },
  )

test('a page is published and read back', async () => {
  const { app } = await berth.agent.publishApp({ html, title: 'Reef' })
  const id = app?.id ?? ''
  expect(await berth.agent.getHtml({ id })).toBe(html)
  expect((await berth.agent.getApp({ id })).app.title).toBe('Reef')
})

test('a folder is published as a zip, with its other fields in the query', async () => {
  const { zipSync, strToU8 } = await import('fflate')
  const files = { 'index.html': strToU8(html), 'data/level 1.json': strToU8('{}') }
  const content = new Blob([zipSync(files)])
  const { app } = await berth.agent.publishApp({ content, title: 'From a zip' })
  expect(app).toMatchObject({ title: 'From a zip' })
  const file = await berth.agent.getAsset({ id: app?.id ?? '', name: 'data/level 1.json' })
  expect(await new Response(file).text()).toBe('{}')
})

test('a list iterates over the items of all its pages', async () => {
  const cy = await t.agent('cy')
  const own = new Berth({ url, key: cy.key })
  for (const title of ['one', 'two', 'three']) await cy.publish({ title })
  const titles: string[] = []
  for await (const { title } of own.agent.listApps({ limit: 2 })) titles.push(title)
  expect(titles.sort()).toEqual(['one', 'three', 'two'])
  expect((await own.agent.listApps({ limit: 2 })).apps).toHaveLength(2)
})

test('a chat is one response where it is awaited, and a stream where it is iterated', async () => {
  const call = { model: 'demo/chat', messages: [{ role: 'user' as const, content: 'Ahoy there' }] }
  expect(await berth.gateway.createChatCompletion(call)).toMatchObject({
    choices: [{ message: { content: expect.stringContaining('Ahoy') } }],
  })
  const chunks = await Array.fromAsync(berth.gateway.createChatCompletion(call))
  expect(chunks.length).toBeGreaterThan(1)
  expect(chunks[0]).toMatchObject({ object: 'chat.completion.chunk' })
})

test('an error has the code, the status, the message and the id of its request', async () => {
  const failure = await berth.agent.getApp({ id: 'AAAAAAAAAAAA' }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(BerthError)
  expect(failure).toMatchObject({ code: 'not_found', status: 404, requestId: expect.any(String) })
  const unknown = await new Berth({ url }).gateway.getBalance().catch((error: unknown) => error)
  expect(unknown).toMatchObject({ code: 'authentication_error', status: 401 })
})

test('the steps of a build arrive as they happen, and the stream ends with the build', async () => {
  const { job } = await berth.agent.publishApp({ prompt: 'A quiz about fish' })
  const work = t.ctx.jobs.runDue()
  const states: string[] = []
  for await (const { state } of berth.agent.watchJob({ id: job?.id ?? '' })) states.push(state)
  await work
  expect([states[0], states.at(-1)]).toEqual(['queued', 'done'])
})

test('a call waits as Retry-After says and runs again, with one idempotency key', async () => {
  const { client, requests } = scripted(
    busy('0'),
    busy(new Date(0).toUTCString(), 503),
    Response.json({ price: 0 }),
  )
  expect(await client.agent.publishApp({ html, dryRun: true })).toEqual({ price: 0 })
  const keys = requests.map(({ headers }) => headers.get('idempotency-key'))
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[\w-]{36}$/)
})

test('a call does not wait for hours', async () => {
  const { client, requests } = scripted(busy('3600'))
  await expect(client.agent.getMe().then()).rejects.toMatchObject({ code: 'rate_limited' })
  expect(requests).toHaveLength(1)
})

test('an id that leads to another path is not sent, and a slash stays in its part', async () => {
  const { client, requests } = scripted(busy('3600'))
  for (const id of ['', '.', '..']) {
    expect(await client.agent.deleteApp({ id }).catch(String)).toContain(`id cannot be "${id}"`)
  }
  expect(requests).toEqual([])
  await client.agent.deleteApp({ id: '../me' }).catch(String)
  expect(requests.map((request) => new URL(request.url).pathname)).toEqual(['/api/apps/..%2Fme'])
})

test('a lost response is asked for again only where that runs nothing twice', async () => {
  const lost = new TypeError('connection reset')
  const safe = scripted(lost, Response.json({ keys: [], next: null }))
  expect(await safe.client.agent.listKeys()).toMatchObject({ keys: [] })
  const unsafe = scripted(lost, Response.json({}))
  await expect(unsafe.client.agent.addKey().then()).rejects.toBe(lost)
  expect(unsafe.requests).toHaveLength(1)
})

test('a stream that breaks off goes on after its last event', async () => {
  const stream = (text: string) =>
    new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const { client, requests } = scripted(
    stream('id: 1\r\ndata: {"state":\r\ndata: "running"}\r\n\r\n: beat\n\n'),
    stream('id: 2\ndata: {"state": "done"}\n\n'),
    new Response(null, { status: 204 }),
  )
  const jobs = await Array.fromAsync(client.agent.watchJob({ id: 'AAAAAAAAAAAA' }))
  expect(jobs.map(({ state }) => state)).toEqual(['running', 'done'])
  expect(requests.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '1', '2'])
})
