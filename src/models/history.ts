import { and, asc, between, desc, eq, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm'

import { newId } from '../core/ids.ts'
import type { Db, Engine } from '../db/engine.ts'
import { prepared } from '../db/query.ts'
import { useCounts, uses } from './tables.ts'

export type Use = typeof uses.$inferSelect

/** A request that reached a model; the history numbers it. `at` is milliseconds since 1970. */
export type NewUse = Omit<Use, 'id' | 'number' | 'modelNumber'>

const value = sql.placeholder

const countQuery = prepared((db) =>
  db
    .insert(useCounts)
    .values([
      { account: value('account'), model: '', count: 1, at: value('at') },
      { account: value('account'), model: value('model'), count: 1, at: value('at') },
    ])
    .onConflictDoUpdate({
      target: [useCounts.account, useCounts.model],
      set: {
        count: sql`${useCounts.count} + 1`,
        at: sql`case when excluded.at > ${useCounts.at} then excluded.at else ${useCounts.at} end`,
      },
    })
    .returning({ model: useCounts.model, count: useCounts.count, at: useCounts.at })
    .prepare(),
)

const insertQuery = prepared((db) =>
  db
    .insert(uses)
    .values({
      account: value('account'),
      number: value('number'),
      model: value('model'),
      modelNumber: value('modelNumber'),
      id: value('id'),
      requestId: value('requestId'),
      at: value('at'),
      type: value('type'),
      source: value('source'),
      status: value('status'),
      upstream: value('upstream'),
      price: value('price'),
      input: value('input'),
      cached: value('cached'),
      output: value('output'),
      reasoning: value('reasoning'),
      estimated: value('estimated'),
      charged: value('charged'),
      held: value('held'),
      ms: value('ms'),
      firstByteMs: value('firstByteMs'),
    })
    .prepare(),
)

/** Adds a request to its account's history, within the caller's transaction. */
export async function insertUse(db: Db, use: NewUse): Promise<void> {
  const { account, model, at } = use
  const counts = await countQuery(db).execute({ account, model, at })
  const all = counts.find((row) => row.model === '')
  const own = counts.find((row) => row.model === model)
  if (!all || !own) throw new Error(`The history of ${account} could not be numbered.`)
  const numbers = { number: all.count, modelNumber: own.count }
  await insertQuery(db).execute({ ...use, ...numbers, id: newId(), at: all.at })
}

/** Which part of an account's history: `from` and `to` are inclusive milliseconds since 1970. */
export interface UseQuery {
  account: string
  model?: string
  from?: number
  to?: number
  /** 1 is the newest. */
  page: number
  /** Rows of a page. */
  size: number
}

/**
 * A page of an account's history, newest first, and how many rows there are in all. The numbers
 * have no gaps, so that both follow from the first and the last number, whatever lies between:
 * each costs one step down an index.
 */
export async function listUses(db: Db, query: UseQuery): Promise<{ rows: Use[]; total: number }> {
  const number = query.model === undefined ? uses.number : uses.modelNumber
  const mine =
    query.model === undefined
      ? eq(uses.account, query.account)
      : and(eq(uses.account, query.account), eq(uses.model, query.model))
  const end = async (way: typeof asc, at: SQL | undefined) => {
    const found = db.select({ number }).from(uses).where(and(mine, at))
    const [row] = await found.orderBy(way(uses.at), way(number)).limit(1)
    return row?.number
  }
  const { from, to, page, size } = query
  const first = await end(asc, from === undefined ? undefined : gte(uses.at, from))
  const last = await end(desc, to === undefined ? undefined : lte(uses.at, to))
  if (first === undefined || last === undefined || first > last) return { rows: [], total: 0 }
  const total = last - first + 1
  const high = last - (page - 1) * size
  if (high < first) return { rows: [], total }
  const within = and(mine, between(number, Math.max(first, high - size + 1), high))
  const rows = await db.select().from(uses).where(within).orderBy(desc(number))
  return { rows, total }
}

const accountsAtOnce = 500
const rowsAtOnce = 1_000

/** Forgets what was used before `before` (milliseconds since 1970), some rows at a time. */
export async function sweepUses(engine: Engine, before: number): Promise<void> {
  for (let after = ''; ;) {
    const accounts = await engine.read
      .select({ account: useCounts.account })
      .from(useCounts)
      .where(and(eq(useCounts.model, ''), gt(useCounts.account, after)))
      .orderBy(asc(useCounts.account))
      .limit(accountsAtOnce)
    for (const { account } of accounts) await sweepAccount(engine, account, before)
    const last = accounts.at(-1)
    if (!last || accounts.length < accountsAtOnce) return
    after = last.account
  }
}

async function sweepAccount(engine: Engine, account: string, before: number): Promise<void> {
  const old = and(eq(uses.account, account), lt(uses.at, before))
  for (let swept = rowsAtOnce; swept === rowsAtOnce;) {
    const found = engine.read.select({ number: uses.number }).from(uses).where(old)
    const [last] = await found.orderBy(asc(uses.at), asc(uses.number)).limit(1)
    if (!last) return
    const upTo = last.number + rowsAtOnce - 1
    const gone = await engine.tx((db) =>
      db
        .delete(uses)
        .where(and(old, lte(uses.number, upTo)))
        .returning({ number: uses.number }),
    )
    swept = gone.length
  }
}
