import { desc, gte, sql } from 'drizzle-orm'

import type { NanoUsd } from '../core/money.ts'
import type { Engine } from '../db/engine.ts'
import { sumOf } from '../db/query.ts'
import { useCounts } from './tables.ts'

/** The calls of one account or of one model. */
export interface TopUse {
  name: string
  requests: number
  amount: NanoUsd
}

const amount = sumOf(useCounts.charged)
const requests = sql<number>`sum(${useCounts.count})`.mapWith(Number)

/** Returns the accounts or models with the highest charges since a UTC day, highest first. */
export const listTopUses = (
  { db }: { db: Engine },
  by: 'account' | 'model',
  since: string,
  limit: number,
): Promise<TopUse[]> =>
  db.read
    .select({ name: useCounts[by], requests, amount })
    .from(useCounts)
    .where(gte(useCounts.day, since))
    .groupBy(useCounts[by])
    .orderBy(desc(amount))
    .limit(limit)
