import { eq } from 'drizzle-orm'

import { type Nano, zero } from '../../core/money.ts'
import type { Db } from '../../db/engine.ts'
import { lock } from '../../db/lock.ts'
import type { House } from '../../house.ts'
import * as keys from '../../keys/keys.ts'
import { agents } from './tables.ts'

type Agent = typeof agents.$inferSelect

/** What an agent's keys may spend in a day together: nothing while it is paused. */
export const capOf = ({ dailyCap, pausedBy }: Pick<Agent, 'dailyCap' | 'pausedBy'>): Nano | null =>
  pausedBy === null ? dailyCap : zero

/**
 * Changes what an agent may spend, and what its keys say of it, inside a transaction. Forget the
 * keys after its commit. Undefined when there is no such agent.
 */
export async function limit(
  db: Db,
  id: string,
  change: Partial<Pick<Agent, 'dailyCap' | 'pausedBy' | 'owner'>>,
): Promise<Agent | undefined> {
  await lock(db, `keys of ${id}`)
  const [agent] = await db.update(agents).set(change).where(eq(agents.id, id)).returning()
  if (agent) await keys.limitAll(db, id, capOf(agent))
  return agent
}

/** Lets an agent buy nothing, or buy again: the operator's word. False when there is none. */
export async function pause(house: House, handle: string, paused: boolean): Promise<boolean> {
  const changed = await house.db.tx(async (db) => {
    const [agent] = await db.select().from(agents).where(eq(agents.handle, handle))
    return agent && limit(db, agent.id, { pausedBy: paused ? 'operator' : null })
  })
  house.keys.forget()
  return changed !== undefined
}
