import { eq } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { type NanoUsd, zero } from '../../core/money.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** What an agent's keys may spend in a day together: nothing while it is paused. */
export const dailyCapOf = ({
  dailyCap,
  pausedBy,
}: Pick<Agent, 'dailyCap' | 'pausedBy'>): NanoUsd | null => (pausedBy === null ? dailyCap : zero)

/** Who is paused buys nothing. Refuses paused. */
export function checkNotPaused({ pausedBy }: Pick<Agent, 'pausedBy'>): void {
  if (pausedBy !== null) throw new ApiError('paused')
}

/** Who has paused an agent. Each lifts a pause of their own alone. */
type Pauser = 'owner' | 'operator'

interface Pause {
  by: Pauser
  is: boolean
}

function pausedAfter(before: Agent['pausedBy'], { by, is }: Pause): Agent['pausedBy'] {
  const other = by === 'owner' ? 'operator' : 'owner'
  const isOthers = before === other || before === 'both'
  if (is) return isOthers ? 'both' : by
  return isOthers ? other : null
}

/** Whether the operator has paused an agent, its owner perhaps too. */
export const isPausedByOperator = ({ pausedBy }: Pick<Agent, 'pausedBy'>): boolean =>
  pausedBy === 'operator' || pausedBy === 'both'

/**
 * Changes what an agent may spend, and what its keys say of it, inside a transaction. Forget the
 * keys after its commit. Undefined when there is no such agent.
 */
export async function updateLimits(
  db: Db,
  id: string,
  { pause: pauseAgent, ...change }: Partial<Pick<Agent, 'dailyCap' | 'owner'>> & { pause?: Pause },
): Promise<Agent | undefined> {
  await keys.lockOwner(db, id)
  const isIt = eq(agents.id, id)
  const [before] = await db.select().from(agents).where(isIt)
  if (!before) return undefined
  const pausedBy = pauseAgent ? pausedAfter(before.pausedBy, pauseAgent) : before.pausedBy
  const [agent] = await db
    .update(agents)
    .set({ ...change, pausedBy })
    .where(isIt)
    .returning()
  if (agent) await keys.setDailyCap(db, id, dailyCapOf(agent))
  return agent
}

/**
 * Lets an agent buy nothing, or buy again: the operator's word. False when there is none, or the
 * operator has said so already.
 */
export async function pause(ctx: AppContext, handle: string, is: boolean): Promise<boolean> {
  const changed = await ctx.db.tx(async (db) => {
    const [agent] = await db.select().from(agents).where(eq(agents.handle, handle))
    if (!agent || isPausedByOperator(agent) === is) return undefined
    return updateLimits(db, agent.id, { pause: { by: 'operator', is } })
  })
  ctx.keys.forget()
  return changed !== undefined
}
