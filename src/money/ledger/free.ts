import { eq, lte, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { changedRowCount } from '../../kernel/db/query.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { findBalance } from './accounts.ts'
import { type AccountId, accounts, freeDays } from './tables.ts'

/** Returns the part of an amount that free credits would pay now, behind all open holds. */
export async function estimateFreePart(
  db: Db,
  account: AccountId,
  amount: NanoUsd,
): Promise<NanoUsd> {
  const found = await findBalance(db, account)
  if (!found) return zero
  const left = found.free - (found.held - found.paidHeld)
  return left <= 0n ? zero : left < amount ? nano(left) : amount
}

/**
 * Adds to the free credits that paid on a UTC day for work with real costs to the operator. Returns
 * false, with nothing changed, when the sum would exceed `max`.
 */
export async function countFreeSpending(
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
  return changedRowCount(counted) === 1
}

/** Replaces a counted amount of a day with the amount that free credits did pay. */
export async function correctFreeSpending(
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

/** Returns the part of an account's newest debit that free credits paid. */
export async function latestFreeDebit(db: Db, account: AccountId): Promise<NanoUsd> {
  const [row] = await db
    .select({ paid: accounts.lastFree })
    .from(accounts)
    .where(eq(accounts.id, account))
  return row?.paid ?? zero
}
