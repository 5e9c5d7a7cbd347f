import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { idPattern } from '../../core/ids.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { lockActivePerson, type Person } from './people.ts'
import { identities, passkeys } from './tables.ts'

/** Takes a way to sign in, called `what`, from its person. Refuses not_found, last_way_in. */
export async function removeSignInMethod(
  ctx: AppContext,
  { id: person }: Person,
  ways: typeof passkeys | typeof identities,
  { id, what }: { id: string; what: string },
): Promise<void> {
  if (!idPattern.test(id)) throw new ApiError('not_found', { what })
  await ctx.db.tx(async (db) => {
    const now = await lockActivePerson(ctx, db, person)
    const gone = await db
      .delete(ways)
      .where(and(eq(ways.id, id), eq(ways.person, person)))
      .returning({ id: ways.id })
    if (gone.length === 0) throw new ApiError('not_found', { what })
    await checkMethodLeft(db, now)
  })
}

async function checkMethodLeft(db: Db, { id, password }: Person): Promise<void> {
  if (password !== null) return
  const keys = db.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.person, id))
  const links = db.select({ id: identities.id }).from(identities).where(eq(identities.person, id))
  const left = [...(await keys.limit(1)), ...(await links.limit(1))]
  if (left.length === 0) throw new ApiError('last_way_in')
}
