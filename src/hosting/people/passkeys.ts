import { and, asc, eq, lt, or } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { newId } from '../../core/ids.ts'
import { isPlainLine } from '../../core/text.ts'
import { countRows } from '../../db/query.ts'
import { ApiError } from '../../errors.ts'
import { keyNameCharsMax, passkeysPerPersonMax } from '../../limits.ts'
import { lockActivePerson, findPerson, type Person } from './people.ts'
import { checkFresh } from './sessions.ts'
import { byAddress, type SignInResult, type SignInClient, attemptSignIn } from './sign-in.ts'
import { passkeys } from './tables.ts'
import { consumeTicket } from './tickets.ts'
import { removeSignInMethod } from './sign-in-methods.ts'
import { toBase64Url, verifyAssertion, parseAssertion, rejectPasskey, ticketPurpose, verifyRegistration } from './webauthn.ts'

export type Passkey = typeof passkeys.$inferSelect

/** Where an answer comes from, and the browser or session whose challenge it must have signed. */
interface By {
  holder: string
  from: SignInClient
}

/** Keeps a new passkey. Refuses bad_request, bad_passkey, sign_in_stale, sign_in_again. */
export async function addPasskey(
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
  const { credential, ticket } = await verifyRegistration(ctx, holder, answer)
  const { id, publicKey, counter } = credential
  await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    await consumeTicket(ctx, db, ticketPurpose('add', holder), ticket)
    const kept = await countRows(db, passkeys, eq(passkeys.person, person.id))
    if (kept >= passkeysPerPersonMax) {
      const problem = `A person has at most ${passkeysPerPersonMax} passkeys. Remove one first.`
      throw new ApiError('bad_request', { problem })
    }
    const made = { publicKey: toBase64Url(publicKey), created: ctx.clock.now() }
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
    if (added.length === 0) rejectPasskey('This passkey is kept here already.')
  })
}

const unknown = 'No account here has this passkey.'

/** Signs a person in by a passkey. Refuses bad_passkey, sign_in_stale, sign_in_locked. */
export const signInWithPasskey = (ctx: AppContext, answer: string, { holder, from }: By): Promise<SignInResult> =>
  attemptSignIn(ctx, byAddress(ctx, from), from, async () => {
    const { credential, person } = parseAssertion(answer)
    const its = eq(passkeys.credential, credential)
    const [known] = await ctx.db.read.select().from(passkeys).where(its)
    if (known?.person !== person) return rejectPasskey(unknown)
    const { counter, ticket } = await verifyAssertion(ctx, holder, answer, known)
    await ctx.db.tx(async (db) => {
      await consumeTicket(ctx, db, ticketPurpose('enter', holder), ticket)
      // A copy of it may have signed in meanwhile.
      const isNext = or(lt(passkeys.counter, counter), eq(passkeys.counter, 0))
      const counted = await db
        .update(passkeys)
        .set({ counter, seen: ctx.clock.now() })
        .where(and(its, isNext))
        .returning({ id: passkeys.id })
      if (counted.length === 0) rejectPasskey(unknown)
    })
    return findPerson(ctx, person)
  })

/** A person's passkeys, oldest first. */
export const list = (ctx: AppContext, person: Person): Promise<Passkey[]> =>
  ctx.db.read
    .select()
    .from(passkeys)
    .where(eq(passkeys.person, person.id))
    .orderBy(asc(passkeys.created), asc(passkeys.id))
    .limit(passkeysPerPersonMax)

/** Removes a passkey. Refuses not_found, last_way_in. */
export const remove = (ctx: AppContext, person: Person, id: string): Promise<void> =>
  removeSignInMethod(ctx, person, passkeys, { id, what: 'passkey' })
