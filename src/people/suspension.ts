import { and, eq, isNotNull, isNull } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import * as keys from '../money/keys/keys.ts'
import { recordAudit } from './audit/audit.ts'
import { findByName, lockPerson } from './people.ts'
import { endOtherSessions } from './sessions.ts'
import { people } from './tables.ts'

/**
 * Suspends a person; a null reason lifts the suspension. Ends the sessions and suspends the keys of
 * the person and the wallet, but not the agents. Returns false for an unknown person, the operator,
 * and an unchanged state.
 */
export async function suspendPerson(
  ctx: AppContext,
  name: string,
  reason: string | null,
  by = 'operator',
): Promise<boolean> {
  const known = await findByName(ctx, name)
  if (!known || known.operator) return false
  const at = reason === null ? null : ctx.clock.now()
  const wouldChange = at === null ? isNotNull(people.suspended) : isNull(people.suspended)
  const changed = await ctx.db.tx(async (db) => {
    await lockPerson(db, known.id)
    const [person] = await db
      .update(people)
      .set({ suspended: at, suspendedFor: reason })
      .where(and(eq(people.id, known.id), wouldChange))
      .returning()
    if (!person) return false
    await keys.lockOwner(db, person.wallet)
    for (const owner of [person.id, person.wallet]) await keys.setSuspended(db, owner, at)
    await endOtherSessions(ctx, db, person.id)
    const did = reason === null ? 'unsuspend' : 'suspend'
    await recordAudit(ctx, db, { by, did, item: person.name, why: reason ?? '' })
    return true
  })
  ctx.keys.forget()
  return changed
}
