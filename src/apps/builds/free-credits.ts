/** The daily budget of free credits for builds (docs/spec/money.md, "Kinds of credits"). */
import { Value } from '@sinclair/typebox/value'
import { eq, lte, sql } from 'drizzle-orm'

import type { Job } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { KeyedTable } from '../../kernel/db/damage.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { changedRowCount } from '../../kernel/db/query.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { utcDay } from '../../kernel/time.ts'
import { type accountOf, findBalance } from '../../money/ledger/accounts.ts'
import { freeDays } from '../tables.ts'
import { BuildInputSchema } from './job-data.ts'

/** The table of the budget, for the check for damage. */
export const budgetTable: KeyedTable = { table: freeDays, key: [freeDays.day] }

/**
 * Reserves the free credits that would pay for a build now, behind all open holds, in the budget of
 * the UTC day. Returns their amount; undefined, with nothing reserved, when the budget is spent.
 */
export async function reserveFreeBudget(
  { clock, config }: AppContext,
  db: Db,
  account: ReturnType<typeof accountOf>,
  price: NanoUsd,
): Promise<NanoUsd | undefined> {
  const found = await findBalance(db, account)
  const left = found ? found.free - (found.held - found.paidHeld) : 0n
  if (left <= 0n) return zero
  const amount = left < price ? nano(left) : price
  const max = config.freeSpendPerDayUsd
  if (amount > max) return undefined
  const counted = await db
    .insert(freeDays)
    .values({ day: utcDay(clock.now()), used: amount })
    .onConflictDoUpdate({
      target: freeDays.day,
      set: { used: sql`${freeDays.used} + excluded.used` },
      setWhere: lte(sql`${freeDays.used} + excluded.used`, sql`${max}`),
    })
  return changedRowCount(counted) === 1 ? amount : undefined
}

/** Replaces what a build reserved by what free credits did pay. */
export async function recountFreeBudget(db: Db, { input, created }: Job, paid: NanoUsd) {
  if (!Value.Check(BuildInputSchema, input)) return
  await db
    .update(freeDays)
    .set({ used: sql`${freeDays.used} + ${nano(paid - BigInt(input.free))}` })
    .where(eq(freeDays.day, utcDay(created)))
}
