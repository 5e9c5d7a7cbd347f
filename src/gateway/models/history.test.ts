import { afterEach, beforeEach, expect, test } from 'bun:test'

import type { Engine } from '../../kernel/db/engine.ts'
import { nano } from '../../kernel/money.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import { deleteOldUses, insertUse, listUses, type NewUse, type UseQuery } from './history.ts'

let db: Engine
beforeEach(async () => {
  db = await freshEngine()
})
afterEach(() => db.close())

const use = (parts: Partial<NewUse> = {}): NewUse => ({
  account: 'gateway:gus',
  model: 'demo/chat',
  requestId: 'r',
  at: 1_000,
  type: 'chat',
  source: 'api',
  status: 'completed',
  upstream: 'demo',
  price: 'pr_1',
  input: 11,
  cached: 4,
  output: 7,
  reasoning: 2,
  searches: 0,
  estimated: false,
  charged: nano(9_007_199_254_740_993n),
  held: nano(9_007_199_254_740_995n),
  ms: 12,
  firstByteMs: null,
  ...parts,
})

/** Inserts in several transactions, because each has a deadline. */
const rowsAtOnce = 100

async function add(...rows: Partial<NewUse>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await db.tx(async (tx) => {
      for (const row of rows.slice(at, at + rowsAtOnce)) await insertUse(tx, use(row))
    })
  }
}

async function list(query: Partial<UseQuery> = {}) {
  const { rows, total } = await listUses(db.read, {
    account: 'gateway:gus',
    page: 1,
    size: 10,
    ...query,
  })
  return { ids: rows.map(({ requestId }) => requestId).join(' '), rows, total }
}

test('returns a row as inserted, with exact amounts', async () => {
  await add({ requestId: 'one', estimated: true, firstByteMs: 5 })
  const { rows, total } = await list()
  expect(total).toBe(1)
  const [row] = rows
  expect(row).toMatchObject(use({ requestId: 'one', estimated: true, firstByteMs: 5 }))
  expect(row?.id).toHaveLength(12)
})

test('lists an account’s rows, newest first, in pages', async () => {
  await add(...['a', 'b', 'c', 'd', 'e'].map((requestId, at) => ({ requestId, at })))
  await add({ account: 'gateway:ben', requestId: 'x' })
  expect(await list({ size: 2 })).toMatchObject({ ids: 'e d', total: 5 })
  expect(await list({ size: 2, page: 3 })).toMatchObject({ ids: 'a', total: 5 })
  expect(await list({ size: 2, page: 4 })).toMatchObject({ ids: '', total: 5 })
  expect(await list({ account: 'gateway:ben' })).toMatchObject({ ids: 'x', total: 1 })
  expect(await list({ account: 'gateway:cy' })).toMatchObject({ ids: '', total: 0 })
})

test('counts and pages the rows of one model', async () => {
  const models = ['m/a', 'm/b', 'm/a', 'm/b', 'm/a']
  await add(...models.map((model, at) => ({ model, at, requestId: String(at) })))
  expect(await list({ model: 'm/a' })).toMatchObject({ ids: '4 2 0', total: 3 })
  expect(await list({ model: 'm/a', size: 1, page: 2 })).toMatchObject({ ids: '2', total: 3 })
  expect(await list({ model: 'm/b', from: 2 })).toMatchObject({ ids: '3', total: 1 })
  expect(await list({ model: 'm/c' })).toMatchObject({ ids: '', total: 0 })
})

test('treats from and to as inclusive', async () => {
  const times = [10, 20, 20, 20, 30]
  await add(...times.map((at, n) => ({ at, requestId: String(n) })))
  expect(await list({ from: 20 })).toMatchObject({ ids: '4 3 2 1', total: 4 })
  expect(await list({ to: 20 })).toMatchObject({ ids: '3 2 1 0', total: 4 })
  expect(await list({ from: 20, to: 20, size: 2 })).toMatchObject({ ids: '3 2', total: 3 })
  expect(await list({ from: 21, to: 29 })).toMatchObject({ ids: '', total: 0 })
  expect(await list({ from: 31 })).toMatchObject({ ids: '', total: 0 })
})

test('keeps the order of rows when the clock goes back', async () => {
  await add({ at: 50, requestId: 'a' }, { at: 10, requestId: 'b' }, { at: 60, requestId: 'c' })
  expect(await list()).toMatchObject({ ids: 'c b a', total: 3 })
  expect(await list({ from: 50, to: 50 })).toMatchObject({ ids: 'b a', total: 2 })
})

test('leaves no gap after a failed transaction', async () => {
  await add({ requestId: 'a' })
  const failed = db.tx(async (tx) => {
    await insertUse(tx, use({ requestId: 'lost' }))
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  await add({ requestId: 'b' })
  expect(await list({ size: 1, page: 2 })).toMatchObject({ ids: 'a', total: 2 })
})

test('numbers concurrent rows without gaps', async () => {
  const names = Array.from({ length: 30 }, (_, at) => String(at))
  await Promise.all(
    names.map((requestId) => add({ requestId, model: `m/${Number(requestId) % 3}` })),
  )
  const { rows, total } = await list({ size: 100 })
  expect(total).toBe(30)
  expect(rows.map(({ number }) => number)).toEqual(names.map((_, at) => 30 - at))
  expect(await list({ model: 'm/1', size: 100 })).toMatchObject({ total: 10 })
})

test('deletes old rows of all accounts and keeps the rest countable', async () => {
  const many = Array.from({ length: 2_500 }, (_, at) => ({
    at,
    requestId: String(at),
    charged: nano(1n),
  }))
  // Within the time of a transaction on a busy machine.
  while (many.length > 0) await add(...many.splice(0, 500))
  await add({ account: 'gateway:ben', at: 5 }, { account: 'gateway:ben', at: 2_400 })
  await deleteOldUses(db, 2_400)
  expect(await list({ size: 2 })).toMatchObject({ ids: '2499 2498', total: 100 })
  expect(await list({ page: 50, size: 2 })).toMatchObject({ ids: '2401 2400', total: 100 })
  expect((await list({ account: 'gateway:ben' })).total).toBe(1)
  await deleteOldUses(db, 10_000)
  expect((await list()).total).toBe(0)
  await add({ requestId: 'new' })
  expect(await list()).toMatchObject({ ids: 'new', total: 1 })
})
