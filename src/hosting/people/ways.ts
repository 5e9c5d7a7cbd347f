import { eq } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { Refusal } from '../../refusals.ts'
import type { Person } from './people.ts'
import { identities, passkeys } from './tables.ts'

/** Inside the transaction that takes a way to sign in away. Refuses last_way_in. */
export async function checkWayLeft(db: Db, { id, password }: Person): Promise<void> {
  if (password !== null) return
  const left = [
    await db.$count(passkeys, eq(passkeys.person, id)),
    await db.$count(identities, eq(identities.person, id)),
  ]
  if (left.every((count) => count === 0)) throw new Refusal('last_way_in')
}
