import { and, count, desc, eq, gte, lt, sql } from 'drizzle-orm'

import type { Engine } from '../../kernel/db/engine.ts'
import { sumOf } from '../../kernel/db/query.ts'
import { csvRowsMax } from '../../kernel/limits.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { accountOf, type Owner } from './accounts.ts'
import { entries, holds } from './tables.ts'

/** Selects sales by time (`from` inclusive, `to` exclusive, in milliseconds) and by item. */
export interface SalesFilter {
  from?: number | undefined
  to?: number | undefined
  item?: string | undefined
}

/**
 * Sales, with what buyers paid (`gross`) and the seller's share of it (`net`). A call of a model
 * with a margin is a sale of its app.
 */
export interface Earnings {
  sales: number
  gross: NanoUsd
  net: NanoUsd
}

export interface ItemEarnings extends Earnings {
  item: string
}

const sums = {
  sales: count(),
  gross: sumOf(holds.charged),
  net: sumOf(entries.amount),
}

const soldBy = (owner: Owner, { from, to, item }: SalesFilter) =>
  and(
    eq(entries.account, accountOf(owner)),
    // Literals, because the partial indexes over sales and margins have the same conditions.
    sql`((${entries.kind} = 'remix' and ${entries.amount} > 0) or ${entries.kind} = 'margin')`,
    from === undefined ? undefined : gte(entries.at, from),
    to === undefined ? undefined : lt(entries.at, to),
    item === undefined ? undefined : eq(entries.item, item),
  )

export async function sumEarnings(
  ctx: { db: Engine },
  owner: Owner,
  period: SalesFilter,
): Promise<Earnings> {
  const [row] = await ctx.db.read
    .select(sums)
    .from(entries)
    .innerJoin(holds, eq(holds.ref, entries.ref))
    .where(soldBy(owner, period))
  if (!row) throw new Error('The sum of sales returned no row.')
  return row
}

/** Sums the sales of an owner by item, highest `net` first, starting behind the item `after`. */
export async function listEarningsByItem(
  ctx: { db: Engine },
  owner: Owner,
  period: SalesFilter,
  { limit, after }: { limit: number; after?: { net: bigint; item: string } | undefined },
): Promise<ItemEarnings[]> {
  const item = sql<string>`coalesce(${entries.item}, '')`
  const net = sql`sum(${entries.amount})`
  const rows = ctx.db.read
    .select({ item, ...sums })
    .from(entries)
    .innerJoin(holds, eq(holds.ref, entries.ref))
    .where(soldBy(owner, period))
    .groupBy(entries.item)
    .orderBy(desc(net), desc(item))
    .limit(Math.min(limit, csvRowsMax))
  return after ? rows.having(sql`(${net}, ${item}) < (${after.net}, ${after.item})`) : rows
}
