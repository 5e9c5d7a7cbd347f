import { and, eq, isNotNull, isNull } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { forUpdate } from '../../db/query.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import type { Agent } from './agents.ts'
import { agents } from './tables.ts'

/** What a suspended agent is told. */
export const suspensionError = ({ suspendedFor }: Pick<Agent, 'suspendedFor'>) =>
  new ApiError('account_suspended', { reason: suspendedFor ?? '' })

/** Why an agent is suspended, inside a transaction that keeps it so; null where it is not. */
export async function findSuspensionReason(db: Db, agent: string): Promise<string | null> {
  const one = db.select({ why: agents.suspendedFor }).from(agents).where(eq(agents.id, agent))
  const [row] = await forUpdate(one.$dynamic(), agents.id)
  return row?.why ?? null
}

/**
 * Suspends an agent and its keys for a reason, or lets it go on (null), inside a transaction;
 * forget the keys after its commit. Undefined when nobody has this handle, or it is so already.
 */
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
  const isOther = at === null ? isNotNull(agents.suspended) : isNull(agents.suspended)
  const [agent] = await db
    .update(agents)
    .set({ suspended: at, suspendedFor: reason })
    .where(and(eq(agents.id, known.id), isOther))
    .returning()
  if (agent) await keys.setSuspended(db, agent.id, at)
  return agent
}
