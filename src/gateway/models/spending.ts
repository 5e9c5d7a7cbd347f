import {
  and,
  type AnyColumn,
  asc,
  between,
  count,
  desc,
  eq,
  gt,
  gte,
  max,
  min,
  sql,
} from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { type Clock, day, lastDays, utcDay } from '../../kernel/time.ts'
import { useCounts, uses } from './tables.ts'

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

/** The calls of one account, of one model, or on one day. */
interface TopUse {
  name: string
  requests: number
  amount: NanoUsd
}

/** Returns the accounts, models or days with the highest charges since a UTC day, highest first. */
export const listTopUses = (
  { db }: { db: Engine },
  by: 'account' | 'model' | 'day',
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

/** The fields by which usage is grouped. */
export const usageFields = ['day', 'key', 'model', 'upstream'] as const
export type UsageField = (typeof usageFields)[number]

/** Calls with the same values of the requested fields. */
export type UsageGroup = { [Field in UsageField]?: string | null } & {
  requests: number
  input: number
  cached: number
  output: number
  reasoning: number
  searches: number
  charged: NanoUsd
}

/** Rows that one grouping reads, so that no account occupies the database for long. */
const groupedRowsMax = 200_000
const groupsMax = 10_000

const dayNumber = sql<number>`${uses.at} / ${sql.raw(String(day))}`.mapWith(Number)
const columns = { day: dayNumber, key: uses.key, model: uses.model, upstream: uses.upstream }
const total = (column: AnyColumn) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number)

/**
 * Groups an account's usage between two times (milliseconds since 1970, inclusive), highest cost
 * first. Throws `bad_request` for more than 200,000 calls.
 */
export async function groupUsage(
  db: Db,
  { account, from, to }: { account: string; from: number; to: number },
  fields: readonly UsageField[],
): Promise<UsageGroup[]> {
  const within = and(eq(uses.account, account), between(uses.at, from, to))
  const [range] = await db
    .select({ first: min(uses.number), last: max(uses.number) })
    .from(uses)
    .where(within)
  if (Number(range?.last ?? 0) - Number(range?.first ?? 0) >= groupedRowsMax) {
    const problem = `More than ${groupedRowsMax} calls are in this time. Narrow "from" and "to".`
    throw new ApiError('bad_request', { problem, param: 'from' })
  }
  const chosen = Object.fromEntries(fields.map((field) => [field, columns[field]]))
  const charged = sumOf(uses.charged)
  const rows = await db
    .select({
      ...chosen,
      requests: count(),
      input: total(uses.input),
      cached: total(uses.cached),
      output: total(uses.output),
      reasoning: total(uses.reasoning),
      searches: total(uses.searches),
      charged,
    })
    .from(uses)
    .where(within)
    .groupBy(...fields.map((field) => columns[field]))
    .orderBy(desc(charged))
    .limit(groupsMax)
  return rows.map(
    ({ requests, input, cached, output, reasoning, searches, charged: cost, ...own }) => ({
      ...presentFields(own),
      requests,
      input,
      cached,
      output,
      reasoning,
      searches,
      charged: cost,
    }),
  )
}

/** Returns the values of grouped fields, a day number as its date. */
const presentFields = (own: Record<string, unknown>): { [Field in UsageField]?: string | null } =>
  Object.fromEntries(
    Object.entries(own).map(([field, value]) => [
      field,
      field === 'day' ? utcDay(Number(value) * day) : (value ?? null),
    ]),
  )
