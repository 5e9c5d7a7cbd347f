import { expect, test } from 'bun:test'

import { deleteOldObservations } from '../../kernel/state/observations.ts'
import { observedHours, observedWindows } from '../../kernel/state/tables.ts'
import { day, hour, minute } from '../../kernel/time.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import { signInOperator } from '../../testing/fixtures/form-browser.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { closeContext, createContext } from '../context.ts'
import { listMetrics, recordHours, recordMetrics } from './metrics-history.ts'

const open = startForEachTest()

function request({ ctx, clock }: TestServer, status = 200): void {
  ctx.state.observations.addRequest('api', true, {
    id: 'one',
    at: clock.now(),
    method: 'GET',
    route: '/api/me',
    status,
    ms: 12,
    key: undefined,
    account: undefined,
    address: '198.51.100.9',
    cause: undefined,
  })
}

/** Opens the database as the next process does, which remembers nothing. */
async function restart({ ctx, clock }: TestServer) {
  await ctx.db.tx((tx) => tx.update(observedWindows).set({ process: 'before' }))
  const db = Object.create(ctx.db, { close: { value: async () => undefined } })
  return createContext(ctx.config, 'http://localhost:3001', { db, clock, log: ctx.log })
}

test('a restart keeps the charts of the day', async () => {
  const t = await open()
  request(t)
  request(t, 503)
  await recordMetrics(t.ctx)
  t.clock.advance(5 * hour)
  const next = await restart(t)
  const points = await listMetrics(next, { ms: day, points: 72 })
  const busy = points.filter(({ requestsPerSecond }) => requestsPerSecond > 0)
  expect(busy).toMatchObject([{ serverErrorPercent: 50 }])
  expect(points.length).toBeGreaterThanOrEqual(15)
  await closeContext(next)
})

test('hours are kept for 90 days, and written once', async () => {
  const t = await open()
  for (let at = 0; at < 3; at += 1) request(t)
  await recordMetrics(t.ctx)
  t.clock.advance(hour + 5 * minute)
  await recordMetrics(t.ctx)
  await recordHours(t.ctx)
  const written = await t.ctx.db.read.select().from(observedHours)
  expect(written.filter(({ traffic }) => traffic['api'])).toHaveLength(1)
  await recordHours(t.ctx)
  expect(await t.ctx.db.read.select().from(observedHours)).toEqual(written)
  t.clock.advance(40 * day)
  await deleteOldObservations(t.ctx)
  expect(await t.ctx.db.read.select().from(observedWindows)).toEqual([])
  const next = await restart(t)
  const points = await listMetrics(next, { ms: 90 * day, points: 90 })
  const [first] = points
  expect(first?.requestsPerSecond).toBeCloseTo(3 / 86_400, 9)
  expect(first?.free).toBeGreaterThan(0)
  expect(points.length).toBeLessThanOrEqual(42)
  await closeContext(next)

  t.clock.advance(51 * day)
  await deleteOldObservations(t.ctx)
  expect(await t.ctx.db.read.select().from(observedHours)).toEqual([])
})

test('a long range has the hour that is not over', async () => {
  const t = await open()
  request(t)
  await recordMetrics(t.ctx)
  const points = await listMetrics(t.ctx, { ms: 7 * day, points: 84 })
  expect(points.at(-1)?.requestsPerSecond).toBeGreaterThan(0)
})

test('the console offers a day and 90 days, and opens a day by its data', async () => {
  const t = await open()
  const olga = await signInOperator(t)
  request(t)
  await recordMetrics(t.ctx)
  t.clock.advance(8 * hour)
  await recordMetrics(t.ctx)
  const page = await olga.show('/console?range=90d')
  expect(page.text).toContain('30 days')
  expect((await olga.show('/console?range=24h')).text).toContain('Requests')
})
