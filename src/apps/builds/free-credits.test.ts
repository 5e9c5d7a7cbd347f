import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'

import { fromCredits, toCredits } from '../../kernel/money.ts'
import { day } from '../../kernel/time.ts'
import { balanceOf, grantTo } from '../../money/ledger/ledger.ts'
import { countRetries } from '../../testing/count-retries.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { freeDays } from '../tables.ts'

setDefaultTimeout(60_000)
const list = { prompt: 'a packing list with tent, boots and a map' }

let t: TestServer
let price = 0
/** Opens a server whose free budget covers one and a half builds a day. */
beforeEach(async () => {
  const first = await startTestServer()
  const dry = await (await first.agent('ann')).call('POST', '/apps', { ...list, dryRun: true })
  price = Number(Object(dry.body).price)
  await first.close()
  const usd = ((price * 1.5) / 1_000).toFixed(6)
  t = await startTestServer({ FREE_SPEND_PER_DAY_USD: usd })
})
afterEach(() => t.close())

const build = (who: TestAgent) => who.call('POST', '/apps', list)
const jobOf = async (who: TestAgent, id: string) =>
  Object((await who.call('GET', `/jobs/${id}`)).body).job
async function counted(): Promise<number> {
  const rows = await t.ctx.db.read.select().from(freeDays)
  return rows.reduce((sum, { used }) => sum + toCredits(used), 0)
}

test('reserves the daily free budget, then counts the actual charge', async () => {
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  const first = await build(ann)
  expect([first.status, await counted()]).toEqual([202, price])
  const no = await expectError(t, 503, 'no_builder', () => build(ben))
  expect(no.text('error')).toMatch(
    /budget of free credits is used up.*00:00 UTC.*Nothing was charged/,
  )
  await t.ctx.jobs.runDue()
  const { charged } = await jobOf(ann, first.text('job.id'))
  expect([charged > 0 && charged < price / 2, await counted()]).toEqual([true, charged])
  expect((await build(ben)).status).toBe(202)
})

test('a failed build returns its budget, and each day starts at 0', async () => {
  const ann = await t.agent('ann')
  const first = await build(ann)
  expect((await ann.call('DELETE', `/jobs/${first.text('job.id')}`)).status).toBe(200)
  expect(await counted()).toBe(0)
  await build(ann)
  const ben = await t.agent('ben')
  await expectError(t, 503, 'no_builder', () => build(ben))
  t.clock.advance(day)
  expect((await build(ben)).status).toBe(202)
})

test('purchased credits are not counted', async () => {
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  await build(ann)
  const key = await t.ctx.keys.find(ben.key)
  const owner = { kind: 'agent', owner: key?.owner ?? '' } as const
  const amount = fromCredits(1_000)
  await grantTo(t.ctx, owner, { amount, kind: 'gift', ref: 'bought', free: false })
  expect((await build(ben)).status).toBe(202)
  expect(await counted()).toBe(price)
  await t.ctx.jobs.runDue()
  const { free, balance } = await balanceOf(t.ctx, owner)
  expect(free).toBe(fromCredits(400))
  expect(balance).toBeLessThan(fromCredits(1_400))
  expect(await counted()).toBeLessThan(price)
})

test('a budget of 0 rejects free credits', async () => {
  const ann = await t.agent('ann')
  Object.assign(t.ctx.config, { freeSpendPerDayUsd: 0n })
  await expectError(t, 503, 'no_builder', () => build(ann))
})

test('starting and ending builds take locks in the same order', async () => {
  const h = await startTestServer({ BUILDS_PER_HOUR: '0' })
  const all = await Promise.all(['ann', 'ben', 'cyd'].map((name) => h.agent(name)))
  const again = countRetries(h.ctx)
  const begin = (ann: TestAgent) => ann.call('POST', '/apps', { prompt: 'a lamp' })
  for (let round = 0; round < 8; round += 1) {
    await Promise.all(
      all.map(async (ann) => {
        const { body } = await begin(ann)
        const { job } = Object(body)
        const [, next] = await Promise.all([ann.call('DELETE', `/jobs/${job.id}`), begin(ann)])
        expect([202, 409]).toContain(next.status)
        if (next.status === 202) await ann.call('DELETE', `/jobs/${next.text('job.id')}`)
      }),
    )
  }
  expect(again()).toBe(0)
  await h.close()
})
