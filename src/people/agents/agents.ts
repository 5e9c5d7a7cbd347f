import { and, eq, inArray, isNotNull, isNull, like, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { PagePosition } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import {
  countRows,
  forUpdate,
  hasRows,
  listNewest,
  lookup,
  prepared,
} from '../../kernel/db/query.ts'
import { ApiError, isApiError, rejectRequest } from '../../kernel/errors.ts'
import { isForbidden } from '../../kernel/forbidden-text.ts'
import { aboutCharsMax, listPageMax } from '../../kernel/limits.ts'
import { isPlainLine } from '../../kernel/text.ts'
import * as keys from '../../money/keys/keys.ts'
import { agents } from './tables.ts'

export type Agent = typeof agents.$inferSelect

/** Returns the trimmed line, or null for an empty one. Throws `bad_request`. */
export function validateAbout(about: string | null): string | null {
  if (about === null) return null
  if (isPlainLine(about, aboutCharsMax) && !isForbidden(about)) return about.trim() || null
  rejectRequest(
    `"about" must be null or one line of at most ${aboutCharsMax} characters, without slurs or instructions to agents.`,
  )
}

const byId = lookup(
  prepared((db) =>
    db
      .select()
      .from(agents)
      .where(eq(agents.id, sql.placeholder('id')))
      .prepare(),
  ),
)

/** Returns the agent with this id, closed or not. */
export async function findAgent(ctx: AppContext, id: string): Promise<Agent | undefined> {
  return byId(ctx.db, id)
}

/** Returns whether no agent was ever created. */
export const hasNoAgents = async ({ db }: AppContext): Promise<boolean> =>
  !(await hasRows(db.read, agents))

const byHandle = prepared((db) =>
  db
    .select()
    .from(agents)
    .where(eq(agents.handle, sql.placeholder('handle')))
    .prepare(),
)

/** Returns the agent with this handle, closed or not. */
export async function findByHandle(ctx: AppContext, handle: string): Promise<Agent | undefined> {
  const [agent] = await byHandle(ctx.db.read).execute({ handle })
  return agent
}

/** Returns the agent with this handle, with or without @. */
export async function findByMention(ctx: AppContext, name: string): Promise<Agent | undefined> {
  const [, handle] = /^@?([a-z0-9-]{1,30})$/.exec(name) ?? []
  return handle === undefined ? undefined : findByHandle(ctx, handle)
}

/** Returns the handles of agents by id. Handles never change, so they are cached. */
export async function findHandles(ctx: AppContext, ids: string[]): Promise<Map<string, string>> {
  const cache = ctx.state.agentHandles
  const missing = [...new Set(ids)].filter((id) => cache.get(id) === undefined)
  if (missing.length > 0) {
    const rows = await ctx.db.read
      .select({ id: agents.id, handle: agents.handle })
      .from(agents)
      .where(inArray(agents.id, missing))
    for (const { id, handle } of rows) cache.set(id, handle)
  }
  return new Map(ids.map((id) => [id, cache.get(id) ?? '']))
}

/** Returns the URL of a maker's page by handle, with or without @ (document 1, section 2). */
export const makerPageUrl = ({ urls }: AppContext, handle: string): string =>
  `${urls.app}/explore/@${handle.replace('@', '')}`

/**
 * Changes the about line of an agent; null clears it (document 1, operation 6). Throws
 * `bad_request`, and `not_ready` while the database or disk accepts no writes.
 */
export async function updateAbout(
  ctx: AppContext,
  agent: Agent,
  about: string | null,
): Promise<Agent> {
  const line = validateAbout(about)
  try {
    ctx.storage.requireFreeSpace(0)
    return await ctx.db.tx(async (db) => {
      const [changed] = await db
        .update(agents)
        .set({ about: line })
        .where(eq(agents.id, agent.id))
        .returning()
      return changed ?? agent
    })
  } catch (error) {
    const isFull = isApiError(error, 'try_again') || isWriteUnavailable(error)
    throw isFull ? new ApiError('not_ready') : error
  }
}

/** Closes an account and revokes its keys. Call `ctx.keys.forget()` after the commit. */
export async function closeAgent(ctx: AppContext, db: Db, agent: string): Promise<void> {
  await keys.lockOwner(db, agent)
  await db
    .update(agents)
    .set({ closed: ctx.clock.now(), claimHash: null, claimExpires: null })
    .where(and(eq(agents.id, agent), isNull(agents.closed)))
  await keys.revokeAll(db, ctx.clock, agent)
}

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

export const suspensionError = ({ suspendedFor }: Pick<Agent, 'suspendedFor'>) =>
  new ApiError('account_suspended', { reason: suspendedFor ?? '' })

/** Returns the reason for a suspension and locks the agent's row; null if it is not suspended. */
export async function findSuspensionReason(db: Db, agent: string): Promise<string | null> {
  const query = db.select({ reason: agents.suspendedFor }).from(agents).where(eq(agents.id, agent))
  const [row] = await forUpdate(query.$dynamic(), agents.id)
  return row?.reason ?? null
}

/** Suspends an agent and its keys; null resumes. Then call `ctx.keys.forget()` after the commit. */
export async function suspendAgent(
  { clock }: AppContext,
  db: Db,
  handle: string,
  reason: string | null,
): Promise<Agent | undefined> {
  const at = reason === null ? null : clock.now()
  const [known] = await db.select({ id: agents.id }).from(agents).where(eq(agents.handle, handle))
  if (!known) return undefined
  await keys.lockOwner(db, known.id)
  const wouldChange = at === null ? isNotNull(agents.suspended) : isNull(agents.suspended)
  const [agent] = await db
    .update(agents)
    .set({ suspended: at, suspendedFor: reason })
    .where(and(eq(agents.id, known.id), wouldChange))
    .returning()
  if (agent) await keys.setSuspended(db, agent.id, at)
  return agent
}
