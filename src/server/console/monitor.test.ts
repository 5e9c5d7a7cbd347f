import { afterAll, expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { replicas } from '../../kernel/db/replicas/tables.ts'
import { observedWindows } from '../../kernel/state/tables.ts'
import { hour } from '../../kernel/time.ts'
import { signInOperator, signUp } from '../../testing/fixtures/form-browser.ts'
import { type Shown, shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ GATEWAY_REQUESTS_PER_MINUTE: '1000' })
const olga = await signInOperator(t)
const ann = await t.agent('ann')
await signUp(t, 'cyrus', '198.51.100.7')
await ann.call('GET', '/me')
await ann.call('GET', '/apps/AAAAAAAAAAAA')
await t.call('GET', '/no/such?secret=hush-hush')
afterAll(() => t.close())

const page = (path: string): Promise<string> => olga.read(`/console${path}`)
const show = (path: string): Promise<Shown> => olga.show(`/console${path}`)
/** Returns the requests of a page, as "GET /api/me". */
const requestsIn = async (path: string): Promise<string[]> =>
  (await show(path)).column('Request').map(({ text }) => text)

const chat = (body: unknown) =>
  t.request('POST', '/v1/chat/completions', { key: ann.key, body, from: ann.from })

test('shows requests with filters by status, route, key and person', async () => {
  await olga.open('/favicon.svg')
  expect(await requestsIn('/requests')).not.toContain('GET /favicon.svg')
  expect(await requestsIn('/requests?route=icon')).toContain('GET /favicon.svg')
  const all = await show('/requests')
  expect(all.names('link')).toContain('@ann')
  expect(all.text).not.toContain('hush-hush')
  expect(await requestsIn('/requests')).toContain('GET /api/me')
  const notFound = await show('/requests?status=4&route=apps')
  expect(notFound.text).toContain('not_found')
  const failed = await requestsIn('/requests?status=4&route=apps')
  expect(failed).toContain('GET /api/apps/:id')
  expect(failed).not.toContain('GET /api/me')
  expect(await requestsIn('/requests?who=%40ann')).toContain('GET /api/me')
  expect(await requestsIn('/requests?who=cyrus')).not.toContain('GET /api/me')
  expect(await page('/requests?who=%40nobody')).toContain('No requests found')
  const prefix = ann.key.slice(0, 11)
  expect(await requestsIn(`/requests?key=${prefix}`)).toContain('GET /api/me')
  expect(await page('/requests?key=ak_nobody')).toContain('No requests found')
  for (const query of ['status=9', 'route=%00%3Cb%3E', `who=${'x'.repeat(999)}`]) {
    expect((await olga.open(`/console/requests?${query}`)).status).toBe(200)
  }
})

test('shows the timings of a model call in the detail of its request', async () => {
  const body = { model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }
  const answered = await chat(body)
  expect(answered.status).toBe(200)
  const detail = await page(`/requests/${answered.headers.get('x-request-id')}`)
  expect(detail).toContain('demo/chat')
  expect(detail).toContain('First byte of the upstream')
  expect((await olga.open('/console/requests/nothing')).status).toBe(404)
  const latency = await page('/latency?range=1h&all=yes')
  expect(latency).toContain('POST /v1/chat/completions')
  expect(shownPage(latency).allByText('demo')).not.toEqual([])
})

test('shows the ten slowest routes first, and more on request', async () => {
  const paths = ['', '/agents', '/people', '/queue', '/keys', '/spend', '/models', '/backups']
  for (const path of [...paths, '/audit', '/settings', '/alerts', '/errors']) await page(path)
  const routes = async (path: string): Promise<string[]> =>
    (await show(path)).hrefs.filter((one) => one.startsWith('/console/requests?route='))
  expect(await routes('/latency')).toHaveLength(10)
  const [more = ''] = (await show('/latency')).hrefs.filter((one) => one.includes('all=yes'))
  expect((await routes(more.replace('/console', ''))).length).toBeGreaterThan(12)
})

test('shows more than ten models and upstreams on request', async () => {
  const own = await startTestServer()
  const operator = await signInOperator(own)
  for (let at = 0; at < 12; at += 1) {
    const call = { requestId: `call-${at}`, model: `model-${at}`, upstream: `upstream-${at}` }
    own.ctx.state.observations.addAttempt(call, { endedAs: 'completed', ms: 2, firstByte: 1 })
    own.ctx.state.observations.addModelCall({ ...call, status: 'completed', firstByteMs: 1, ms: 2 })
  }
  const few = await operator.show('/console/latency')
  const rows = ({ text }: Shown): string[] => text.match(/\b(?:model|upstream)-\d+/g) ?? []
  expect(rows(few)).toHaveLength(20)
  const links = few.allByRole('link', 'Show more')
  expect(links).toHaveLength(2)
  const all = await operator.show(links[0]?.attribute('href') ?? '')
  expect(rows(all)).toHaveLength(24)
  expect(all.names('link')).not.toContain('Show more')
  await own.close()
})

test('counts server errors apart from client errors, with their causes', async () => {
  const { read } = t.ctx.storage
  const id = await ann.publish()
  t.ctx.storage.read = () => {
    throw new TypeError('the disk is gone')
  }
  const failed = await ann.call('GET', `/apps/${id}/html`)
  t.ctx.storage.read = read
  t.lines.length = 0
  expect(failed.status).toBe(500)
  const errors = await show('/errors')
  const server = errors.byRole('region', 'Server errors').text
  expect(server).toContain('TypeError: the disk is gone')
  expect(server).not.toContain('not_found')
  const client = errors.byRole('region', 'Client errors').text
  expect(client).toContain('not_found')
  expect(client).toContain('(no route)')
  const detail = await page(`/requests/${failed.headers.get('x-request-id')}`)
  expect(detail).toContain('TypeError: the disk is gone')
})

test('forgets what is older than the range', async () => {
  expect(await page('/errors?range=24h')).toContain('not_found')
  t.clock.advance(2 * hour)
  expect(await page('/errors?range=1h')).toContain('No server errors')
  expect(await page('/errors?range=24h')).toContain('TypeError')
})

test('keeps its memory bounded under a flood of paths, methods and causes', () => {
  const { observations } = t.ctx.state
  for (let at = 0; at < 20_000; at += 1) {
    const request = {
      id: `flood-${at}`,
      at: t.clock.now(),
      method: at % 3 === 0 ? `M${at}` : 'GET',
      route: `/flood/${at}`,
      status: 400 + (at % 200),
      ms: at,
      key: undefined,
      account: undefined,
      address: '192.0.2.1',
      cause: `cause ${at}`,
    }
    observations.addRequest('pages', false, request)
    const call = { requestId: `call-${at}`, model: `m${at}`, upstream: `u${at}` }
    observations.addAttempt(call, { endedAs: 'completed', ms: 2, firstByte: 1 })
    observations.addModelCall({ ...call, status: 'completed', firstByteMs: 1, ms: 2 })
  }
  expect(observations.errors.labels().length).toBeLessThanOrEqual(201)
  expect(observations.models.labels().length).toBeLessThanOrEqual(101)
  expect(observations.findModelCall('call-1')).toBeUndefined()
  expect(observations.findModelCall('call-19999')).toBeDefined()
  expect(observations.requests.newest(10_000, () => true)).toHaveLength(4_096)
})

if (dialect === 'postgres')
  test('adds up the measurements of all servers', async () => {
    const at = Math.floor(t.clock.now() / 600_000) * 600_000
    const counts = { 'GET /of/another/server': [30, 1_234, 61, 9] }
    const errors = { '503\nGET /of/another/server\nfull': [30, 77] }
    const other = { id: 'other', folder: 'elsewhere', version: '1', since: 0, seen: t.clock.now() }
    await t.ctx.db.tx(async (tx) => {
      await tx.insert(replicas).values(other)
      await tx.insert(observedWindows).values([
        { process: 'other', name: 'routes', at, counts },
        { process: 'other', name: 'errors', at, counts: errors },
        { process: 'other', name: 'routes', at: at - 48 * hour, counts: { 'GET /gone': [1, 1] } },
      ])
    })
    await ann.call('GET', '/me')
    const latency = await show('/latency?range=24h')
    expect(latency.names('row')).toContainEqual(
      expect.stringMatching(/^GET \/of\/another\/server\b.*\b1\.2K\b/),
    )
    expect(latency.text).toContain('GET /api/me')
    expect(latency.text).not.toContain('GET /gone')
    expect((await show('/errors?range=1h')).names('cell')).toContain('77')
    expect(await page('')).toContain('All charts are of all servers')
    expect(await page('/requests')).toContain('1 of 2 servers did not respond')
    await t.ctx.db.tx((tx) => tx.delete(replicas))
  })
