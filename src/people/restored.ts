import { eq } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { identities, passkeys, people, recoveryCodes, sessions } from './tables.ts'

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
