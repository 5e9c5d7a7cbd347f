import { and, asc, eq, lt, or } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { newId } from '../../core/ids.ts'
import { isPlainLine } from '../../core/text.ts'
import { countRows } from '../../db/query.ts'
import { ApiError } from '../../errors.ts'
import { keyNameCharsMax, passkeysPerPersonMax } from '../../limits.ts'
import { checkHere, find, type Person } from './people.ts'
import { checkFresh } from './sessions.ts'
import { byAddress, type Entered, type From, tried } from './sign-in.ts'
import { passkeys } from './tables.ts'
import { useTicket } from './tickets.ts'
import { removeWay } from './ways.ts'
import { asBase64, asserted, named, notGood, purposeOf, registered } from './webauthn.ts'

export type Passkey = typeof passkeys.$inferSelect

/** Where an answer comes from, and the browser or session whose challenge it must have signed. */
interface By {
  holder: string
  from: From
}

/** Keeps a new passkey. Refuses bad_request, bad_passkey, sign_in_stale, sign_in_again. */
export async function add(
  ctx: AppContext,
  person: Person,
  { name, answer }: { name: string; answer: string },
  { holder, from }: By,
): Promise<void> {
  checkFresh(ctx, from.before)
  if (name.trim() === '' || !isPlainLine(name, keyNameCharsMax)) {
    const problem = `A passkey's name is one plain line of at most ${keyNameCharsMax} characters.`
    throw new ApiError('bad_request', { problem })
  }
  const { credential, ticket } = await registered(ctx, holder, answer)
  const { id, publicKey, counter } = credential
  await ctx.db.tx(async (db) => {
    await checkHere(ctx, db, person.id)
    await useTicket(ctx, db, purposeOf('add', holder), ticket)
    const kept = await countRows(db, passkeys, eq(passkeys.person, person.id))
    if (kept >= passkeysPerPersonMax) {
      const problem = `A person has at most ${passkeysPerPersonMax} passkeys. Remove one first.`
      throw new ApiError('bad_request', { problem })
    }
    const made = { publicKey: asBase64(publicKey), created: ctx.clock.now() }
    const added = await db
      .insert(passkeys)
      .values({
        id: newId(),
        credential: id,
        person: person.id,
        name: name.trim(),
        counter,
        ...made,
      })
      .onConflictDoNothing()
      .returning({ id: passkeys.id })
    if (added.length === 0) notGood('This passkey is kept here already.')
  })
}

const unknown = 'No account here has this passkey.'

/** Signs a person in by a passkey. Refuses bad_passkey, sign_in_stale, sign_in_locked. */
export const enterBy = (ctx: AppContext, answer: string, { holder, from }: By): Promise<Entered> =>
  tried(ctx, byAddress(ctx, from), from, async () => {
    const { credential, person } = named(answer)
    const its = eq(passkeys.credential, credential)
    const [known] = await ctx.db.read.select().from(passkeys).where(its)
    if (known?.person !== person) return notGood(unknown)
    const { counter, ticket } = await asserted(ctx, holder, answer, known)
    await ctx.db.tx(async (db) => {
      await useTicket(ctx, db, purposeOf('enter', holder), ticket)
      // A copy of it may have signed in meanwhile.
      const isNext = or(lt(passkeys.counter, counter), eq(passkeys.counter, 0))
      const counted = await db
        .update(passkeys)
        .set({ counter, seen: ctx.clock.now() })
        .where(and(its, isNext))
        .returning({ id: passkeys.id })
      if (counted.length === 0) notGood(unknown)
    })
    return find(ctx, person)
  })

/** A person's passkeys, oldest first. */
export const listOf = (ctx: AppContext, person: Person): Promise<Passkey[]> =>
  ctx.db.read
    .select()
    .from(passkeys)
    .where(eq(passkeys.person, person.id))
    .orderBy(asc(passkeys.created), asc(passkeys.id))
    .limit(passkeysPerPersonMax)

/** Removes a passkey. Refuses not_found, last_way_in. */
export const remove = (ctx: AppContext, person: Person, id: string): Promise<void> =>
  removeWay(ctx, person, passkeys, { id, what: 'passkey' })
