import { and, eq, isNotNull, isNull } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { forUpdate } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import * as keys from '../../money/keys/keys.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

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
