import { afterEach, beforeEach, expect, test } from 'bun:test'

import type { Engine } from '../../kernel/db/engine.ts'
import { nano } from '../../kernel/money.ts'
import { day } from '../../kernel/time.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import { deleteOldUses, insertUse } from './history.ts'
import { getSpending, listUsedModels } from './spending.ts'

const now = Date.UTC(2026, 4, 4, 12)
const clock = { now: () => now }
const gus = 'gateway:gus'

let db: Engine
beforeEach(async () => {
  db = await freshEngine()
})
afterEach(() => db.close())

const add = (model: string, daysAgo: number, charged: bigint, account = gus) =>
  db.tx((tx) =>
    insertUse(tx, {
      account,
      model,
      requestId: 'r',
      at: now - daysAgo * day,
      type: 'chat',
      source: 'web',
      status: 'completed',
      upstream: 'demo',
      price: 'pr_1',
      input: 1,
      cached: 0,
      output: 1,
      reasoning: 0,
      searches: 0,
      estimated: false,
      ms: 1,
      firstByteMs: null,
      charged: nano(charged),
      held: nano(charged),
    }),
  )
const spent = (days: number, models = 5) => getSpending({ db, clock }, gus, { days, models })

test('returns exact spending by day and by model, highest first', async () => {
  const large = 4_503_599_627_370_497n
  await add('m/a', 2, large)
  await add('m/a', 2, large)
  await add('m/b', 0, 7n)
  await add('m/c', 0, 0n)
  await add('m/a', 3, 1n)
  await add('m/b', 0, 99n, 'gateway:ben')
  expect(await spent(3)).toEqual({
    days: [
      { day: '2026-05-02', amount: nano(2n * large) },
      { day: '2026-05-03', amount: nano(0n) },
      { day: '2026-05-04', amount: nano(7n) },
    ],
    models: [
      { model: 'm/a', requests: 2, amount: nano(2n * large) },
      { model: 'm/b', requests: 1, amount: nano(7n) },
      { model: 'm/c', requests: 1, amount: nano(0n) },
    ],
  })
  expect((await spent(4, 1)).models).toEqual([
    { model: 'm/a', requests: 3, amount: nano(2n * large + 1n) },
  ])
  expect(await listUsedModels(db.read, gus, 2)).toEqual(['m/a', 'm/b'])
})

test('deletes old days and keeps the numbers of the history', async () => {
  await add('m/a', 3, 5n)
  await add('m/a', 2, 5n)
  await deleteOldUses(db, Date.UTC(2026, 4, 2))
  expect((await spent(9)).models).toEqual([{ model: 'm/a', requests: 1, amount: nano(5n) }])
  expect(await listUsedModels(db.read, gus, 9)).toEqual(['m/a'])
})
