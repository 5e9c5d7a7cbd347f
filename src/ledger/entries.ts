import { and, desc, eq, gt, lt } from 'drizzle-orm'

import type { NanoUsd } from '../core/money.ts'
import type { Db, Engine } from '../db/engine.ts'
import { placeholders, prepared } from '../db/query.ts'
import { csvRowsMax } from '../limits.ts'
import { accountOf, type AccountSnapshot, type Owner } from './accounts.ts'
import { type AccountId, entries } from './tables.ts'

export type Entry = typeof entries.$inferSelect

const appendQuery = prepared((db) => db.insert(entries).values(placeholders(entries)).prepare())

/** The columns of an entry beside the account's numbers after it. */
export interface EntryLine {
  ref: string
  line: number
  kind: string
  item: string | null
  amount: NanoUsd
  at: number
}

/** Writes one entry of a transfer; `after` is the account after it. */
export async function appendEntry(
  db: Db,
  account: AccountId,
  line: EntryLine,
  after: AccountSnapshot,
): Promise<void> {
  await appendQuery(db).execute({ account, ...line, ...after })
}

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
  const found = await db
    .select({ number: entries.number })
    .from(entries)
    .where(and(eq(entries.account, account), gt(entries.balance, entries.free)))
    .limit(1)
  return found.length > 0
}
