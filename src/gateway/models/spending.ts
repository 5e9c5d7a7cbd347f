import { and, asc, desc, eq, gt, gte, sql } from 'drizzle-orm'

import type { Engine } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { type Clock, lastDays } from '../../kernel/time.ts'
import { useCounts } from './tables.ts'

/** An account's spending on one model. */
export interface ModelSpending {
  model: string
  requests: number
  amount: NanoUsd
}

/** An account's spending by day, oldest first, and by model, highest first. */
export interface Spending {
  days: { day: string; amount: NanoUsd }[]
  models: ModelSpending[]
}

const charged = sumOf(useCounts.charged)
const requests = sql<number>`sum(${useCounts.count})`.mapWith(Number)

/** Returns an account's gateway charges of the last `days` UTC days, including today. */
export async function getSpending(
  { db, clock }: { db: Engine; clock: Clock },
  account: string,
  limits: { days: number; models: number },
): Promise<Spending> {
  const all = lastDays(clock, limits.days)
  const within = and(eq(useCounts.account, account), gte(useCounts.day, all[0] ?? ''))
  const [byDay, models] = await Promise.all([
    db.read
      .select({ day: useCounts.day, amount: charged })
      .from(useCounts)
      .where(within)
      .groupBy(useCounts.day),
    db.read
      .select({ model: useCounts.model, requests, amount: charged })
      .from(useCounts)
      .where(within)
      .groupBy(useCounts.model)
      .orderBy(desc(charged), asc(useCounts.model))
      .limit(limits.models),
  ])
  const amounts = new Map(byDay.map((row) => [row.day, row.amount]))
  return { days: all.map((on) => ({ day: on, amount: amounts.get(on) ?? zero })), models }
}

/** Returns what all calls of an account have cost. */
export async function totalCharged(db: Engine, account: string): Promise<NanoUsd> {
  const ofAll = and(eq(useCounts.day, ''), eq(useCounts.model, ''))
  const [row] = await db.read
    .select({ charged: useCounts.charged })
    .from(useCounts)
    .where(and(eq(useCounts.account, account), ofAll))
  return row?.charged ?? zero
}

/** Lists the ids of at most `limit` models that an account has used. */
export async function listUsedModels(db: Engine['read'], account: string, limit: number) {
  const own = and(eq(useCounts.account, account), eq(useCounts.day, ''), gt(useCounts.model, ''))
  const rows = await db
    .select({ model: useCounts.model })
    .from(useCounts)
    .where(own)
    .orderBy(asc(useCounts.model))
    .limit(limit)
  return rows.map(({ model }) => model)
}

/** The calls of one account or of one model. */
interface TopUse {
  name: string
  requests: number
  amount: NanoUsd
}

/** Returns the accounts or models with the highest charges since a UTC day, highest first. */
export const listTopUses = (
  { db }: { db: Engine },
  by: 'account' | 'model',
  since: string,
  limit: number,
): Promise<TopUse[]> =>
  db.read
    .select({ name: useCounts[by], requests, amount: charged })
    .from(useCounts)
    .where(gte(useCounts.day, since))
    .groupBy(useCounts[by])
    .orderBy(desc(charged))
    .limit(limit)
