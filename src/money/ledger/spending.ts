import { and, desc, eq, gte, inArray, notLike, sql } from 'drizzle-orm'

import type { Engine } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { type Clock, lastDays, utcDay } from '../../kernel/time.ts'
import { accountOf, type Owner } from './accounts.ts'
import { type Period, periodAt } from './caps.ts'
import { caps, holds, isItemizedKind } from './tables.ts'

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

/**
 * Returns the spending of key counters (`capOf` in money/keys/keys.ts) on each of the last `days`
 * days, settled and held, oldest first and without gaps.
 */
export async function listDailySpending(
  { db, clock }: { db: Engine; clock: Clock },
  keys: string[],
  days: number,
): Promise<DailyAmount[]> {
  const all = lastDays(clock, days)
  const rows = await db.read
    .select({ day: caps.day, used: sumOf(caps.used) })
    .from(caps)
    .where(and(inArray(caps.key, keys), gte(caps.day, all[0] ?? '')))
    .groupBy(caps.day)
  const used = new Map(rows.map((row) => [row.day, row.used]))
  return all.map((on) => ({ day: on, amount: used.get(on) ?? zero }))
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

const used = sumOf(caps.used)
/** Projects count the spending of their keys once more. */
const ofKeys = notLike(caps.key, 'project:%')

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

/** Returns what all keys spent on each of some consecutive UTC days, oldest first. */
export async function listSpendingByDay(
  { db }: { db: Engine },
  days: string[],
): Promise<DailyAmount[]> {
  const rows = await db.read
    .select({ day: caps.day, amount: used })
    .from(caps)
    .where(and(gte(caps.day, days[0] ?? ''), ofKeys))
    .groupBy(caps.day)
  const amounts = new Map(rows.map(({ day, amount }) => [day, amount]))
  return days.map((day) => ({ day, amount: amounts.get(day) ?? zero }))
}
