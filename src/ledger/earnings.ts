import { and, count, desc, eq, gte, lt, sql } from 'drizzle-orm'

import type { NanoUsd } from '../core/money.ts'
import type { Engine } from '../db/engine.ts'
import { sumOf } from '../db/query.ts'
import { csvRowsMax } from '../limits.ts'
import { accountOf, type Owner } from './accounts.ts'
import { entries, holds } from './tables.ts'

/** Which sales: from one moment (included) to another (not included), of one item. */
export interface Period {
  from?: number | undefined
  to?: number | undefined
  item?: string | undefined
}

/** What buyers paid and what came of it to the seller. */
export interface Earned {
  sales: number
  gross: NanoUsd
  net: NanoUsd
}

export interface ItemEarned extends Earned {
  item: string
}

const shown = {
  sales: count(),
  gross: sumOf(holds.charged),
  net: sumOf(entries.amount),
}

const soldBy = (owner: Owner, { from, to, item }: Period) =>
  and(
    eq(entries.account, accountOf(owner)),
    // In the words of the index over sales alone.
    sql`${entries.kind} = 'remix' and ${entries.amount} > 0`,
    from === undefined ? undefined : gte(entries.at, from),
    to === undefined ? undefined : lt(entries.at, to),
    item === undefined ? undefined : eq(entries.item, item),
  )

/** All that an owner earned by selling, summed. */
export async function earningsOf(
  ctx: { db: Engine },
  owner: Owner,
  period: Period,
): Promise<Earned> {
  const [row] = await ctx.db.read
    .select(shown)
    .from(entries)
    .innerJoin(holds, eq(holds.ref, entries.ref))
    .where(soldBy(owner, period))
  if (!row) throw new Error('a sum has no row')
  return row
}

/** The same item by item, what earned most first, going on after an item that earned `net`. */
export async function earningsByItem(
  ctx: { db: Engine },
  owner: Owner,
  period: Period,
  { limit, after }: { limit: number; after?: { net: bigint; item: string } | undefined },
): Promise<ItemEarned[]> {
  const item = sql<string>`coalesce(${entries.item}, '')`
  const net = sql`sum(${entries.amount})`
  const rows = ctx.db.read
    .select({ item, ...shown })
    .from(entries)
    .innerJoin(holds, eq(holds.ref, entries.ref))
    .where(soldBy(owner, period))
    .groupBy(entries.item)
    .orderBy(desc(net), desc(item))
    .limit(Math.min(limit, csvRowsMax))
  return after ? rows.having(sql`(${net}, ${item}) < (${after.net}, ${after.item})`) : rows
}
