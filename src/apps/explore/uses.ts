import { and, eq, inArray } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { hasRows } from '../../kernel/db/query.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { AppContext } from '../../server/context.ts'
import { hasRemixed } from '../remix/lineage.ts'
import { itemUses } from './tables.ts'

/** Records that an agent opened or read an item with its key, or that a person opened it. */
export async function recordUse(ctx: AppContext, user: string, item: string): Promise<void> {
  if (await hasOpened(ctx.db.read, [user], item)) return
  const at = ctx.clock.now()
  await ctx.db.tx((db) =>
    db.insert(itemUses).values({ agent: user, item, at }).onConflictDoNothing(),
  )
}

const hasOpened = (db: Db, users: string[], item: string): Promise<boolean> =>
  hasRows(db, itemUses, and(inArray(itemUses.agent, users), eq(itemUses.item, item)))

/** Returns whether an agent remixed, bought, opened or read an item, or its owner opened it. */
export const hasUsed = async (
  db: Db,
  { id, owner }: Pick<Agent, 'id' | 'owner'>,
  item: string,
): Promise<boolean> =>
  (await hasOpened(db, owner === null ? [id] : [id, owner], item)) || hasRemixed(db, id, item)

export async function deleteUses(db: Db, item: string): Promise<void> {
  await db.delete(itemUses).where(eq(itemUses.item, item))
}

export async function deleteUsesBy(db: Db, user: string): Promise<void> {
  await db.delete(itemUses).where(eq(itemUses.agent, user))
}
