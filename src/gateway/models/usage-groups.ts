import { and, type AnyColumn, between, count, desc, eq, max, min, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { day, utcDay } from '../../kernel/time.ts'
import { uses } from './tables.ts'

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
