import { and, desc, eq, gt, lt, max } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { hasRows } from '../../kernel/db/query.ts'
import { csvRowsMax } from '../../kernel/limits.ts'
import { type Clock, minute } from '../../kernel/time.ts'
import { accountOf, type Owner } from './accounts.ts'
import { type AccountId, entries } from './tables.ts'

export type Entry = typeof entries.$inferSelect

/**
 * Returns at most `limit` entries of an account, newest first, with numbers below `before`. The
 * `number` of the last entry is the `before` of the next page.
 */
export function listEntries(
  ctx: { db: Engine },
  owner: Owner,
  page: { before?: number | undefined; limit: number },
): Promise<Entry[]> {
  const own = eq(entries.account, accountOf(owner))
  return ctx.db.read
    .select()
    .from(entries)
    .where(page.before === undefined ? own : and(own, lt(entries.number, page.before)))
    .orderBy(desc(entries.number))
    .limit(Math.min(page.limit, csvRowsMax))
}

/** Returns whether an account has ever held credits that are not free ones. */
export async function hasBeenFunded(db: Db, account: AccountId): Promise<boolean> {
  return hasRows(db, entries, and(eq(entries.account, account), gt(entries.balance, entries.free)))
}

/** Returns the time of the newest entry if it is more than a minute ahead of the clock. */
export async function findFutureEntry(ctx: {
  db: Engine
  clock: Clock
}): Promise<number | undefined> {
  const [newest] = await ctx.db.read.select({ at: max(entries.at) }).from(entries)
  const at = newest?.at ?? 0
  return at > ctx.clock.now() + minute ? at : undefined
}
