import { and, desc, eq, lt } from 'drizzle-orm'

import type { NanoUsd } from '../core/money.ts'
import type { Db, Engine } from '../db/engine.ts'
import { placeholders, prepared } from '../db/query.ts'
import { csvRowsMax } from '../limits.ts'
import { accountOf, type Mark, type Owner } from './accounts.ts'
import { type AccountId, entries } from './tables.ts'

export type Entry = typeof entries.$inferSelect

const appendQuery = prepared((db) => db.insert(entries).values(placeholders(entries)).prepare())

/** What one line says, beside the account's own numbers. */
export interface Line {
  ref: string
  line: number
  kind: string
  item: string | null
  amount: NanoUsd
  at: number
}

/** Writes one line of a transfer; `after` is the account as this line left it. */
export async function append(db: Db, account: AccountId, line: Line, after: Mark): Promise<void> {
  await appendQuery(db).execute({ account, ...line, ...after })
}

/**
 * The entries of an account, newest first: at most `limit`, those before number `before`.
 * The next page begins before the last one's `number`.
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
