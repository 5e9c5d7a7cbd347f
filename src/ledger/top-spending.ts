import { and, desc, gte, notLike } from 'drizzle-orm'

import { type NanoUsd, zero } from '../core/money.ts'
import type { Engine } from '../db/engine.ts'
import { sumOf } from '../db/query.ts'
import type { DailyAmount } from './spending.ts'
import { caps } from './tables.ts'

/** The spending of one key counter (`counterOf` in keys/keys.ts). */
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
