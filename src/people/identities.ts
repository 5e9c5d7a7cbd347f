import { and, asc, eq } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { ApiError, isApiError } from '../kernel/errors.ts'
import { idPattern, newId } from '../kernel/ids.ts'
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
import { attemptSignIn, byProvider, type SignInClient, type SignInResult } from './sign-in.ts'
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
