import { and, count, desc, eq, gt, gte, inArray, lt, lte, max, notLike, sql } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { hasRows, sumOf } from '../../kernel/db/query.ts'
import { csvRowsMax } from '../../kernel/limits.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { type Clock, day, minute, nextUtcDay, utcDay } from '../../kernel/time.ts'
import { accountOf, type Owner, serviceAccounts } from './accounts.ts'
import { type Period, periodAt } from './holds.ts'
import { type AccountId, accounts, caps, entries, holds, isItemizedKind } from './tables.ts'

/** The total charges of an owner for each itemized kind of work. */
export type SpendingByKind = Record<'build' | 'icon' | 'assets' | 'remix', NanoUsd>

/** Sums the charges of an owner by kind. A partial index has only these kinds. */
export async function sumSpending(ctx: { db: Engine }, owner: Owner): Promise<SpendingByKind> {
  const rows = await ctx.db.read
    .select({ kind: holds.kind, charged: sumOf(holds.charged) })
    .from(holds)
    .where(and(eq(holds.account, accountOf(owner)), isItemizedKind(holds.kind)))
    .groupBy(holds.kind)
  const sums = new Map(rows.map(({ kind, charged }) => [kind, charged]))
  const sum = (kind: string): NanoUsd => sums.get(kind) ?? zero
  return { build: sum('build'), icon: sum('icon'), assets: sum('assets'), remix: sum('remix') }
}

/** The spending of a counter in the current periods (UTC), settled and held. */
export type PeriodSpending = Record<Period, NanoUsd>

/** Returns the spending of key counters in the current day, week and month. */
export async function sumSpendingByPeriod(
  { db, clock }: { db: Engine; clock: Clock },
  counters: string[],
): Promise<(counter: string) => PeriodSpending> {
  const startOf = (period: Period) => utcDay(periodAt(period, clock.now()).start)
  const [day, week, month] = [startOf('day'), startOf('week'), startOf('month')]
  const since = (start: string) =>
    sumOf(sql`case when ${caps.day} >= ${start} then ${caps.used} else 0 end`)
  const rows = await db.read
    .select({ key: caps.key, day: since(day), week: since(week), month: since(month) })
    .from(caps)
    .where(and(inArray(caps.key, counters), gte(caps.day, week < month ? week : month)))
    .groupBy(caps.key)
  const found = new Map(rows.map(({ key, ...spent }) => [key, spent]))
  return (counter) => found.get(counter) ?? { day: zero, week: zero, month: zero }
}

export interface DailyAmount {
  day: string
  amount: NanoUsd
}

const used = sumOf(caps.used)
/**
 * Leaves out the counters that count the spending of a key once more: of its project, of an app in
 * a chat, and of players for whom an agent pays, which is in the counter of that agent.
 */
const ofKeys = and(
  ...['project:%', 'chat:%', 'sponsor:%', 'allowance:%', 'allowance'].map((other) =>
    notLike(caps.key, other),
  ),
)

/**
 * Returns the spending of a counter, or of all keys, on each of some consecutive UTC days, settled
 * and held, oldest first and without gaps.
 */
export async function listDailySpending(
  { db }: { db: Engine },
  days: string[],
  counter?: string,
): Promise<DailyAmount[]> {
  const isCounted = counter === undefined ? ofKeys : eq(caps.key, counter)
  const rows = await db.read
    .select({ day: caps.day, amount: used })
    .from(caps)
    .where(and(isCounted, gte(caps.day, days[0] ?? '')))
    .groupBy(caps.day)
  const amounts = new Map(rows.map(({ day, amount }) => [day, amount]))
  return days.map((day) => ({ day, amount: amounts.get(day) ?? zero }))
}

/** The latest UTC day with spending of a key counter, and its spending today. */
export interface LatestSpending {
  day: string
  today: NanoUsd
}

/** Returns the latest spending of key counters by key, without unused ones. */
export async function findLatestSpending(
  { db, clock }: { db: Engine; clock: Clock },
  keys: string[],
): Promise<Map<string, LatestSpending>> {
  const today = utcDay(clock.now())
  const usedToday = sumOf(sql`case when ${caps.day} = ${today} then ${caps.used} else 0 end`)
  const rows = await db.read
    .select({ key: caps.key, day: sql<string>`max(${caps.day})`, today: usedToday })
    .from(caps)
    .where(inArray(caps.key, keys))
    .groupBy(caps.key)
  return new Map(rows.map(({ key, ...last }) => [key, last]))
}

/** The spending of one key counter (`counterOf` in money/keys/keys.ts). */
export interface Spender {
  key: string
  amount: NanoUsd
}

/** Returns the keys that spent most since a UTC day ("2026-05-04"), settled and held. */
export const listTopKeys = (
  { db }: { db: Engine },
  since: string,
  limit: number,
): Promise<Spender[]> =>
  db.read
    .select({ key: caps.key, amount: used })
    .from(caps)
    .where(and(gte(caps.day, since), ofKeys))
    .groupBy(caps.key)
    .orderBy(desc(used))
    .limit(limit)

/** Selects sales by time (`from` inclusive, `to` exclusive, in milliseconds) and by item. */
export interface SalesFilter {
  from?: number | undefined
  to?: number | undefined
  item?: string | undefined
}

/**
 * Sales, with what buyers paid (`gross`) and the seller's share of it (`net`). A call of a model
 * with a margin is a sale of its app.
 */
export interface Earnings {
  sales: number
  gross: NanoUsd
  net: NanoUsd
}

export interface ItemEarnings extends Earnings {
  item: string
}

const sums = {
  sales: count(),
  gross: sumOf(holds.charged),
  net: sumOf(entries.amount),
}

const soldBy = (owner: Owner, { from, to, item }: SalesFilter) =>
  and(
    eq(entries.account, accountOf(owner)),
    // Literals, because the partial indexes over sales and margins have the same conditions.
    sql`((${entries.kind} = 'remix' and ${entries.amount} > 0) or ${entries.kind} = 'margin')`,
    from === undefined ? undefined : gte(entries.at, from),
    to === undefined ? undefined : lt(entries.at, to),
    item === undefined ? undefined : eq(entries.item, item),
  )

export async function sumEarnings(
  ctx: { db: Engine },
  owner: Owner,
  period: SalesFilter,
): Promise<Earnings> {
  const [row] = await ctx.db.read
    .select(sums)
    .from(entries)
    .innerJoin(holds, eq(holds.ref, entries.ref))
    .where(soldBy(owner, period))
  if (!row) throw new Error('The sum of sales returned no row.')
  return row
}

/** Sums the sales of an owner by item, highest `net` first, starting behind the item `after`. */
export async function listEarningsByItem(
  ctx: { db: Engine },
  owner: Owner,
  period: SalesFilter,
  { limit, after }: { limit: number; after?: { net: bigint; item: string } | undefined },
): Promise<ItemEarnings[]> {
  const item = sql<string>`coalesce(${entries.item}, '')`
  const net = sql`sum(${entries.amount})`
  const rows = ctx.db.read
    .select({ item, ...sums })
    .from(entries)
    .innerJoin(holds, eq(holds.ref, entries.ref))
    .where(soldBy(owner, period))
    .groupBy(entries.item)
    .orderBy(desc(net), desc(item))
    .limit(Math.min(limit, csvRowsMax))
  return after ? rows.having(sql`(${net}, ${item}) < (${after.net}, ${after.item})`) : rows
}

/** Sums over the whole ledger in nano-USD. */
export interface Totals {
  /** The operator's revenue since the start. */
  income: NanoUsd
  /** The balances of all owners' accounts. */
  balance: NanoUsd
  /** The part of `balance` that open holds reserve. */
  held: NanoUsd
}

/** Reads the service accounts and the open holds, so the cost does not grow with accounts. */
export async function readTotals({ db }: { db: Engine }): Promise<Totals> {
  const [own, [open]] = await Promise.all([
    db.read
      .select({ id: accounts.id, balance: accounts.balance })
      .from(accounts)
      .where(inArray(accounts.id, Object.values(serviceAccounts))),
    db.read
      .select({ held: sumOf(holds.amount) })
      .from(holds)
      .where(sql`${holds.state} = 'held'`),
  ])
  const income = own.find(({ id }) => id === serviceAccounts.income)?.balance ?? zero
  // All entries sum to zero, so the owners have what the service accounts lack.
  const serviceBalance = own.reduce((sum, { balance }) => sum + balance, 0n)
  return { income, balance: nano(-serviceBalance), held: open?.held ?? zero }
}

/** Returns the total income before a time, by binary search over the numbered entries. */
async function incomeBefore(db: Db, newest: number, at: number): Promise<NanoUsd> {
  let [low, high] = [0, newest]
  let income = zero
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [entry] = await db
      .select({ at: entries.at, balance: entries.balance })
      .from(entries)
      .where(and(eq(entries.account, serviceAccounts.income), eq(entries.number, middle)))
    if (entry && entry.at < at) [low, income] = [middle, entry.balance]
    else high = middle - 1
  }
  return income
}

/** Returns the operator's revenue on each of the last `days` UTC days, oldest first. */
export async function listDailyIncome(
  { db, clock }: { db: Engine; clock: Clock },
  days: number,
): Promise<DailyAmount[]> {
  const end = nextUtcDay(clock.now())
  const [account] = await db.read
    .select({ number: accounts.entries })
    .from(accounts)
    .where(eq(accounts.id, serviceAccounts.income))
  const ends = Array.from({ length: days + 1 }, (_, at) => end - (days - at) * day)
  const incomes: NanoUsd[] = []
  for (const at of ends) incomes.push(await incomeBefore(db.read, account?.number ?? 0, at))
  return ends.slice(0, -1).map((from, at) => ({
    day: utcDay(from),
    amount: nano((incomes[at + 1] ?? zero) - (incomes[at] ?? zero)),
  }))
}

export type Entry = typeof entries.$inferSelect

interface EntriesPage {
  before?: number | undefined
  from?: number
  to?: number
  limit: number
}

/**
 * Returns at most `limit` entries of an account, newest first, with numbers below `before`, from
 * `from` to `to` in milliseconds, both inclusive. The `number` of the last entry is the `before` of
 * the next page.
 */
export function listEntries(
  ctx: { db: Engine },
  owner: Owner,
  { before, from, to, limit }: EntriesPage,
): Promise<Entry[]> {
  return ctx.db.read
    .select()
    .from(entries)
    .where(
      and(
        eq(entries.account, accountOf(owner)),
        before === undefined ? undefined : lt(entries.number, before),
        from === undefined ? undefined : gte(entries.at, from),
        to === undefined ? undefined : lte(entries.at, to),
      ),
    )
    .orderBy(desc(entries.number))
    .limit(Math.min(limit, csvRowsMax))
}

/** Returns whether an account has ever held credits that are not free ones. */
export async function hasBeenFunded(db: Db, account: AccountId): Promise<boolean> {
  return hasRows(db, entries, and(eq(entries.account, account), gt(entries.balance, entries.free)))
}

/** Returns the time of the newest entry if it is more than a minute ahead of the clock. */
export async function findFutureEntry(ctx: {
  db: Engine
  clock: Clock
}): Promise<number | undefined> {
  const [newest] = await ctx.db.read.select({ at: max(entries.at) }).from(entries)
  const at = newest?.at ?? 0
  return at > ctx.clock.now() + minute ? at : undefined
}
