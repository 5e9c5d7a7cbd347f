import { and, eq, gt, inArray, lte } from 'drizzle-orm'

import { responseItemMs } from '../../kernel/limits.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import type { AccountId } from '../authentication.ts'
import { sharedItems } from './tables.ts'

/** Items that one request may reference. Further ones are unknown. */
const referencesMax = 500

/**
 * Reads the items that an input references by id and that another server created, into the memory
 * of this one. SQLite has one server, which has them in memory.
 */
export async function loadSharedItems(
  { db, clock, state: { responseItems } }: AppContext,
  account: AccountId,
  input: unknown,
): Promise<void> {
  if (db.kind === 'sqlite' || !Array.isArray(input)) return
  const known = responseItems.finder(account)
  const ids = input
    .flatMap((item: unknown) => (isRecord(item) && typeof item.id === 'string' ? [item.id] : []))
    .slice(0, referencesMax)
  const unknown = [...new Set(ids)].filter((id) => known(id) === undefined)
  if (unknown.length === 0) return
  const isOwn = and(eq(sharedItems.account, account), inArray(sharedItems.id, unknown))
  const isRecent = gt(sharedItems.at, clock.now() - responseItemMs)
  const found = await db.read.select().from(sharedItems).where(and(isOwn, isRecent))
  for (const { item } of found) responseItems.add(account, item)
}

/** Stores the items of a response for the other servers. A failure is logged: they are a cache. */
export async function shareItems(
  { db, clock, log }: AppContext,
  account: AccountId,
  items: Json[],
): Promise<void> {
  if (db.kind === 'sqlite' || items.length === 0) return
  const rows = items.map((item) => ({ account, id: String(item.id), item, at: clock.now() }))
  await db
    .tx((tx) => tx.insert(sharedItems).values(rows).onConflictDoNothing())
    .catch((error: unknown) => log.error('responses.items_not_shared', error))
}

export const deleteOldItems = ({ db, clock }: AppContext): Promise<unknown> =>
  db.tx((tx) => tx.delete(sharedItems).where(lte(sharedItems.at, clock.now() - responseItemMs)))
