import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { day } from '../../kernel/time.ts'
import { flushKeyNetworks } from '../../people/agents/keys.ts'
import { publishPackOnExplore } from '../../testing/fixtures/packs-on-explore.ts'
import { createTestPerson } from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { isThorough } from '../../testing/thorough.ts'
import { wilsonLow } from './counting.ts'
import { expireRuns } from './runs.ts'

setDefaultTimeout(60_000)

/**
 * A test of hundreds of runs. The counts of a few runs are those of many, so in CI PostgreSQL gets
 * only the other tests.
 */
const testCrowd = test.skipIf(dialect === 'postgres' && !isThorough)

/** The bounds of docs/spec/packs-and-runs.md, "Manipulation". */
let t: TestServer
let maker: TestAgent
let pack: string
let made = 0

beforeEach(async () => {
  t = await startTestServer()
  maker = await t.agent('mia')
  pack = await publishPackOnExplore(maker)
  await flushKeyNetworks(t.ctx)
})
afterEach(() => t.close())

interface Puppet {
  key: string
  from: string
}

/** Creates agents, each with its own network unless they share one. */
const createAgents = async (count: number, networkOf: (at: number) => string): Promise<Puppet[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const from = networkOf(at)
      const created = await t.call('POST', '/keys', { from })
      return { key: created.text('key'), from }
    }),
  )

/** Addresses of networks that no other group has. */
function networks(perNetwork = 1): (at: number) => string {
  const group = (made += 1)
  return (at) => `10.${group}.${Math.floor(at / perNetwork)}.${(at % perNetwork) + 1}`
}

type Outcome = 'worked' | 'failed' | 'unreported'

async function follow({ key, from }: Puppet, outcome: Outcome): Promise<void> {
  const id = (await t.call('POST', '/runs', { key, from, body: { pack } })).text('run.id')
  if (outcome === 'unreported') return
  const body = { outcome, summary: 'Followed.' }
  await t.call('POST', `/runs/${id}/report`, { key, from, body })
}

const followAll = async (group: Puppet[], outcomeOf: (at: number) => Outcome): Promise<void> => {
  for (const [at, one] of group.entries()) await follow(one, outcomeOf(at))
}

const recordOf = async () => Object(await t.call('GET', `/packs/${pack}/record`)).body.record
const successLow = async (): Promise<number> => (await recordOf()).successLow

/** Forty honest agents of forty networks; `share` of them succeed. */
async function honestRecord(share: number): Promise<number> {
  const honest = await createAgents(40, networks())
  t.clock.advance(2 * day)
  await followAll(honest, (at) => (at < 40 * share ? 'worked' : 'failed'))
  const low = await successLow()
  expect(low).toBeCloseTo(wilsonLow(40 * share, 40), 3)
  return low
}

testCrowd('50 sock puppets on the network of the maker move nothing', async () => {
  const before = await honestRecord(0.5)
  const [a, b, c] = maker.from.split('.')
  const puppets = await createAgents(50, (at) => `${a}.${b}.${c}.${at + 100}`)
  await followAll(puppets, () => 'worked')
  expect(await successLow()).toBe(before)
  expect(await recordOf()).toMatchObject({ runs: 90, counted: 40 })
})

testCrowd(
  '50 sock puppets on one other network move at most 0.02 while new, and 0.08 later',
  async () => {
    const before = await honestRecord(0.5)
    const puppets = await createAgents(50, networks(50))
    await followAll(puppets, () => 'worked')
    expect((await recordOf()).counted).toBe(41)
    expect((await successLow()) - before).toBeLessThanOrEqual(0.02)
    t.clock.advance(8 * day)
    await followAll(puppets, () => 'worked')
    expect((await recordOf()).counted).toBe(46)
    expect((await successLow()) - before).toBeLessThanOrEqual(0.08)
  },
)

testCrowd('50 new sock puppets on 10 other networks move at most 0.12', async () => {
  const before = await honestRecord(0.5)
  const puppets = await createAgents(50, networks(5))
  await followAll(puppets, () => 'worked')
  expect((await recordOf()).counted).toBe(50)
  expect((await successLow()) - before).toBeLessThanOrEqual(0.12)
})

testCrowd(
  'a ring of 10 owners moves at most 0.33 in a week, however many agents and runs',
  async () => {
    const before = await honestRecord(0.5)
    const ring: Puppet[] = []
    for (let owner = 0; owner < 10; owner += 1) {
      const person = await createTestPerson(t, `ring-${owner}`)
      for (const agent of await createAgents(2, networks())) {
        const claim = await t.call('POST', '/me/claim', { key: agent.key, from: agent.from })
        await person.call('POST', '/claim', { code: claim.text('claim.code') })
        ring.push(agent)
      }
    }
    for (let today = 0; today < 6; today += 1) {
      await followAll(ring, () => 'worked')
      t.clock.advance(day)
    }
    expect(await recordOf()).toMatchObject({ runs: 160, counted: 90 })
    expect((await successLow()) - before).toBeLessThanOrEqual(0.33)
  },
)

test('reporting only successes is worth nothing: the others expire', async () => {
  const group = await createAgents(20, networks())
  t.clock.advance(2 * day)
  await followAll(group, (at) => (at < 12 ? 'worked' : 'unreported'))
  t.clock.advance(8 * day)
  await expireRuns(t.ctx)
  expect(await successLow()).toBeCloseTo(wilsonLow(12, 20), 3)
})

test('starting until it works counts the first run of the day', async () => {
  const [one] = await createAgents(1, networks())
  t.clock.advance(2 * day)
  if (!one) throw new Error('no agent')
  await follow(one, 'unreported')
  await follow(one, 'worked')
  await follow(one, 'worked')
  t.clock.advance(8 * day)
  await expireRuns(t.ctx)
  expect(await recordOf()).toMatchObject({ runs: 3, counted: 1, expired: 1, worked: 0 })
})

test('a rival lowers by at most 0.11 in a week, with new agents on its network by 0.03', async () => {
  const before = await honestRecord(0.9)
  const rivals = await createAgents(20, networks(20))
  await followAll(rivals, () => 'failed')
  expect(before - (await successLow())).toBeLessThanOrEqual(0.03)
  t.clock.advance(8 * day)
  const [grown] = await createAgents(1, networks())
  if (!grown) throw new Error('no agent')
  t.clock.advance(2 * day)
  const start = await successLow()
  for (let today = 0; today < 6; today += 1) {
    await follow(grown, 'failed')
    t.clock.advance(day)
  }
  expect((await recordOf()).counted).toBe(46)
  expect(start - (await successLow())).toBeLessThanOrEqual(0.11)
})
