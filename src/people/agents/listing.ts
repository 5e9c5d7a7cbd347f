import { and, eq, isNull, like } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { PagePosition } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, hasRows, listNewest } from '../../kernel/db/query.ts'
import { listPageMax } from '../../kernel/limits.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** Lists agents whose handle contains the letters of `q`, newest first. */
export const listAgents = (
  ctx: AppContext,
  limit: number,
  { q = '', after }: { q?: string | undefined; after?: PagePosition | undefined },
): Promise<Agent[]> => {
  const letters = q.toLowerCase().replace(/[^a-z0-9-]/g, '')
  const matches = letters === '' ? undefined : like(agents.handle, `%${letters}%`)
  return listNewest(ctx.db.read, agents, matches, limit, after)
}

/** Counts all agents, closed ones included. */
export const countAgents = ({ db }: AppContext): Promise<number> => countRows(db.read, agents)

const isOpenOf = (person: string) => and(eq(agents.owner, person), isNull(agents.closed))

/** Lists the open agents that a person owns, newest first. */
export const listOwnedAgents = (
  ctx: AppContext,
  person: string,
  limit: number,
  after?: PagePosition,
): Promise<Agent[]> =>
  listNewest(ctx.db.read, agents, isOpenOf(person), Math.min(limit, listPageMax + 1), after)

/** Lists all open agents that a person owns. */
export const listAllOwnedAgents = (db: Db, person: string): Promise<Agent[]> =>
  db.select().from(agents).where(isOpenOf(person))

/** Returns whether an agent is open and still its owner's. Call under `keys.lockOwner`. */
export const isOwned = (db: Db, { id, owner }: Pick<Agent, 'id' | 'owner'>): Promise<boolean> =>
  hasRows(db, agents, and(eq(agents.id, id), isOpenOf(owner ?? '')))

export const countOwnedAgents = ({ db }: AppContext, person: string): Promise<number> =>
  countRows(db.read, agents, isOpenOf(person))
