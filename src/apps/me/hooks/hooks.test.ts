/** Webhooks and their deliveries: one receiver observes both. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'

import type { Network } from '../../../kernel/fetch.ts'
import { day, hour, minute, second } from '../../../kernel/time.ts'
import { sentence } from '../../../kernel/words/message.ts'
import { findByHandle } from '../../../people/agents/agents.ts'
import type { NoteKind } from '../../../people/notifications/kinds.ts'
import { deleteOldNotes, notify } from '../../../people/notifications/notifications.ts'
import { expectError } from '../../../testing/expect-error.ts'
import { holdDeadlines } from '../../../testing/fixtures/deadlines.ts'
import { internalHosts } from '../../../testing/fixtures/internal-hosts.ts'
import {
  startTestServer,
  type TestAgent,
  type TestResponse,
  type TestServer,
} from '../../../testing/fixtures/test-server.ts'
import { until } from '../../../testing/until.ts'
import {
  add as addTo,
  deleteOldDeliveries,
  enqueueDeliveries,
  hookHandler,
  list,
  listHooksBehind,
} from './hooks.ts'

/** The public internet of these tests. */
const outside = '127.0.0.2'

interface ReceivedRequest {
  body: string
  headers: Headers
}

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let receiver: Bun.Server<undefined>
let received: ReceivedRequest[]
let response: () => Response | Promise<Response>
/** The addresses of hook.example, one list for each lookup; the last one stays. */
let resolved: string[][]
let canary: Bun.TCPSocketListener<undefined>
let touched: number

beforeEach(async () => {
  received = []
  response = () => new Response('ok')
  resolved = [[outside]]
  touched = 0
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
  canary = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => void (touched += 1), data: (socket) => void socket.end() },
  })
  receiver = Bun.serve({
    hostname: outside,
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      received.push({ body: await request.text(), headers: request.headers })
      return response()
    },
  })
  const net: Network = {
    resolve: async () => (resolved.length > 1 ? resolved.shift() : resolved[0]) ?? [],
    isPublic: (address) => address === outside,
  }
  // Replaces the handler for the real network.
  t.ctx.jobs.register('hook', 'hooks', async () => hookHandler(t.ctx, net))
})

afterEach(async () => {
  expect(touched).toBe(0)
  expect(t.lines.filter(({ level }) => level === 'error')).toEqual([])
  await receiver.stop(true)
  canary.stop(true)
  await t.close()
})

const url = () => `http://hook.example:${receiver.port}/in`

const add = (more: Record<string, unknown> = {}, by = ann): Promise<TestResponse> =>
  by.call('POST', '/me/hooks', { url: url(), ...more })

async function happen(kind: NoteKind, text = 'Hello', handle = ann.handle): Promise<void> {
  const to = (await findByHandle(t.ctx, handle))?.id ?? ''
  await t.ctx.db.tx((db) => notify(t.ctx, db, { to, kind, text: sentence(text), data: { n: 1 } }))
}

/** Runs waiting deliveries and returns the newest delivery of a hook. */
async function send(hook: string): Promise<unknown> {
  await enqueueDeliveries(t.ctx)
  await t.ctx.jobs.runDue()
  return (await deliveriesOf(hook))[0]
}

async function deliveriesOf(hook: string): Promise<unknown[]> {
  const { body } = await ann.call('GET', `/me/hooks/${hook}/deliveries`)
  const list: unknown = Reflect.get(Object(body), 'deliveries')
  return Array.isArray(list) ? list : []
}

/** Verifies a signature as a receiver of Standard Webhooks does. */
function isSigned({ body, headers }: ReceivedRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const text = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
  const mac = createHmac('sha256', key).update(text).digest('base64')
  return headers.get('webhook-signature') === `v1,${mac}`
}

test('a note is signed and posted once to every hook that selects its kind', async () => {
  await happen('system', 'Before')
  const created = await add({ kinds: ['remix.sold', 'review.new'] })
  expect(created.status).toBe(201)
  const [id, secret] = [created.text('hook.id'), created.text('secret')]
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(created.body).toMatchObject({ hook: { url: url(), state: 'on' } })
  const all = await add()
  expect(all.text('secret')).not.toBe(secret)
  expect((await ann.call('GET', '/me/hooks')).body).toEqual({
    hooks: expect.arrayContaining([
      expect.objectContaining({ id, kinds: ['remix.sold', 'review.new'] }),
      expect.objectContaining({ id: all.text('hook.id'), kinds: null }),
    ]),
    next: null,
  })
  await happen('remix.sold', 'Sold')
  await happen('comment.new', 'Said')
  await happen('remix.sold', 'Another’s', ben.handle)
  expect(await send(id)).toMatchObject({
    kind: 'remix.sold',
    state: 'delivered',
    tries: 1,
    status: 200,
    problem: null,
    next: null,
  })
  expect(received.map(({ body }) => JSON.parse(body).type).sort()).toEqual([
    'comment.new',
    'remix.sold',
    'remix.sold',
  ])
  const [first] = received.filter((one) => isSigned(one, secret))
  expect(received.filter((one) => isSigned(one, secret))).toHaveLength(1)
  expect(first?.headers.get('content-type')).toBe('application/json')
  expect(Number(first?.headers.get('webhook-timestamp'))).toBe(t.clock.now() / 1_000)
  const [note] = Object((await ann.call('GET', '/me/notes?kind=remix.sold')).body).notes
  expect(JSON.parse(first?.body ?? '')).toEqual({
    type: 'remix.sold',
    timestamp: '2026-05-04T12:00:00.000Z',
    data: note,
  })
  expect(first?.headers.get('webhook-id')).toBe(note.id)
  await send(id)
  expect(received).toHaveLength(3)
})

test('a delivery fails after eight attempts within a day with one id, and can be redelivered', async () => {
  response = () => new Response('no', { status: 503 })
  const id = (await add()).text('hook.id')
  await happen('system')
  const waits = [5 * second, 5 * minute, 25 * minute, 90 * minute, 4 * hour, 6 * hour, 12 * hour]
  const began = t.clock.now()
  for (const [at, wait] of waits.entries()) {
    expect(await send(id)).toMatchObject({ state: 'waiting', tries: at + 1, status: 503 })
    t.clock.advance(wait - 1)
    expect(await send(id)).toMatchObject({ tries: at + 1 })
    t.clock.advance(1)
  }
  expect(t.clock.now() - began).toBeGreaterThanOrEqual(day)
  const failed = await send(id)
  expect(failed).toMatchObject({ state: 'failed', tries: 8, next: null })
  expect(received).toHaveLength(8)
  expect(new Set(received.map(({ headers }) => headers.get('webhook-id'))).size).toBe(1)
  expect(new Set(received.map(({ headers }) => headers.get('webhook-signature'))).size).toBe(8)
  t.clock.advance(day)
  await send(id)
  expect(received).toHaveLength(8)

  response = () => new Response(null, { status: 204 })
  const path = `/me/hooks/${id}/deliveries/${Reflect.get(Object(failed), 'id')}/redeliver`
  const again = await ann.call('POST', path)
  expect([again.status, again.body]).toMatchObject([202, { delivery: { state: 'waiting' } }])
  await expectError(t, 409, 'busy', () => ann.call('POST', path))
  expect(await send(id)).toMatchObject({ state: 'delivered', tries: 1, status: 204 })
  expect(received[8]?.headers.get('webhook-id')).toBe(received[0]?.headers.get('webhook-id') ?? '')
  expect((await ann.call('POST', path)).status).toBe(202)
})

describe('a receiver', () => {
  test('that answers 410 ends its hook', async () => {
    response = () => new Response('', { status: 410 })
    const id = (await add()).text('hook.id')
    await happen('system')
    expect(await send(id)).toMatchObject({ state: 'failed', tries: 1, status: 410 })
    expect((await ann.call('GET', '/me/hooks')).body).toMatchObject({ hooks: [{ state: 'gone' }] })
    await happen('system')
    await send(id)
    expect(received).toHaveLength(1)
  })

  test('that redirects is not followed, to private or public addresses', async () => {
    const id = (await add()).text('hook.id')
    for (const to of [`http://127.0.0.1:${canary.port}/`, url()]) {
      response = () => Response.redirect(to, 307)
      await happen('system')
      expect(await send(id)).toMatchObject({ state: 'waiting', problem: 'redirects' })
    }
    expect(received).toHaveLength(2)
  })

  test('whose name resolves to a private address later is not reached', async () => {
    const id = (await add({ url: `http://hook.example:${canary.port}/` })).text('hook.id')
    resolved = [['127.0.0.1'], [outside, '127.0.0.1'], ['::1'], []]
    for (const wait of [5 * second, 5 * minute, 25 * minute, minute]) {
      if (received.length === 0 && wait === 5 * second) await happen('system')
      expect(await send(id)).toMatchObject({ state: 'waiting', problem: 'inside', status: null })
      t.clock.advance(wait)
    }
  })

  test('that is unreachable gets another attempt', async () => {
    const id = (await add()).text('hook.id')
    await receiver.stop(true)
    await happen('system')
    expect(await send(id)).toMatchObject({ state: 'waiting', tries: 1, problem: 'unreachable' })
  })

  test('that answers 2xx has received it, however long its body is', async () => {
    const id = (await add()).text('hook.id')
    // Bun sends the response head with the first byte.
    const endless = new ReadableStream({ start: (out) => out.enqueue(new Uint8Array(1)) })
    for (const body of ['x'.repeat(100_000), endless]) {
      response = () => new Response(body)
      await happen('system')
      expect(await send(id)).toMatchObject({ state: 'delivered', status: 200, problem: null })
    }
    expect(received).toHaveLength(2)
  })

  test('that is slow times out after ten seconds and does not delay others', async () => {
    const never = Promise.withResolvers<Response>()
    const fetch = () => never.promise
    const slow = Bun.serve({ hostname: outside, port: 0, idleTimeout: 0, fetch })
    const deadlines = holdDeadlines()
    const [quick, late] = [
      (await add()).text('hook.id'),
      (await add({ url: `http://hook.example:${slow.port}/` })).text('hook.id'),
    ]
    await happen('system')
    await enqueueDeliveries(t.ctx)
    const running = t.ctx.jobs.runDue()
    await until(async () => Object((await deliveriesOf(quick))[0]).state === 'delivered')
    await deadlines.begun(2)
    expect([...deadlines.all(), received.length]).toEqual([10 * second, 10 * second, 1])
    deadlines.end()
    await running
    expect((await deliveriesOf(late))[0]).toMatchObject({ problem: 'timed_out', tries: 1 })
    never.resolve(new Response())
    await slow.stop(true)
  })
})

describe('a hook is rejected', () => {
  test('that points to a private address in any notation', async () => {
    for (const host of internalHosts) {
      await expectError(t, 400, 'bad_request', () => add({ url: `http://${host}/` }))
    }
  })

  test('with an invalid address or list of kinds', async () => {
    const urls = [
      '',
      'hook',
      'ftp://a.example/',
      'file:///etc/passwd',
      'javascript:1',
      '//a.example',
      'https://u:p@a.example/',
      'https://u@a.example/',
    ]
    const longest = `https://a.example/${'x'.repeat(2_000)}`
    for (const bad of [...urls, longest, 7, null]) {
      await expectError(t, 400, 'bad_request', () => add({ url: bad }))
    }
    for (const kinds of [[], ['no.such'], ['system', 'system'], 'system', [7], null]) {
      await expectError(t, 400, 'bad_request', () => add({ kinds }))
    }
    await expectError(t, 400, 'bad_request', () => add({ secret: 'mine' }))
  })

  test('past five, also for concurrent requests', async () => {
    const responses = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => add()))
    expect(responses.map(({ status }) => status).sort()).toEqual([
      201, 201, 201, 201, 201, 400, 400,
    ])
  })

  test('without a key; another agent’s hook is not_found', async () => {
    const id = (await add()).text('hook.id')
    await happen('system')
    const deliveryId = Reflect.get(Object(await send(id)), 'id')
    const nobody = 'A'.repeat(12)
    for (const [method, path] of [
      ['DELETE', ''],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${deliveryId}/redeliver`],
    ] as const) {
      const call = (hook: string) =>
        expectError(t, 404, 'not_found', () => ben.call(method, `/me/hooks/${hook}${path}`))
      expect((await call(id)).body).toEqual((await call(nobody)).body)
      await expectError(t, 401, 'no_key', () => t.call(method, `/me/hooks/${id}${path}`))
    }
    await expectError(t, 404, 'not_found', () =>
      ann.call('POST', `/me/hooks/${id}/deliveries/${nobody}/redeliver`),
    )
    await expectError(t, 401, 'no_key', () => t.call('GET', '/me/hooks'))
    await expectError(t, 400, 'bad_request', () =>
      ann.call('GET', `/me/hooks/${id}/deliveries?cursor=x`),
    )
  })
})

test('a hook cannot be added while its account closes', async () => {
  const key = await t.ctx.keys.find(ann.key)
  if (!key) throw new Error('there is no key')
  const addHook = () => addTo(t.ctx, key, { url: 'https://example.com/in' })
  await Promise.allSettled([ann.call('DELETE', '/me'), addHook()])
  await expect(addHook()).rejects.toThrow('bad_key')
  expect(await list(t.ctx, key.owner)).toEqual([])
})

test('waiting deliveries have a limit, and lists continue after a cursor', async () => {
  response = () => new Response('', { status: 500 })
  const id = (await add()).text('hook.id')
  for (let at = 0; at < 55; at += 1) await happen('system', `${at}`)
  await send(id)
  const first = await ann.call('GET', `/me/hooks/${id}/deliveries?limit=50`)
  const rest = await ann.call(
    'GET',
    `/me/hooks/${id}/deliveries?limit=50&cursor=${first.text('next')}`,
  )
  const all = [first, rest].flatMap(({ body }) => Reflect.get(Object(body), 'deliveries'))
  expect(all).toHaveLength(55)
  expect(new Set(all.map(({ id: one }) => one)).size).toBe(55)
  expect(all.filter(({ problem }) => problem === 'too_many_waiting')).toHaveLength(5)
  expect(received).toHaveLength(50)
})

test('deleting a hook deletes its deliveries; closing an account deletes its hooks', async () => {
  response = () => new Response('', { status: 500 })
  const id = (await add()).text('hook.id')
  await happen('system')
  await send(id)
  expect((await ann.call('DELETE', `/me/hooks/${id}`)).body).toMatchObject({ id })
  t.clock.advance(minute)
  await t.ctx.jobs.runDue()
  expect(received).toHaveLength(1)
  await add()
  await ann.call('DELETE', '/me')
  await happen('system')
  await enqueueDeliveries(t.ctx)
  await t.ctx.jobs.runDue()
  expect(received).toHaveLength(1)
})

test('concurrent processes deliver once; ended deliveries are deleted after 30 days', async () => {
  const id = (await add()).text('hook.id')
  await happen('system')
  await Promise.all([enqueueDeliveries(t.ctx), enqueueDeliveries(t.ctx)])
  expect(await send(id)).toMatchObject({ state: 'delivered' })
  expect(received).toHaveLength(1)
  t.clock.advance(31 * day)
  await deleteOldDeliveries(t.ctx)
  expect(await deliveriesOf(id)).toEqual([])
})

test('a hook catches up when its pending notes were deleted', async () => {
  await add()
  await happen('system')
  t.clock.advance(91 * day)
  await deleteOldNotes(t.ctx)
  await enqueueDeliveries(t.ctx)
  expect(await listHooksBehind(t.ctx, 1)).toEqual([])
})

test('HOOKS_TO_PRIVATE allows deliveries to this machine', async () => {
  const home = await startTestServer({ HOOKS_TO_PRIVATE: 'on' })
  const dan = await home.agent('dan')
  const address = `http://${outside}:${receiver.port}/`
  const created = await dan.call('POST', '/me/hooks', { url: address })
  expect(created.status).toBe(201)
  const to = (await findByHandle(home.ctx, dan.handle))?.id ?? ''
  await home.ctx.db.tx((db) => notify(home.ctx, db, { to, kind: 'system', text: sentence('Hi') }))
  await enqueueDeliveries(home.ctx)
  await home.ctx.jobs.runDue()
  expect(received.map((one) => isSigned(one, created.text('secret')))).toEqual([true])
  await home.close()
})
