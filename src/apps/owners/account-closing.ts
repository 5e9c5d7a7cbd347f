import { eq } from 'drizzle-orm'

import { rejectRequest } from '../../kernel/errors.ts'
import * as keys from '../../money/keys/keys.ts'
import { listAllOwnedAgents } from '../../people/agents/listing.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { lockUnchangedPerson, type Person } from '../../people/people.ts'
import { reauthenticate, type SignInClient } from '../../people/sign-in.ts'
import { identities, passkeys, people, recoveryCodes, sessions } from '../../people/tables.ts'
import type { AppContext } from '../../server/context.ts'
import { deleteFollowsBy } from '../explore/follows.ts'
import { deleteUsesBy } from '../explore/uses.ts'
import { releaseWithin } from './owned-agents.ts'

/**
 * Deletes a person's account with its sign-in methods, revokes its keys and releases its agents.
 * The wallet's balance stays in the ledger and cannot be spent. Throws `bad_request` for the
 * operator, and as `reauthenticate` does.
 */
export async function closeAccount(
  ctx: AppContext,
  person: Person,
  password: string,
  from: SignInClient,
): Promise<void> {
  if (person.operator) rejectRequest('The account of the operator cannot be deleted.')
  const { same } = await reauthenticate(ctx, person, password, from)
  await ctx.db.tx(async (db) => {
    await lockUnchangedPerson(ctx, db, same)
    for (const agent of await listAllOwnedAgents(db, person.id))
      await releaseWithin(ctx, db, person, agent)
    await keys.lockOwner(db, person.wallet)
    for (const owner of [person.id, person.wallet]) await keys.revokeAll(db, ctx.clock, owner)
    for (const rows of [sessions, recoveryCodes, passkeys, identities]) {
      await db.delete(rows).where(eq(rows.person, person.id))
    }
    await deleteUsesBy(db, person.id)
    await deleteFollowsBy(db, person.id)
    await db.delete(people).where(eq(people.id, person.id))
    await recordAudit(ctx, db, { by: person.name, did: 'leave', item: person.name, why: '' })
  })
  ctx.keys.forget()
}
