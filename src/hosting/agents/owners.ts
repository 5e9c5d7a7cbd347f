import { and, desc, eq, isNull } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { After } from '../../core/cursor.ts'
import type { Db } from '../../db/engine.ts'
import { countRows, isAfterCursor } from '../../db/query.ts'
import { listPageMax } from '../../limits.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

const liveOf = (person: string) => and(eq(agents.owner, person), isNull(agents.closed))

/** The agents that a person claimed, newest first, at most `limit` of them. */
export const listOwnedAgents = (
  ctx: AppContext,
  person: string,
  limit: number,
  after?: After,
): Promise<Agent[]> =>
  ctx.db.read
    .select()
    .from(agents)
    .where(and(liveOf(person), isAfterCursor(agents, after)))
    .orderBy(desc(agents.created), desc(agents.id))
    .limit(Math.min(limit, listPageMax + 1))

/** All agents that a person claimed, inside a transaction. */
export const listAllOwnedAgents = (db: Db, person: string): Promise<Agent[]> =>
  db.select().from(agents).where(liveOf(person))

/** Whether an agent still is its owner's, and open, inside a transaction under `keys.lockAll`. */
export async function isOwned(db: Db, { id, owner }: Agent): Promise<boolean> {
  const its = and(eq(agents.id, id), liveOf(owner ?? ''))
  return (await db.select({ id: agents.id }).from(agents).where(its)).length > 0
}

/** How many agents a person has claimed. */
export const countOwnedAgents = ({ db }: AppContext, person: string): Promise<number> =>
  countRows(db.read, agents, liveOf(person))
