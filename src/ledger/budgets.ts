import { and, eq, gte } from 'drizzle-orm'

import type { NanoUsd } from '../core/money.ts'
import { day, secondsUntil, utcDay } from '../core/time.ts'
import type { Db } from '../db/engine.ts'
import { sumOf } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import { caps } from './tables.ts'

const periods = ['day', 'week', 'month'] as const
export type Period = (typeof periods)[number]

/** A limit of what a counter may spend in a calendar period (UTC; weeks start on Monday). */
export interface Budget {
  /** The counter: a key, or a group of keys. */
  counter: string
  /** The owner of the limit, for the error: "key", or the name of a project. */
  owner: string
  period: Period
  max: NanoUsd
}

/**
 * Throws `budget_exceeded` when a counter has spent more than a budget, settled and held. Call it
 * in the transaction that counted the new amount: PostgreSQL then runs the holds of one counter one
 * after another.
 */
export async function checkBudgets(db: Db, budgets: Budget[], now: number): Promise<void> {
  for (const { counter, owner, period, max } of budgets) {
    const { start, end } = periodAt(period, now)
    const [row] = await db
      .select({ spent: sumOf(caps.used) })
      .from(caps)
      .where(and(eq(caps.key, counter), gte(caps.day, utcDay(start))))
    if ((row?.spent ?? 0n) <= max) continue
    throw new ApiError('budget_exceeded', {
      owner,
      period,
      max,
      retryAfter: secondsUntil(end, now),
    })
  }
}

/** Returns the calendar period around a time. */
export function periodAt(period: Period, now: number): { start: number; end: number } {
  const today = now - (now % day)
  if (period === 'day') return { start: today, end: today + day }
  const date = new Date(now)
  if (period === 'month') {
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
    return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
  }
  const sinceMonday = (date.getUTCDay() + 6) % 7
  const start = today - sinceMonday * day
  return { start, end: start + 7 * day }
}
