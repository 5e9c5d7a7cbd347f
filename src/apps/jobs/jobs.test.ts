import { afterEach, beforeEach, expect, test } from 'bun:test'

import { Type } from '@sinclair/typebox'

import { enqueue } from '../../jobs/jobs.ts'
import { noteStreamsMax } from '../../kernel/limits.ts'
import { fromCredits } from '../../kernel/money.ts'
import { hour } from '../../kernel/time.ts'
import { balanceOf, listOpenHolds, openHold, settleHold } from '../../money/ledger/ledger.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const app = 'Boats0000001'
let t: TestServer
let ann: TestAgent
/** Gates that the running job waits for. */
let gates: PromiseWithResolvers<void>[]
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  gates = [Promise.withResolvers(), Promise.withResolvers()]
  t.ctx.jobs.register('assets', 'media', async () => ({
    input: Type.Object({}),
    data: Type.Null(),
    async run({ report: note }) {
      await gates[0]?.promise
      await note({ step: 'writing', progress: 0.25 })
      await gates[1]?.promise
      return {
        end: 'done',
        record: async (db, { id }) => {
          for (const held of await listOpenHolds(db, id)) {
            await settleHold(t.ctx, db, held, fromCredits(7))
          }
          return { version: 1 }
        },
      }
    },
  }))
})
afterEach(async () => {
  for (const gate of gates) gate.resolve()
  await t.ctx.jobs.runDue()
  await t.close()
})

const open = (): void => gates.forEach((gate) => gate.resolve())

async function accountOf(person: TestAgent) {
  const key = await t.ctx.keys.find(person.key)
  if (!key) throw new Error('there is no key')
  return { kind: 'agent', owner: key.owner } as const
}

/** Enqueues a job of Ann that is priced at 10 credits and costs 7. */
async function newJob(): Promise<string> {
  const { ctx } = t
  const owner = await accountOf(ann)
  const account = `agent:${owner.owner}` as const
  const price = fromCredits(10)
  return ctx.db.tx(async (db) => {
    const job = await enqueue(ctx, db, {
      kind: 'assets',
      queue: 'media',
      owner: account,
      item: app,
      input: {},
      price,
      ms: hour,
    })
    const more = { ref: `assets:${job.id}`, kind: 'assets', job: job.id, ms: 2 * hour }
    await openHold(ctx, db, { account, amount: price, ...more })
    return job.id
  })
}

const fresh = { step: null, progress: 0, charged: 0, ended: null, result: null, error: null }

test('a job is queued, runs and ends, and each state is visible', async () => {
  const id = await newJob()
  const path = `/jobs/${id}`
  const created = new Date(t.clock.now()).toISOString()
  const first = await ann.call('GET', path)
  const known = { id, kind: 'assets', app, price: 10, created }
  expect([first.status, first.body]).toEqual([
    200,
    { job: { ...known, ...fresh, state: 'queued', started: null } },
  ])
  const work = t.ctx.jobs.runDue()
  const begun = await ann.call('GET', `${path}?wait=30`)
  expect(begun.body).toMatchObject({ job: { state: 'running', step: null, started: created } })
  const response = ann.call('GET', `${path}?wait=30`)
  gates[0]?.resolve()
  expect((await response).body).toMatchObject({ job: { step: 'writing', progress: 0.25 } })
  const last = ann.call('GET', `${path}?wait=30`)
  gates[1]?.resolve()
  const link = `http://localhost:3000/a/${app}`
  const done = {
    ...known,
    state: 'done',
    step: 'writing',
    progress: 1,
    charged: 7,
    started: created,
    ended: created,
    result: { app, version: 1, link },
    error: null,
  }
  expect((await last).body).toEqual({ job: done })
  await work
  expect((await ann.call('GET', `${path}?wait=30`)).body).toEqual({ job: done })
  expect((await ann.call('GET', '/jobs')).body).toEqual({ jobs: [done], next: null })
  expect(await balanceOf(t.ctx, await accountOf(ann))).toMatchObject({
    balance: fromCredits(393),
    held: fromCredits(0),
  })
})

test('an event stream begins at the start, or after Last-Event-ID', async () => {
  const id = await newJob()
  open()
  const work = t.ctx.jobs.runDue()
  const all = await ann.call('GET', `/jobs/${id}/events`)
  await work
  expect(all.headers.get('content-type')).toBe('text/event-stream')
  const events = eventsIn(String(all.body))
  expect(events.map(({ number, job }) => [number, job.state, job.step, job.progress])).toEqual([
    [1, 'queued', null, 0],
    [2, 'running', null, 0],
    [3, 'running', 'writing', 0.25],
    [4, 'done', 'writing', 1],
  ])
  expect(events.map(({ job }) => [job.charged, job.ended !== null])).toEqual([
    [0, false],
    [0, false],
    [0, false],
    [7, true],
  ])
  const after = async (seen: string) =>
    ann.call('GET', `/jobs/${id}/events`, undefined, { 'last-event-id': seen })
  expect(eventsIn(String((await after('2')).body))).toEqual(events.slice(2))
  expect(eventsIn(String((await after('nonsense')).body))).toEqual(events)
  expect((await after('4')).status).toBe(204)
  expect((await after('99')).status).toBe(204)
})

interface SentEvent {
  number: number
  job: Record<string, unknown>
}

const eventsIn = (text: string): SentEvent[] =>
  text
    .split('\n\n')
    .filter((part) => part !== '' && !part.startsWith(':'))
    .map((part) => {
      const [, number = '', json = ''] = /^id: (\d+)\ndata: (.*)$/.exec(part) ?? []
      return { number: Number(number), job: JSON.parse(json) }
    })

test('cancels queued and running jobs without charge; ended jobs are not_cancellable', async () => {
  for (const isRunning of [false, true]) {
    const id = await newJob()
    const work = isRunning ? t.ctx.jobs.runDue() : undefined
    if (isRunning) await ann.call('GET', `/jobs/${id}?wait=30`)
    const { status, body } = await ann.call('DELETE', `/jobs/${id}`)
    expect([status, body]).toMatchObject([200, { job: { id, state: 'cancelled', charged: 0 } }])
    await work
    const { balance, held } = await balanceOf(t.ctx, await accountOf(ann))
    expect([balance, held]).toEqual([fromCredits(400), fromCredits(0)])
    await expectError(t, 409, 'not_cancellable', () => ann.call('DELETE', `/jobs/${id}`))
    expect((await ann.call('GET', `/jobs/${id}`)).body).toMatchObject({ job: { error: null } })
  }
})

test('a list continues at its cursor', async () => {
  const ids: string[] = []
  for (let made = 0; made < 3; made += 1) {
    ids.unshift(await newJob())
    t.clock.advance(1)
  }
  const seen: unknown[] = []
  let next: unknown = ''
  for (let pages = 0; typeof next === 'string' && pages < 5; pages += 1) {
    const { body } = await ann.call('GET', `/jobs?limit=1${next && `&cursor=${next}`}`)
    seen.push(...Object(body).jobs.map((job: { id: string }) => job.id))
    next = Object(body).next
  }
  expect(seen).toEqual(ids)
  open()
})

test("rejects a missing key, another agent's job, unknown ids and invalid queries", async () => {
  const id = await newJob()
  const ben = await t.agent('ben')
  for (const [method, path] of [
    ['GET', `/jobs/${id}`],
    ['DELETE', `/jobs/${id}`],
    ['GET', `/jobs/${id}/events`],
  ] as const) {
    await expectError(t, 401, 'no_key', () => t.call(method, path))
    await expectError(t, 404, 'job_not_found', () => ben.call(method, path))
    for (const none of ['A'.repeat(12), 'x', '%20', 'a'.repeat(300)]) {
      const other = path.replace(id, none)
      await expectError(t, 404, 'job_not_found', () => ann.call(method, other))
    }
  }
  for (const wait of ['-1', '31', 'x', '']) {
    await expectError(t, 400, 'bad_request', () => ann.call('GET', `/jobs/${id}?wait=${wait}`))
  }
  await expectError(t, 400, 'bad_request', () => ann.call('GET', '/jobs?cursor=x'))
  expect((await ben.call('GET', '/jobs')).body).toEqual({ jobs: [], next: null })
})

test('HEAD of endless event streams returns at once', async () => {
  const id = await newJob()
  for (const path of [...Array(noteStreamsMax + 1).fill('/me/events'), `/jobs/${id}/events`]) {
    const { status, headers } = await ann.call('HEAD', path)
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/event-stream'])
  }
})

test('a disconnected client ends its stream', async () => {
  const id = await newJob()
  const headers = { authorization: `Bearer ${ann.key}` }
  const request = new Request(`http://localhost:3000/api/jobs/${id}/events`, { headers })
  const response = await t.handle(request, ann.from)
  const reader = response.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toStartWith('id: 1\n')
  await reader?.cancel()
  expect(await ann.call('DELETE', `/jobs/${id}`)).toMatchObject({ status: 200 })
})

test('revoking the key ends the event stream', async () => {
  const id = await newJob()
  const { key } = ann
  await ann.call('POST', '/me/keys')
  const headers = { authorization: `Bearer ${key}` }
  const request = new Request(`http://localhost:3000/api/jobs/${id}/events`, { headers })
  const reader = (await t.handle(request, ann.from)).body?.getReader()
  let text = new TextDecoder().decode((await reader?.read())?.value)
  await ann.call('DELETE', `/me/keys/${key.slice(0, 11)}`)
  await t.ctx.jobs.cancel(id)
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += new TextDecoder().decode(part.value)
  }
  expect(eventsIn(text).map(({ number }) => number)).toEqual([1])
})
