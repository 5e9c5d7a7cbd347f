import { and, eq, lte, type SQL, sql } from 'drizzle-orm'

import { type NanoUsd, zero } from '../core/money.ts'
import { nextUtcDay, secondsUntil, utcDay } from '../core/time.ts'
import type { Db } from '../db/engine.ts'
import { changedRowCount, prepared } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import { caps } from './tables.ts'

/** A key and its spending limit per UTC day: null is unlimited, 0 allows no spending. */
export interface Cap {
  key: string
  max: NanoUsd | null
}

export interface KeyDay {
  key: string
  day: string
}

const byKeyDay = and(eq(caps.key, sql.placeholder('key')), eq(caps.day, sql.placeholder('day')))
/** Above every amount in the ledger. */
const unbounded = 2n ** 62n

const usedQuery = prepared((db) =>
  db.select({ used: caps.used }).from(caps).where(byKeyDay).prepare(),
)

/** Returns what a key has spent on a day, settled and held. */
export async function spentOn(db: Db, keyDay: KeyDay): Promise<NanoUsd> {
  const [row] = await usedQuery(db).execute({ key: keyDay.key, day: keyDay.day })
  return row?.used ?? zero
}

const countQuery = prepared((db) =>
  db
    .insert(caps)
    .values({
      key: sql.placeholder('key'),
      day: sql.placeholder('day'),
      used: sql.placeholder('amount'),
    })
    .onConflictDoUpdate({
      target: [caps.key, caps.day],
      set: { used: sql`${caps.used} + excluded.used` },
      setWhere: lte(sql`${caps.used} + excluded.used`, sql`${sql.placeholder('max')}`),
    })
    .prepare(),
)

/** Adds an amount to a key's day. Returns false, with nothing changed, when that exceeds `max`. */
export async function countSpending(
  db: Db,
  keyDay: KeyDay,
  amount: NanoUsd,
  max: NanoUsd | null,
): Promise<boolean> {
  // Free work stays possible when the cap was lowered below the day's spending.
  if (amount === zero) return true
  if (max !== null && amount > max) return false
  const counted = await countQuery(db).execute({ ...keyDay, amount, max: max ?? unbounded })
  return changedRowCount(counted) === 1
}

/** Subtracts `unspent` from the counter `capKey` of a hold. */
export const uncountSpending = (db: Db, condition?: SQL) =>
  db
    .update(caps)
    .set({ used: sql`${caps.used} - ${sql.placeholder('unspent')}` })
    .where(
      and(
        eq(caps.key, sql.placeholder('capKey')),
        eq(caps.day, sql.placeholder('capDay')),
        condition,
      ),
    )
const uncountQuery = prepared((db) => uncountSpending(db).prepare())

/** Subtracts an amount that was not spent from a counter that keys share. */
export async function uncountGroup(db: Db, { key, day }: KeyDay, unspent: NanoUsd): Promise<void> {
  await uncountQuery(db).execute({ capKey: key, capDay: day, unspent })
}

/** Returns the `daily_cap` error of a key, with its cap, its spending and the time to wait. */
export async function dailyCapError(
  db: Db,
  keyDay: KeyDay,
  cap: NanoUsd,
  now: number,
): Promise<ApiError> {
  const retryAfter = secondsUntil(nextUtcDay(now), now)
  return new ApiError('daily_cap', { cap, spent: await spentOn(db, keyDay), retryAfter })
}

/** Throws `daily_cap` when several holds of `amount` in all would exceed the cap together. */
export async function checkDailyCap(db: Db, { key, max }: Cap, amount: NanoUsd, now: number) {
  const keyDay = { key, day: utcDay(now) }
  if (amount === zero || max === null || (await spentOn(db, keyDay)) + amount <= max) return
  throw await dailyCapError(db, keyDay, max, now)
}
