import type { AppContext } from '../../context.ts'
import { sha256 } from '../../core/ids.ts'
import { RateLimit } from '../../core/rate-limit.ts'
import { ApiError } from '../../errors.ts'
import { hashPassword, validatePassword, verifyPassword } from './passwords.ts'
import * as people from './people.ts'
import { consumeRecoveryCode, createRecoveryCodes } from './recovery-codes.ts'
import { checkFresh, createSession, endOtherSessions, type Session } from './sessions.ts'

/** The client of a sign-in: its address, browser, and current session. */
export interface SignInClient {
  address: string
  browser: string
  before: Session | undefined
}

/** A signed-in person with the secret for the session cookie. */
export interface SignInResult {
  person: people.Person
  secret: string
}

/**
 * Signs a person in by name or email address and password. Throws `bad_sign_in`, alike for a wrong
 * name and a wrong password and after the same time, and `sign_in_locked`. `own` means that the
 * person is already signed in.
 */
export async function signIn(
  ctx: AppContext,
  { name, password }: { name: string; password: string },
  from: SignInClient,
  own = false,
): Promise<SignInResult> {
  const work = async (): Promise<people.Person | undefined> => {
    const person = await people.findByName(ctx, name)
    const isRight = await verifyPassword(password, person?.password ?? null)
    return person && isRight ? person : undefined
  }
  return attemptSignIn(ctx, byName(ctx, name, from), from, work, own)
}

/** A counter of an attempt. */
type Count = [limit: RateLimit, key: string]

/** Returns the counter of attempts without a name: by passkey or provider. */
export const byAddress = (ctx: AppContext, { address }: SignInClient): Count[] => [
  [ctx.state.signInLimits.address, address],
]

function byName(ctx: AppContext, name: string, from: SignInClient): Count[] {
  const { pair, name: names } = ctx.state.signInLimits
  const normalized = people.normalizeName(name) ?? ''
  return [[pair, `${from.address} ${normalized}`], ...byAddress(ctx, from), [names, normalized]]
}

/** Counts an attempt before it runs, so concurrent attempts cannot bypass the limit. */
export async function attemptSignIn(
  ctx: AppContext,
  counts: Count[],
  from: SignInClient,
  work: () => Promise<people.Person | undefined>,
  own = false,
): Promise<SignInResult> {
  for (const [limit, key] of counts) {
    const retryAfter = limit.take(key)
    if (retryAfter !== undefined) throw new ApiError('sign_in_locked', { retryAfter })
  }
  const person = await work()
  if (!person) throw new ApiError('bad_sign_in', { own })
  for (const [limit, key] of counts) limit.giveBack(key)
  return startSession(ctx, person, from)
}

const startSession = async (
  ctx: AppContext,
  person: people.Person,
  from: SignInClient,
): Promise<SignInResult> => ({
  person,
  secret: await ctx.db.tx((db) => createSession(ctx, db, person, from)),
})

/** Creates a person and signs them in. Throws `sign_in_locked`, and as `createPerson` does. */
export async function signUp(
  ctx: AppContext,
  input: people.NewPerson & { password: string },
  from: SignInClient,
): Promise<SignInResult & { codes: string[] }> {
  const retryAfter = ctx.state.signInLimits.signUps.take(from.address)
  if (retryAfter !== undefined) throw new ApiError('sign_in_locked', { retryAfter })
  const { person, codes } = await people.createPerson(ctx, input)
  return { ...(await startSession(ctx, person, from)), codes }
}

/** Sets a new password with a one-time recovery code and ends every session. */
export async function recoverAccount(
  ctx: AppContext,
  { name, code, password }: { name: string; code: string; password: string },
  from: SignInClient,
): Promise<SignInResult> {
  validatePassword(password, people.normalizeName(name) ?? '')
  return attemptSignIn(ctx, byName(ctx, name, from), from, async () => {
    const [person, hash] = [await people.findByName(ctx, name), await hashPassword(password)]
    const isRight = await ctx.db.tx(async (db) => {
      await people.lockPerson(db, person?.id ?? '')
      if (!(await consumeRecoveryCode(db, person?.id ?? '', code)) || !person) return false
      await people.setPassword(db, person.id, hash)
      await endOtherSessions(db, person.id)
      return true
    })
    return person && isRight ? { ...person, password: hash } : undefined
  })
}

/**
 * Reauthenticates a person: by password, which starts a new session, or without a password by a
 * recent session. Pass the returned person to `lockUnchangedPerson`. Throws as `signIn` does, and
 * `sign_in_again`.
 */
export async function reauthenticate(
  ctx: AppContext,
  person: people.Person,
  password: string,
  from: SignInClient,
): Promise<{ same: people.Person; secret: string | undefined; hash: string | undefined }> {
  if (person.password === null) {
    checkFresh(ctx, from.before)
    return { same: person, secret: undefined, hash: from.before?.hash }
  }
  const { person: same, secret } = await signIn(ctx, { name: person.name, password }, from, true)
  return { same, secret, hash: sha256(secret) }
}

/**
 * Changes a password and ends all other sessions. Returns the secret of a new session cookie, if
 * any. Throws as `reauthenticate` does, and `bad_request`.
 */
export async function changePassword(
  ctx: AppContext,
  person: people.Person,
  { password, newPassword }: { password: string; newPassword: string },
  from: SignInClient,
): Promise<string | undefined> {
  validatePassword(newPassword, person.name)
  const { same, secret, hash: session } = await reauthenticate(ctx, person, password, from)
  const hash = await hashPassword(newPassword)
  await ctx.db.tx(async (db) => {
    await people.lockUnchangedPerson(ctx, db, same)
    await people.setPassword(db, person.id, hash)
    await endOtherSessions(db, person.id, session)
  })
  return secret
}

/** Replaces the recovery codes of a person. Throws as `reauthenticate` does. */
export async function renewRecoveryCodes(
  ctx: AppContext,
  person: people.Person,
  password: string,
  from: SignInClient,
): Promise<{ secret: string | undefined; codes: string[] }> {
  const { same, secret } = await reauthenticate(ctx, person, password, from)
  const codes = await ctx.db.tx(async (db) => {
    await people.lockUnchangedPerson(ctx, db, same)
    return createRecoveryCodes(db, person.id)
  })
  return { secret, codes }
}
