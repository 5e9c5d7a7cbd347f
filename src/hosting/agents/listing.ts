import { and, count, desc, eq, like, lt, or } from 'drizzle-orm'

import type { House } from '../../house.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** Agents whose handle has these letters in it, the newest first, after that one where given. */
export const listAgents = (
  { db }: House,
  limit: number,
  { q = '', after }: { q?: string | undefined; after?: Pick<Agent, 'created' | 'id'> | undefined },
): Promise<Agent[]> => {
  const letters = q.toLowerCase().replace(/[^a-z0-9-]/g, '')
  const isOlder =
    after &&
    or(
      lt(agents.created, after.created),
      and(eq(agents.created, after.created), lt(agents.id, after.id)),
    )
  return db.read
    .select()
    .from(agents)
    .where(and(letters === '' ? undefined : like(agents.handle, `%${letters}%`), isOlder))
    .orderBy(desc(agents.created), desc(agents.id))
    .limit(limit)
}

/** How many agents were ever made. */
export async function countAgents({ db }: House): Promise<number> {
  const [row] = await db.read.select({ all: count().mapWith(Number) }).from(agents)
  return row?.all ?? 0
}
