import { and, asc, between, desc, eq, gt, lt, sql } from 'drizzle-orm'

import { newId } from '../core/ids.ts'
import { utcDay } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { changedRowCount, placeholders, prepared } from '../db/query.ts'
import { useCounts, uses } from './tables.ts'
import type { Usage } from './usage.ts'

export type Use = typeof uses.$inferSelect

/** A request that reached a model; the history numbers it. `at` is milliseconds since 1970. */
export type NewUse = Omit<Use, 'id' | 'number' | 'modelNumber'>

const value = sql.placeholder
const counted = { account: value('account'), count: 1, charged: value('charged'), at: value('at') }

const countQuery = prepared((db) =>
  db
    .insert(useCounts)
    .values([
      { ...counted, day: '', model: '' },
      { ...counted, day: '', model: value('model') },
      { ...counted, day: value('day'), model: value('model') },
    ])
    .onConflictDoUpdate({
      target: [useCounts.account, useCounts.day, useCounts.model],
      set: {
        count: sql`${useCounts.count} + 1`,
        charged: sql`${useCounts.charged} + excluded.charged`,
        at: sql`case when excluded.at > ${useCounts.at} then excluded.at else ${useCounts.at} end`,
      },
    })
    .returning({
      day: useCounts.day,
      model: useCounts.model,
      count: useCounts.count,
      at: useCounts.at,
    })
    .prepare(),
)

const insertQuery = prepared((db) => db.insert(uses).values(placeholders(uses)).prepare())

/** The counts of a row are tokens, or the units that the work is paid by. */
export const usageCounts = (usage: Usage) => ({
  input: usage.prompt || usage.characters || Math.ceil(usage.seconds),
  cached: usage.cached,
  output: usage.completion || usage.images,
  reasoning: usage.reasoning,
  searches: usage.searches,
  estimated: usage.estimated,
})

/** Adds a request to its account's history, within the caller's transaction. */
export async function insertUse(db: Db, use: NewUse): Promise<void> {
  const { account, model, at, charged } = use
  const counts = await countQuery(db).execute({ account, day: utcDay(at), model, charged, at })
  const all = counts.find((row) => row.model === '')
  const own = counts.find((row) => row.model === model && row.day === '')
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

/** When the row with this number was, among an account's rows or among those of one model. */
const atQuery = prepared((db) =>
  db
    .select({ at: uses.at })
    .from(uses)
    .where(and(eq(uses.account, value('account')), eq(uses.number, value('number'))))
    .prepare(),
)
const modelAtQuery = prepared((db) =>
  db
    .select({ at: uses.at })
    .from(uses)
    .where(
      and(
        eq(uses.account, value('account')),
        eq(uses.model, value('model')),
        eq(uses.modelNumber, value('number')),
      ),
    )
    .prepare(),
)

/**
 * A page of an account's history, newest first, and how many rows there are in all. The numbers
 * have no gaps and their times never go back, so that both follow from the first and the last
 * number, and these from halving: the cost grows with the digits of the history's length.
 */
export async function listUses(db: Db, query: UseQuery): Promise<{ rows: Use[]; total: number }> {
  const { account, model, from, to, page, size } = query
  const number = model === undefined ? uses.number : uses.modelNumber
  const ofModel = model === undefined ? undefined : eq(uses.model, model)
  const mine = and(eq(uses.account, account), ofModel)
  const end = async (way: typeof asc) => {
    const found = db.select({ number }).from(uses).where(mine)
    const [row] = await found.orderBy(way(number)).limit(1)
    return row?.number
  }
  const [oldest, newest] = [await end(asc), await end(desc)]
  if (oldest === undefined || newest === undefined) return { rows: [], total: 0 }
  const since = (at: number) => firstSince(db, { account, model, oldest, newest }, at)
  const first = from === undefined ? oldest : await since(from)
  const last = to === undefined ? newest : (await since(to + 1)) - 1
  const total = Math.max(0, last - first + 1)
  const high = last - (page - 1) * size
  if (total === 0 || high < first) return { rows: [], total }
  const within = and(mine, between(number, Math.max(first, high - size + 1), high))
  const rows = await db.select().from(uses).where(within).orderBy(desc(number))
  return { rows, total }
}

interface Numbers {
  account: string
  model: string | undefined
  oldest: number
  newest: number
}

/** The lowest number whose row is not before `at`; one above the newest when there is none. */
async function firstSince(db: Db, { account, model, oldest, newest }: Numbers, at: number) {
  const query = model === undefined ? atQuery(db) : modelAtQuery(db)
  let [low, high] = [oldest, newest + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = await query.execute({ account, model, number: middle })
    // A row that is gone was swept meanwhile, and was old.
    if (row && row.at >= at) high = middle
    else low = middle + 1
  }
  return low
}

const accountsAtOnce = 500
const rowsAtOnce = 1_000

/** Forgets what was used before `before` (milliseconds since 1970), some rows at a time. */
export async function deleteOldUses(engine: Engine, before: number): Promise<void> {
  for (let after = ''; ;) {
    const accounts = await engine.read
      .select({ account: useCounts.account })
      .from(useCounts)
      .where(and(eq(useCounts.day, ''), eq(useCounts.model, ''), gt(useCounts.account, after)))
      .orderBy(asc(useCounts.account))
      .limit(accountsAtOnce)
    for (const { account } of accounts) await sweepAccount(engine, account, before)
    const last = accounts.at(-1)
    if (!last || accounts.length < accountsAtOnce) return
    after = last.account
  }
}

async function sweepAccount(engine: Engine, account: string, before: number): Promise<void> {
  const past = and(gt(useCounts.day, ''), lt(useCounts.day, utcDay(before)))
  await engine.tx((db) => db.delete(useCounts).where(and(eq(useCounts.account, account), past)))
  for (let swept = rowsAtOnce; swept === rowsAtOnce;) {
    const mine = eq(uses.account, account)
    const found = engine.read.select({ number: uses.number, at: uses.at }).from(uses).where(mine)
    const [oldest] = await found.orderBy(asc(uses.number)).limit(1)
    if (!oldest || oldest.at >= before) return
    const some = between(uses.number, oldest.number, oldest.number + rowsAtOnce - 1)
    const gone = and(mine, some, lt(uses.at, before))
    swept = changedRowCount(await engine.tx((db) => db.delete(uses).where(gone)))
  }
}
