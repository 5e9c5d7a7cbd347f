import { and, desc, like } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { After } from '../../core/cursor.ts'
import { countRows, isAfterCursor } from '../../db/query.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** Agents whose handle has these letters in it, the newest first, after that one where given. */
export const listAgents = (
  { db }: AppContext,
  limit: number,
  { q = '', after }: { q?: string | undefined; after?: After | undefined },
): Promise<Agent[]> => {
  const letters = q.toLowerCase().replace(/[^a-z0-9-]/g, '')
  const isAlike = letters === '' ? undefined : like(agents.handle, `%${letters}%`)
  return db.read
    .select()
    .from(agents)
    .where(and(isAlike, isAfterCursor(agents, after)))
    .orderBy(desc(agents.created), desc(agents.id))
    .limit(limit)
}

/** How many agents were ever made. */
export const countAgents = ({ db }: AppContext): Promise<number> => countRows(db.read, agents)
