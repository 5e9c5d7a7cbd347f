import { eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { capOf, type Key } from '../../money/keys/keys.ts'
import * as keys from '../../money/keys/keys.ts'
import type { Cap } from '../../money/ledger/holds.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** An agent that acts: with its key, or through its owner on the web. */
export interface Actor {
  agent: Agent
  key?: Key
}

/** An authenticated agent with its key. */
export interface Caller extends Actor {
  key: Key
}

/**
 * Returns the daily cap for an actor that pays `price`. Throws `paused`, and `insufficient_scope`
 * for a connector that may not spend.
 */
export function capFor({ agent, key }: Actor, price: NanoUsd): Cap {
  // Paused agents may still use free operations.
  if (price > zero) {
    checkNotPaused(agent)
    if (key?.scopes && !key.scopes.includes('spend'))
      throw new ApiError('insufficient_scope', { scope: 'spend' })
  }
  return key ? capOf(key) : { key: agent.id, max: dailyCapOf(agent) }
}

/** Returns the daily cap of all keys of an agent: 0 while it is paused, null without a cap. */
export const dailyCapOf = ({
  dailyCap,
  pausedBy,
}: Pick<Agent, 'dailyCap' | 'pausedBy'>): NanoUsd | null => (pausedBy === null ? dailyCap : zero)

/** Throws `paused`. */
export function checkNotPaused({ pausedBy }: Pick<Agent, 'pausedBy'>): void {
  if (pausedBy !== null) throw new ApiError('paused')
}

/** A pause, or the end of one. Owner and operator pause independently. */
interface Pause {
  by: 'owner' | 'operator'
  isPaused: boolean
}

function applyPause(before: Agent['pausedBy'], { by, isPaused }: Pause): Agent['pausedBy'] {
  const other = by === 'owner' ? 'operator' : 'owner'
  const isPausedByOther = before === other || before === 'both'
  if (isPaused) return isPausedByOther ? 'both' : by
  return isPausedByOther ? other : null
}

export const isPausedByOperator = ({ pausedBy }: Pick<Agent, 'pausedBy'>): boolean =>
  pausedBy === 'operator' || pausedBy === 'both'

/**
 * Changes the owner, cap or pause of an agent and updates its keys. Call `ctx.keys.forget()` after
 * the commit. Returns undefined if the agent does not exist.
 */
export async function updateLimits(
  db: Db,
  id: string,
  { pause, ...change }: Partial<Pick<Agent, 'dailyCap' | 'owner'>> & { pause?: Pause },
): Promise<Agent | undefined> {
  await keys.lockOwner(db, id)
  const isAgent = eq(agents.id, id)
  const [before] = await db.select().from(agents).where(isAgent)
  if (!before) return undefined
  const pausedBy = pause ? applyPause(before.pausedBy, pause) : before.pausedBy
  const [agent] = await db
    .update(agents)
    .set({ ...change, pausedBy })
    .where(isAgent)
    .returning()
  if (agent) await keys.setDailyCap(db, id, dailyCapOf(agent))
  return agent
}

/** Pauses or resumes an agent for the operator. Returns false if nothing changes. */
export async function pauseAgent(
  ctx: AppContext,
  handle: string,
  isPaused: boolean,
): Promise<boolean> {
  const changed = await ctx.db.tx(async (db) => {
    const [agent] = await db.select().from(agents).where(eq(agents.handle, handle))
    if (!agent || isPausedByOperator(agent) === isPaused) return undefined
    return updateLimits(db, agent.id, { pause: { by: 'operator', isPaused } })
  })
  ctx.keys.forget()
  return changed !== undefined
}
