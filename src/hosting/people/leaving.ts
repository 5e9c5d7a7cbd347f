import { eq } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import { allOf } from '../agents/owners.ts'
import { note } from '../moderation/audit.ts'
import { letGo } from './owned.ts'
import { checkSame, type Person } from './people.ts'
import { again, type From } from './sign-in.ts'
import { identities, passkeys, people, recoveryCodes, sessions } from './tables.ts'

/**
 * Deletes a person's account, by the password or right after they signed in: every way in is gone,
 * keys are revoked, agents are let go with all they have. What is left in the wallet stays in the
 * books, and nobody can spend it. Refuses bad_request for the operator, and as `again` does.
 */
export async function leave(
  ctx: AppContext,
  person: Person,
  password: string,
  from: From,
): Promise<void> {
  if (person.operator) {
    throw new ApiError('bad_request', { problem: 'The operator’s account cannot be deleted.' })
  }
  const { same } = await again(ctx, person, password, from)
  await ctx.db.tx(async (db) => {
    await checkSame(ctx, db, same)
    for (const agent of await allOf(db, person.id)) await letGo(ctx, db, person, agent)
    await keys.lockAll(db, person.wallet)
    for (const owner of [person.id, person.wallet]) await keys.revokeAll(db, ctx.clock, owner)
    for (const rows of [sessions, recoveryCodes, passkeys, identities]) {
      await db.delete(rows).where(eq(rows.person, person.id))
    }
    await db.delete(people).where(eq(people.id, person.id))
    await note(ctx, db, { by: person.name, did: 'leave', item: person.name, why: '' })
  })
  ctx.keys.forget()
}
