import { eq } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { Refusal } from '../../refusals.ts'
import type { Person } from './people.ts'
import { identities, passkeys } from './tables.ts'

/** Under `checkHere`, in the transaction that takes a way to sign in. Refuses last_way_in. */
export async function checkWayLeft(db: Db, { id, password }: Person): Promise<void> {
  if (password !== null) return
  const keys = db.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.person, id))
  const links = db.select({ id: identities.id }).from(identities).where(eq(identities.person, id))
  const left = [...(await keys.limit(1)), ...(await links.limit(1))]
  if (left.length === 0) throw new Refusal('last_way_in')
}
