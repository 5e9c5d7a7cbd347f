import { and, eq, lte, sql } from 'drizzle-orm'

import { type NanoUsd, zero } from '../core/money.ts'
import { nextUtcDay, secondsUntil, utcDay } from '../core/time.ts'
import type { Db } from '../db/engine.ts'
import { changedBy, prepared } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import { caps } from './tables.ts'

/** A key and the most it may spend in a UTC day; null is no cap, 0 is spend nothing. */
export interface Cap {
  key: string
  max: NanoUsd | null
}

/** A key on one day, as a hold remembers it. */
export interface KeyDay {
  key: string
  day: string
}

const byKeyDay = and(eq(caps.key, sql.placeholder('key')), eq(caps.day, sql.placeholder('day')))
/** More than the ledger can hold. */
const unbounded = 2n ** 62n

const usedQuery = prepared((db) =>
  db.select({ used: caps.used }).from(caps).where(byKeyDay).prepare(),
)

/** What a key has spent on a day: settled and held. */
export async function usedOn(db: Db, at: KeyDay): Promise<NanoUsd> {
  const [row] = await usedQuery(db).execute({ ...at })
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

/** Counts an amount on a key's day. False when its cap is passed; then nothing has changed. */
export async function count(
  db: Db,
  at: KeyDay,
  amount: NanoUsd,
  max: NanoUsd | null,
): Promise<boolean> {
  // What is free stays so when the cap was lowered below what is spent.
  if (amount === zero) return true
  if (max !== null && amount > max) return false
  const counted = await countQuery(db).execute({ ...at, amount, max: max ?? unbounded })
  return changedBy(counted) === 1
}

const uncountQuery = prepared((db) =>
  db
    .update(caps)
    .set({ used: sql`${caps.used} - ${sql.placeholder('amount')}` })
    .where(byKeyDay)
    .prepare(),
)

/** Takes back what was counted and not spent. */
export async function uncount(db: Db, at: KeyDay, amount: NanoUsd): Promise<void> {
  if (amount > 0n) await uncountQuery(db).execute({ ...at, amount })
}

/** The refusal of a key whose cap is passed at a moment, with its facts. */
export async function capPassed(db: Db, at: KeyDay, cap: NanoUsd, now: number): Promise<ApiError> {
  const retryAfter = secondsUntil(nextUtcDay(now), now)
  return new ApiError('daily_cap', { cap, spent: await usedOn(db, at), retryAfter })
}

/** Refuses daily_cap where holds would pass a cap together: each of them knows of itself alone. */
export async function checkCap(db: Db, { key, max }: Cap, amount: NanoUsd, now: number) {
  const at = { key, day: utcDay(now) }
  if (amount === zero || max === null || (await usedOn(db, at)) + amount <= max) return
  throw await capPassed(db, at, max, now)
}
