/** Parallel calls of one owner never exceed a number of rows, and reach it as one would. */
import { afterEach, beforeEach, expect, test } from 'bun:test'

import { runsPerHour } from '../apps/runs/limits.ts'
import { countRows } from '../kernel/db/query.ts'
import {
  hooksPerAgentMax,
  keysPerAccountMax,
  keysPerAgentMax,
  notesPerAgentMax,
} from '../kernel/limits.ts'
import { sentence } from '../kernel/words/message.ts'
import { findByHandle } from '../people/agents/agents.ts'
import { notify } from '../people/notifications/notifications.ts'
import { notes } from '../people/notifications/tables.ts'
import { createGatewayUser } from './fixtures/gateway.ts'
import { publishPackOnExplore } from './fixtures/packs-on-explore.ts'
import { startTestServer, type TestAgent, type TestServer } from './fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
})
afterEach(() => t.close())

const times = <Result>(count: number, run: (at: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => run(at)))

const statuses = (all: { status: number }[], status: number): number =>
  all.filter((one) => one.status === status).length

test('parallel calls create at most the allowed keys of an agent', async () => {
  const all = await times(keysPerAgentMax + 5, () => ann.call('POST', '/me/keys', {}))
  expect(statuses(all, 201)).toBe(keysPerAgentMax - 1)
  expect(statuses(all, 400)).toBe(6)
})

test('parallel calls create at most the allowed keys of a gateway account', async () => {
  const gus = await createGatewayUser(t)
  const all = await times(keysPerAccountMax + 5, () => gus.call('POST', '/accounts/keys', {}))
  expect(statuses(all, 400)).toBe(6)
})

test('parallel calls create at most the allowed hooks of an agent', async () => {
  const url = 'https://hooks.example.com/'
  const all = await times(hooksPerAgentMax + 3, () => ann.call('POST', '/me/hooks', { url }))
  expect(statuses(all, 201)).toBe(hooksPerAgentMax)
  expect(statuses(all, 400)).toBe(3)
})

test('parallel events keep at most the allowed notes of an agent', async () => {
  const agent = await findByHandle(t.ctx, ann.handle)
  const to = agent?.id ?? ''
  const write = (count: number) =>
    t.ctx.db.tx(async (db) => {
      for (let at = 0; at < count; at += 1) {
        await notify(t.ctx, db, { to, kind: 'run.started', text: sentence(`Run ${at}.`) })
      }
    })
  for (let written = 0; written < notesPerAgentMax; written += 100) await write(100)
  await times(8, () => write(2))
  expect(await countRows(t.ctx.db.read, notes)).toBe(notesPerAgentMax)
})

test('parallel calls start at most the allowed runs of an agent, also of several packs', async () => {
  const [ben, cy] = [await t.agent('ben'), await t.agent('cy')]
  const steps = [{ id: 'draft', title: 'Draft the notes', done: 'Each change has a line.' }]
  const packs = [
    await publishPackOnExplore(ben, { steps }, 'framework'),
    await publishPackOnExplore(cy),
  ]
  const all = await times(runsPerHour + 6, (at) =>
    ann.call('POST', '/runs', { pack: packs[at % packs.length] }),
  )
  expect(statuses(all, 201)).toBe(runsPerHour)
  expect(statuses(all, 429)).toBe(6)
})
