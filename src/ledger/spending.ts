import { and, eq, gte, inArray, sql } from 'drizzle-orm'

import { type NanoUsd, zero } from '../core/money.ts'
import { type Clock, lastDays, utcDay } from '../core/time.ts'
import type { Engine } from '../db/engine.ts'
import { sumOf } from '../db/query.ts'
import { accountOf, type Owner } from './accounts.ts'
import { caps, holds, isTold } from './tables.ts'

/** What an owner has paid so far for each kind of work that is told one by one. */
export type Spending = Record<'build' | 'icon' | 'assets' | 'remix', NanoUsd>

/** Sums what an owner was charged, by kind: an index holds just these kinds. */
export async function spendingOf(ctx: { db: Engine }, owner: Owner): Promise<Spending> {
  const rows = await ctx.db.read
    .select({ kind: holds.kind, charged: sumOf(holds.charged) })
    .from(holds)
    .where(and(eq(holds.account, accountOf(owner)), isTold(holds.kind)))
    .groupBy(holds.kind)
  const sums = new Map(rows.map(({ kind, charged }) => [kind, charged]))
  const sum = (kind: string): NanoUsd => sums.get(kind) ?? zero
  return { build: sum('build'), icon: sum('icon'), assets: sum('assets'), remix: sum('remix') }
}

/** What was spent on one UTC day. */
export interface Spent {
  day: string
  amount: NanoUsd
}

/**
 * What these counters of keys (keys.capOf) spent on each of the last `days` days, oldest first,
 * settled and held; days without spending too.
 */
export async function spentByDay(
  { db, clock }: { db: Engine; clock: Clock },
  keys: string[],
  days: number,
): Promise<Spent[]> {
  const all = lastDays(clock, days)
  const rows = await db.read
    .select({ day: caps.day, used: sumOf(caps.used) })
    .from(caps)
    .where(and(inArray(caps.key, keys), gte(caps.day, all[0] ?? '')))
    .groupBy(caps.day)
  const used = new Map(rows.map((row) => [row.day, row.used]))
  return all.map((on) => ({ day: on, amount: used.get(on) ?? zero }))
}

/** The last UTC day on which a counter of a key was spent from, and what it spent today. */
export interface LastSpent {
  day: string
  today: NanoUsd
}

/** When these counters of keys were last spent from; one that never was is not told. */
export async function lastSpent(
  { db, clock }: { db: Engine; clock: Clock },
  keys: string[],
): Promise<Map<string, LastSpent>> {
  const today = utcDay(clock.now())
  const usedToday = sumOf(sql`case when ${caps.day} = ${today} then ${caps.used} else 0 end`)
  const rows = await db.read
    .select({ key: caps.key, day: sql<string>`max(${caps.day})`, today: usedToday })
    .from(caps)
    .where(inArray(caps.key, keys))
    .groupBy(caps.key)
  return new Map(rows.map(({ key, ...last }) => [key, last]))
}
