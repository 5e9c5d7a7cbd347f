import { and, asc, eq, lt, or } from 'drizzle-orm'

import { countRows } from '../kernel/db/query.ts'
import { rejectRequest } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { keyNameCharsMax, passkeysPerPersonMax } from '../kernel/limits.ts'
import { isPlainLine } from '../kernel/text.ts'
import type { AppContext } from '../server/context.ts'
import { findPerson, lockActivePerson, type Person } from './people.ts'
import { checkFresh } from './sessions.ts'
import { removeSignInMethod } from './sign-in-methods.ts'
import { type SignInClient, type SignInResult, signInUnguessably } from './sign-in.ts'
import { passkeys } from './tables.ts'
import { consumeTicket } from './tickets.ts'
import {
  parseAssertion,
  rejectPasskey,
  ticketPurpose,
  toBase64Url,
  verifyAssertion,
  verifyRegistration,
} from './webauthn.ts'

export type Passkey = typeof passkeys.$inferSelect

/** The browser or session that must have requested the challenge, and its client. */
interface PasskeyOrigin {
  holder: string
  from: SignInClient
}

/** Adds a passkey. Throws `bad_request`, `bad_passkey`, `sign_in_stale` and `sign_in_again`. */
export async function addPasskey(
  ctx: AppContext,
  person: Person,
  { name, answer }: { name: string; answer: string },
  { holder, from }: PasskeyOrigin,
): Promise<void> {
  checkFresh(ctx, from.before)
  if (name.trim() === '' || !isPlainLine(name, keyNameCharsMax))
    rejectRequest(`The name of a passkey must be one line of 1 to ${keyNameCharsMax} characters.`)
  const { credential, ticket } = await verifyRegistration(ctx, holder, answer)
  const { id, publicKey, counter } = credential
  await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    await consumeTicket(ctx, db, ticketPurpose('add', holder), ticket)
    const count = await countRows(db, passkeys, eq(passkeys.person, person.id))
    if (count >= passkeysPerPersonMax)
      rejectRequest(
        `You have reached the limit of ${passkeysPerPersonMax} passkeys. Remove one first.`,
      )
    const added = await db
      .insert(passkeys)
      .values({
        id: newId(),
        credential: id,
        person: person.id,
        name: name.trim(),
        counter,
        publicKey: toBase64Url(publicKey),
        created: ctx.clock.now(),
      })
      .onConflictDoNothing()
      .returning({ id: passkeys.id })
    if (added.length === 0) rejectPasskey('This passkey is already registered.')
  })
}

const unknown = 'This passkey is not registered for any account.'

/** Signs a person in. Throws `bad_passkey`, `sign_in_stale` and `sign_in_locked`. */
export const signInWithPasskey = (
  ctx: AppContext,
  browserResponse: string,
  { holder, from }: PasskeyOrigin,
): Promise<SignInResult> =>
  signInUnguessably(ctx, 'passkey', from, async () => {
    const { credential, person } = parseAssertion(browserResponse)
    const isCredential = eq(passkeys.credential, credential)
    const [known] = await ctx.db.read.select().from(passkeys).where(isCredential)
    if (known?.person !== person) return rejectPasskey(unknown)
    const { counter, ticket } = await verifyAssertion(ctx, holder, browserResponse, known)
    await ctx.db.tx(async (db) => {
      await consumeTicket(ctx, db, ticketPurpose('enter', holder), ticket)
      // A cloned passkey may have signed in meanwhile.
      const isNext = or(lt(passkeys.counter, counter), eq(passkeys.counter, 0))
      const counted = await db
        .update(passkeys)
        .set({ counter, seen: ctx.clock.now() })
        .where(and(isCredential, isNext))
        .returning({ id: passkeys.id })
      if (counted.length === 0) rejectPasskey(unknown)
    })
    return findPerson(ctx, person)
  })

/** Lists the passkeys of a person, oldest first. */
export const list = (ctx: AppContext, person: Person): Promise<Passkey[]> =>
  ctx.db.read
    .select()
    .from(passkeys)
    .where(eq(passkeys.person, person.id))
    .orderBy(asc(passkeys.created), asc(passkeys.id))
    .limit(passkeysPerPersonMax)

/** Removes a passkey. Throws `not_found` and `last_way_in`. */
export const remove = (ctx: AppContext, person: Person, id: string): Promise<void> =>
  removeSignInMethod(ctx, person, passkeys, { id, what: 'passkey' })
