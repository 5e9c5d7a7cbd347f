import { and, eq, sql } from 'drizzle-orm'

import { type Nano, nano, zero } from '../core/money.ts'
import type { Engine } from '../db/engine.ts'
import { accountOf, type Owner } from './accounts.ts'
import { holds } from './tables.ts'

/** What an owner has paid so far for each kind of work that is told one by one. */
export type Spending = Record<'build' | 'icon' | 'assets' | 'remix', Nano>

/** Sums what an owner was charged, by kind: an index holds just these kinds. */
export async function spendingOf(house: { db: Engine }, owner: Owner): Promise<Spending> {
  const rows = await house.db.read
    .select({ kind: holds.kind, charged: sql<string>`sum(${holds.charged})`.mapWith(String) })
    .from(holds)
    .where(
      and(
        eq(holds.account, accountOf(owner)),
        sql`${holds.kind} in ('build', 'icon', 'assets', 'remix')`,
      ),
    )
    .groupBy(holds.kind)
  const sums = new Map(rows.map(({ kind, charged }) => [kind, nano(BigInt(charged))]))
  const sum = (kind: string): Nano => sums.get(kind) ?? zero
  return { build: sum('build'), icon: sum('icon'), assets: sum('assets'), remix: sum('remix') }
}
