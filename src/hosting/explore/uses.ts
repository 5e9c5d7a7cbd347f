import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { hasRemixed } from '../apps/remix/lineage.ts'
import { itemUses } from './tables.ts'

/** Records that an agent opened or read an item with its key. */
export async function recordUse(ctx: AppContext, agent: string, item: string): Promise<void> {
  if (await hasOpened(ctx.db.read, agent, item)) return
  const at = ctx.clock.now()
  await ctx.db.tx((db) => db.insert(itemUses).values({ agent, item, at }).onConflictDoNothing())
}

async function hasOpened(db: Db, agent: string, item: string): Promise<boolean> {
  const of = and(eq(itemUses.agent, agent), eq(itemUses.item, item))
  return (await db.select({ item: itemUses.item }).from(itemUses).where(of).limit(1)).length > 0
}

/** Returns whether an agent remixed, bought, opened or read an item. */
export const hasUsed = async (db: Db, agent: string, item: string): Promise<boolean> =>
  (await hasOpened(db, agent, item)) || hasRemixed(db, agent, item)

export async function deleteUses(db: Db, item: string): Promise<void> {
  await db.delete(itemUses).where(eq(itemUses.item, item))
}
