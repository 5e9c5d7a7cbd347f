import { and, asc, eq } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import { ApiError, isApiError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { setProvidedGroups } from './groups.ts'
import { getIdentity, type Identity } from './identity-provider.ts'
import {
  type CreatedPerson,
  createPerson,
  displayName,
  findPerson,
  identityRow,
  lockActivePerson,
  normalizeName,
  type Person,
  requireOpenSignUp,
} from './people.ts'
import { checkFresh } from './sessions.ts'
import { removeSignInMethod } from './sign-in-methods.ts'
import { attemptSignIn, byProvider, type SignInClient, type SignInResult } from './sign-in.ts'
import { identities } from './tables.ts'

export type LinkedIdentity = typeof identities.$inferSelect

/** A request of a browser that returns from the provider. */
interface ProviderCallback {
  holder: string
  query: URLSearchParams
  from: SignInClient
}

const matches = ({ issuer, subject }: Identity) =>
  and(eq(identities.issuer, issuer), eq(identities.subject, subject))

async function findPersonByIdentity(
  ctx: AppContext,
  identity: Identity,
): Promise<Person | undefined> {
  const [linked] = await ctx.db.read.select().from(identities).where(matches(identity))
  return linked && findPerson(ctx, linked.person)
}

/**
 * Signs in the person of the provider's identity, or creates one with recovery codes. A name or
 * email address alone never gives access to an existing account. Throws as `getIdentity` does, and
 * `sign_in_locked`.
 */
export async function signInWithProvider(
  ctx: AppContext,
  { holder, query, from }: ProviderCallback,
): Promise<SignInResult & { codes: string[] }> {
  let codes: string[] = []
  const signedIn = await attemptSignIn(ctx, byProvider(ctx, from), from, false, async () => {
    const identity = await getIdentity(ctx, holder, query)
    const known = await findPersonByIdentity(ctx, identity)
    const created = known ? undefined : await signUpWithProvider(ctx, identity)
    codes = created?.codes ?? []
    const person = known ?? created?.person
    // Groups are those of the last sign-in.
    if (person) await setProvidedGroups(ctx, person.id, identity.groups ?? [])
    return person
  })
  return { ...signedIn, codes }
}

const suffixAttempts = 3

/**
 * Creates a person named as at the provider, or with a suffix if that name is taken or invalid.
 * Throws as `requireOpenSignUp` does.
 */
async function signUpWithProvider(ctx: AppContext, identity: Identity): Promise<CreatedPerson> {
  requireOpenSignUp(ctx)
  const names = identity.names.flatMap((name) => normalizeName(name) ?? [])
  const base = displayName({ name: names[0] ?? 'person' }).replace(/[^a-z0-9]/g, '') || 'person'
  const suffixes = Array.from({ length: suffixAttempts }, () => newId().toLowerCase())
  for (const name of [...names, ...suffixes.map((suffix) => `${base.slice(0, 24)}-${suffix}`)]) {
    try {
      return await createPerson(ctx, { name, password: null, identity })
    } catch (error) {
      if (!isApiError(error, 'name_taken')) throw error
      // The same person may have signed up in another window meanwhile.
      const known = await findPersonByIdentity(ctx, identity)
      if (known) return { person: known, codes: [] }
    }
  }
  throw new ApiError('name_taken')
}

/** Links an identity to a person. Throws `identity_taken` and `sign_in_again`. */
export async function linkIdentity(
  ctx: AppContext,
  person: Person,
  { holder, query, from }: ProviderCallback,
): Promise<void> {
  checkFresh(ctx, from.before)
  const identity = await getIdentity(ctx, holder, query)
  const row = identityRow(ctx, person.id, identity)
  const linked = await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    return db.insert(identities).values(row).onConflictDoNothing().returning({ id: identities.id })
  })
  if (linked.length > 0) return
  if ((await findPersonByIdentity(ctx, identity))?.id !== person.id)
    throw new ApiError('identity_taken')
}

/** Lists the identities of a person, oldest first. */
export const list = (ctx: AppContext, person: Person): Promise<LinkedIdentity[]> =>
  ctx.db.read
    .select()
    .from(identities)
    .where(eq(identities.person, person.id))
    .orderBy(asc(identities.created))
    .limit(identitiesShownMax)

const identitiesShownMax = 20

/** Unlinks an identity. Throws `not_found` and `last_way_in`. */
export const unlink = (ctx: AppContext, person: Person, id: string): Promise<void> =>
  removeSignInMethod(ctx, person, identities, { id, what: 'sign-in' })
