import { and, asc, between, desc, eq, gt, lt, type SQL, sql } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { changedRowCount, prepared } from '../../kernel/db/query.ts'
import { insertReturning, insertRows } from '../../kernel/db/rows.ts'
import { newId } from '../../kernel/ids.ts'
import { nano, zero } from '../../kernel/money.ts'
import { utcDay } from '../../kernel/time.ts'
import { useCounts, uses } from './tables.ts'
import type { Usage } from './usage.ts'

export type Use = typeof uses.$inferSelect

/** A request that reached a model, before it is numbered. `at`: milliseconds since 1970. */
export type NewUse = Omit<Use, 'id' | 'number' | 'modelNumber' | 'key' | 'error'> & {
  key?: string | null
  error?: string | null
}

const value = sql.placeholder
const countColumns = {
  account: useCounts.account,
  day: useCounts.day,
  model: useCounts.model,
  count: useCounts.count,
  at: useCounts.at,
}
type Count = typeof useCounts.$inferSelect

const addCounts = insertReturning<typeof useCounts, Omit<Count, 'charged'>>(
  useCounts,
  countColumns,
  (db, rows) =>
    db
      .insert(useCounts)
      .values(rows)
      .onConflictDoUpdate({
        target: [useCounts.account, useCounts.day, useCounts.model],
        set: {
          count: sql`${useCounts.count} + excluded.count`,
          charged: sql`${useCounts.charged} + excluded.charged`,
          at: sql`case when excluded.at > ${useCounts.at} then excluded.at else ${useCounts.at} end`,
        },
      })
      .returning(countColumns),
)
const insertRowsOfUses = insertRows(uses, (db, rows) => db.insert(uses).values(rows))

const countName = ({ account, day, model }: Pick<Count, 'account' | 'day' | 'model'>): string =>
  `${account} ${day} ${model}`

/** Returns the totals that rows add to: of the account, of its model, and of its model and day. */
function countsOf(rows: NewUse[]): Count[] {
  const counts = new Map<string, Count>()
  for (const { account, model, at, charged } of rows) {
    for (const name of [
      { account, day: '', model: '' },
      { account, day: '', model },
      { account, day: utcDay(at), model },
    ]) {
      const known = counts.get(countName(name))
      const total = known ?? { ...name, count: 0, charged: zero, at }
      if (!known) counts.set(countName(name), total)
      total.count += 1
      total.charged = nano(total.charged + charged)
      total.at = Math.max(total.at, at)
    }
  }
  return [...counts.values()].sort((a, b) => (countName(a) < countName(b) ? -1 : 1))
}

/** Returns the counts of a row: tokens, or the units that the price is based on. */
export const usageCounts = (usage: Usage) => ({
  input: usage.prompt || usage.characters || Math.ceil(usage.seconds),
  cached: usage.cached,
  output: usage.completion || usage.images,
  reasoning: usage.reasoning,
  searches: usage.searches,
  estimated: usage.estimated,
})

/** Inserts rows into the histories of accounts, within the caller's transaction. */
export async function insertUses(db: Db, rows: NewUse[]): Promise<void> {
  const counts = new Map(
    (await addCounts(db, countsOf(rows))).map((count) => [countName(count), count]),
  )
  /** Counts a row of a total back, from its newest number. */
  const numberOf = (account: string, model: string): { number: number; at: number } => {
    const name = countName({ account, day: '', model })
    const total = counts.get(name)
    if (!total) throw new Error(`The total of ${name} was not counted.`)
    const { count: number, at } = total
    total.count -= 1
    return { number, at }
  }
  const numbered = rows.toReversed().map((use) => {
    const { number, at } = numberOf(use.account, '')
    const { number: modelNumber } = numberOf(use.account, use.model)
    return { key: null, error: null, ...use, id: newId(), number, modelNumber, at }
  })
  await insertRowsOfUses(db, numbered.reverse())
}

/** Inserts a row into the account's history, within the caller's transaction. */
export const insertUse = (db: Db, use: NewUse): Promise<void> => insertUses(db, [use])

/** A page of an account's history. `from` and `to`: inclusive, milliseconds since 1970. */
export interface UseQuery {
  account: string
  model?: string
  from?: number
  to?: number
  /** 1 has the newest rows. */
  page: number
  /** Rows per page. */
  size: number
}

/** Prepares the query for the time of one row of an account. */
const prepareTimeQuery = (row: SQL | undefined) =>
  prepared((db) =>
    db
      .select({ at: uses.at })
      .from(uses)
      .where(and(eq(uses.account, value('account')), row))
      .prepare(),
  )
const timeQuery = prepareTimeQuery(eq(uses.number, value('number')))
const modelTimeQuery = prepareTimeQuery(
  and(eq(uses.model, value('model')), eq(uses.modelNumber, value('number'))),
)

/**
 * Returns a page of an account's history, newest first, and the total of matching rows. Numbers
 * have no gaps and times never decrease, so a binary search finds the first and last number in
 * O(log n).
 */
export async function listUses(db: Db, query: UseQuery): Promise<{ rows: Use[]; total: number }> {
  const { account, model, from, to, page, size } = query
  const number = model === undefined ? uses.number : uses.modelNumber
  const ofModel = model === undefined ? undefined : eq(uses.model, model)
  const mine = and(eq(uses.account, account), ofModel)
  const edge = async (direction: typeof asc) => {
    const numbers = db.select({ number }).from(uses).where(mine)
    const [row] = await numbers.orderBy(direction(number)).limit(1)
    return row?.number
  }
  const [oldest, newest] = [await edge(asc), await edge(desc)]
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

interface NumberRange {
  account: string
  model: string | undefined
  oldest: number
  newest: number
}

/** Returns the lowest number whose row is not before `at`, or the newest number plus one. */
async function firstSince(db: Db, { account, model, oldest, newest }: NumberRange, at: number) {
  const query = model === undefined ? timeQuery(db) : modelTimeQuery(db)
  let [low, high] = [oldest, newest + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = await query.execute({ account, model, number: middle })
    // A missing row was old and has been deleted meanwhile.
    if (row && row.at >= at) high = middle
    else low = middle + 1
  }
  return low
}

const accountsPerBatch = 500
const rowsPerBatch = 1_000

/** Deletes rows from before `before` (milliseconds since 1970), in batches. */
export async function deleteOldUses(engine: Engine, before: number): Promise<void> {
  for (let after = ''; ;) {
    const accounts = await engine.read
      .select({ account: useCounts.account })
      .from(useCounts)
      .where(and(eq(useCounts.day, ''), eq(useCounts.model, ''), gt(useCounts.account, after)))
      .orderBy(asc(useCounts.account))
      .limit(accountsPerBatch)
    for (const { account } of accounts) await deleteOldUsesOf(engine, account, before)
    const last = accounts.at(-1)
    if (!last || accounts.length < accountsPerBatch) return
    after = last.account
  }
}

async function deleteOldUsesOf(engine: Engine, account: string, before: number): Promise<void> {
  const past = and(gt(useCounts.day, ''), lt(useCounts.day, utcDay(before)))
  await engine.tx((db) => db.delete(useCounts).where(and(eq(useCounts.account, account), past)))
  for (let deleted = rowsPerBatch; deleted === rowsPerBatch;) {
    const mine = eq(uses.account, account)
    const rows = engine.read.select({ number: uses.number, at: uses.at }).from(uses).where(mine)
    const [oldest] = await rows.orderBy(asc(uses.number)).limit(1)
    if (!oldest || oldest.at >= before) return
    const batch = between(uses.number, oldest.number, oldest.number + rowsPerBatch - 1)
    const old = and(mine, batch, lt(uses.at, before))
    deleted = changedRowCount(await engine.tx((db) => db.delete(uses).where(old)))
  }
}
