import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { ApiError } from '../kernel/errors.ts'
import { idPattern } from '../kernel/ids.ts'
import { lockActivePerson, type Person } from './people.ts'
import { identities, passkeys, people, recoveryCodes, sessions } from './tables.ts'

/** Removes a sign-in method, named `what`, of a person. Throws `not_found` and `last_way_in`. */
export async function removeSignInMethod(
  ctx: AppContext,
  { id: person }: Person,
  methods: typeof passkeys | typeof identities,
  { id, what }: { id: string; what: string },
): Promise<void> {
  if (!idPattern.test(id)) throw new ApiError('not_found', { what })
  await ctx.db.tx(async (db) => {
    const current = await lockActivePerson(ctx, db, person)
    const removed = await db
      .delete(methods)
      .where(and(eq(methods.id, id), eq(methods.person, person)))
      .returning({ id: methods.id })
    if (removed.length === 0) throw new ApiError('not_found', { what })
    await checkMethodLeft(db, current)
  })
}

async function checkMethodLeft(db: Db, { id, password }: Person): Promise<void> {
  if (password !== null) return
  const keys = db.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.person, id))
  const links = db.select({ id: identities.id }).from(identities).where(eq(identities.person, id))
  const left = [...(await keys.limit(1)), ...(await links.limit(1))]
  if (left.length === 0) throw new ApiError('last_way_in')
}

/** Ends the sessions of a restored database: some of them may have ended since its backup. */
export async function endAllSessions(db: Db): Promise<void> {
  await db.delete(sessions)
}

const idsOf = (rows: { id: string }[]): Set<string> => new Set(rows.map(({ id }) => id))

/**
 * Deletes the recovery codes, passkeys and linked accounts of a restored database that `replaced`,
 * the database before it, no longer has for its people.
 */
export async function deleteSignInsWithout(db: Db, replaced: Db): Promise<void> {
  const there = idsOf(await replaced.select({ id: people.id }).from(people))
  for (const [table, id] of [
    [recoveryCodes, recoveryCodes.hash],
    [passkeys, passkeys.id],
    [identities, identities.id],
  ] as const) {
    const left = idsOf(await replaced.select({ id }).from(table))
    for (const row of await db.select({ id, person: table.person }).from(table)) {
      if (there.has(row.person) && !left.has(row.id)) await db.delete(table).where(eq(id, row.id))
    }
  }
}
