import { eq, lte, sql } from 'drizzle-orm'

import { nano, type NanoUsd, zero } from '../core/money.ts'
import type { Db } from '../db/engine.ts'
import { changedBy } from '../db/query.ts'
import { findBalance } from './accounts.ts'
import { type AccountId, accounts, freeDays } from './tables.ts'

/** How much of an amount free credits would pay now: they go first, also in what is held. */
export async function freePartOf(db: Db, account: AccountId, amount: NanoUsd): Promise<NanoUsd> {
  const found = await findBalance(db, account)
  if (!found) return zero
  const left = found.free - (found.held - found.paidHeld)
  return left <= 0n ? zero : left < amount ? nano(left) : amount
}

/**
 * Counts what free credits pay on a UTC day of all that costs the operator real money. False when
 * that would be more than `max`; then nothing has changed.
 */
export async function countFree(
  db: Db,
  day: string,
  amount: NanoUsd,
  max: NanoUsd,
): Promise<boolean> {
  if (amount > max) return false
  const counted = await db
    .insert(freeDays)
    .values({ day, used: amount })
    .onConflictDoUpdate({
      target: freeDays.day,
      set: { used: sql`${freeDays.used} + excluded.used` },
      setWhere: lte(sql`${freeDays.used} + excluded.used`, sql`${max}`),
    })
  return changedBy(counted) === 1
}

/** Corrects what was counted on a day to what free credits did pay. */
export async function recountFree(
  db: Db,
  day: string,
  counted: NanoUsd,
  paid: NanoUsd,
): Promise<void> {
  await db
    .update(freeDays)
    .set({ used: sql`${freeDays.used} + ${nano(paid - counted)}` })
    .where(eq(freeDays.day, day))
}

/** What free credits paid of an account's newest debit. */
export async function newestFree(db: Db, account: AccountId): Promise<NanoUsd> {
  const [row] = await db
    .select({ paid: accounts.lastFree })
    .from(accounts)
    .where(eq(accounts.id, account))
  return row?.paid ?? zero
}
