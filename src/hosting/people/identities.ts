import { and, asc, eq } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { newId } from '../../core/ids.ts'
import { ApiError, isApiError } from '../../errors.ts'
import {
  lockActivePerson,
  findPerson,
  identityRow,
  createPerson,
  type CreatedPerson,
  normalizeName,
  type Person,
  displayName,
} from './people.ts'
import { type Identity, getIdentity } from './identity-provider.ts'
import { checkFresh } from './sessions.ts'
import { byAddress, type SignInResult, type SignInClient, attemptSignIn } from './sign-in.ts'
import { identities } from './tables.ts'
import { removeSignInMethod } from './sign-in-methods.ts'

export type LinkedIdentity = typeof identities.$inferSelect

/** A browser that comes back from the provider, with what that has sent along. */
interface ProviderCallback {
  holder: string
  query: URLSearchParams
  from: SignInClient
}

const isThis = ({ issuer, subject }: Identity) =>
  and(eq(identities.issuer, issuer), eq(identities.subject, subject))

async function findPersonByIdentity(ctx: AppContext, identity: Identity): Promise<Person | undefined> {
  const [linked] = await ctx.db.read.select().from(identities).where(isThis(identity))
  return linked && findPerson(ctx, linked.person)
}

/**
 * Signs in who the provider says it is: the person of this identity, else a new one, with recovery
 * codes. Nobody comes into an account that is there by a name or an e-mail address. Refuses as
 * `theIdentity`, and sign_in_locked.
 */
export async function signInWithProvider(
  ctx: AppContext,
  { holder, query, from }: ProviderCallback,
): Promise<SignInResult & { codes: string[] }> {
  let codes: string[] = []
  const entered = await attemptSignIn(ctx, byAddress(ctx, from), from, async () => {
    const identity = await getIdentity(ctx, holder, query)
    const known = await findPersonByIdentity(ctx, identity)
    if (known) return known
    const joined = await signUpWithProvider(ctx, identity)
    codes = joined.codes
    return joined.person
  })
  return { ...entered, codes }
}

const endings = 3

/** A new person by a name of the provider's, or one like it where that is taken or is no name. */
async function signUpWithProvider(ctx: AppContext, identity: Identity): Promise<CreatedPerson> {
  const names = identity.names.flatMap((name) => normalizeName(name) ?? [])
  const like = displayName({ name: names[0] ?? 'person' }).replace(/[^a-z0-9]/g, '') || 'person'
  const others = Array.from({ length: endings }, () => newId().toLowerCase())
  for (const name of [...names, ...others.map((end) => `${like.slice(0, 24)}-${end}`)]) {
    try {
      return await createPerson(ctx, { name, password: null, identity })
    } catch (error) {
      if (!isApiError(error, 'name_taken')) throw error
      // The same person may have come in by another window meanwhile.
      const known = await findPersonByIdentity(ctx, identity)
      if (known) return { person: known, codes: [] }
    }
  }
  throw new ApiError('name_taken')
}

/** Lets a person in by the provider from now on. Refuses identity_taken, sign_in_again. */
export async function linkIdentity(
  ctx: AppContext,
  person: Person,
  { holder, query, from }: ProviderCallback,
): Promise<void> {
  checkFresh(ctx, from.before)
  const identity = await getIdentity(ctx, holder, query)
  const row = identityRow(ctx, person.id, identity)
  const kept = await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    return db.insert(identities).values(row).onConflictDoNothing().returning({ id: identities.id })
  })
  if (kept.length > 0) return
  if ((await findPersonByIdentity(ctx, identity))?.id !== person.id) throw new ApiError('identity_taken')
}

/** What a person has linked, oldest first. */
export const list = (ctx: AppContext, person: Person): Promise<LinkedIdentity[]> =>
  ctx.db.read
    .select()
    .from(identities)
    .where(eq(identities.person, person.id))
    .orderBy(asc(identities.created))
    .limit(shownMax)

const shownMax = 20

/** Ends that. Refuses not_found, last_way_in. */
export const unlink = (ctx: AppContext, person: Person, id: string): Promise<void> =>
  removeSignInMethod(ctx, person, identities, { id, what: 'sign-in' })
