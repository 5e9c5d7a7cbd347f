import type { AppContext } from '../../context.ts'
import { sha256 } from '../../core/ids.ts'
import { RateLimit } from '../../core/rate-limit.ts'
import { ApiError } from '../../errors.ts'
import { validatePassword, hashPassword, verifyPassword } from './passwords.ts'
import * as people from './people.ts'
import { createRecoveryCodes, consumeRecoveryCode } from './recovery-codes.ts'
import { createSession, checkFresh, endOtherSessions, type Session } from './sessions.ts'

/** Where a request comes from: its address, its browser, and the session that it brought. */
export interface SignInClient {
  address: string
  browser: string
  before: Session | undefined
}

/** A person who has just signed in, and the text of their new session's cookie. */
export interface SignInResult {
  person: people.Person
  secret: string
}

/**
 * Signs a person in by name or e-mail address and password. Refuses bad_sign_in with one sentence
 * and after the same time for a wrong name and a wrong password, and sign_in_locked. `own`: it is
 * the password of who is signed in already.
 */
export async function signIn(
  ctx: AppContext,
  { name, password }: { name: string; password: string },
  from: SignInClient,
  own = false,
): Promise<SignInResult> {
  const work = async (): Promise<people.Person | undefined> => {
    const person = await people.findByName(ctx, name)
    const right = await verifyPassword(password, person?.password ?? null)
    return person && right ? person : undefined
  }
  return attemptSignIn(ctx, byName(ctx, name, from), from, work, own)
}

/** What one try counts for. */
type Count = [limit: RateLimit, key: string]

/** A try by what names nobody: a passkey, or what a sign-in provider said. */
export const byAddress = (ctx: AppContext, { address }: SignInClient): Count[] => [
  [ctx.state.signInLimits.address, address],
]

function byName(ctx: AppContext, name: string, from: SignInClient): Count[] {
  const { pair, name: names } = ctx.state.signInLimits
  const who = people.normalizeName(name) ?? ''
  return [[pair, `${from.address} ${who}`], ...byAddress(ctx, from), [names, who]]
}

/** Counts a try before it is made, so that many at once are no way around it. */
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

const startSession = async (ctx: AppContext, person: people.Person, from: SignInClient): Promise<SignInResult> => ({
  person,
  secret: await ctx.db.tx((db) => createSession(ctx, db, person, from)),
})

/** Makes a person and signs them in. Refuses sign_in_locked and what `join` does. */
export async function signUp(
  ctx: AppContext,
  joining: people.NewPerson & { password: string },
  from: SignInClient,
): Promise<SignInResult & { codes: string[] }> {
  const retryAfter = ctx.state.signInLimits.signUps.take(from.address)
  if (retryAfter !== undefined) throw new ApiError('sign_in_locked', { retryAfter })
  const { person, codes } = await people.createPerson(ctx, joining)
  return { ...(await startSession(ctx, person, from)), codes }
}

/** Sets a new password by a recovery code, which is used up, and ends every session. */
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
 * Shows again who they are: by the password, which begins another session, or who has none by a
 * session that has just begun, which stays. `same`: as they were then, for `checkSame`. Refuses as
 * `signIn`, and sign_in_again.
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
 * Changes a password and ends every other session. Answers the text of this one's cookie where
 * that is new. Refuses as `again`, and bad_request.
 */
export async function changePassword(
  ctx: AppContext,
  person: people.Person,
  { password, wanted }: { password: string; wanted: string },
  from: SignInClient,
): Promise<string | undefined> {
  validatePassword(wanted, person.name)
  const { same, secret, hash: session } = await reauthenticate(ctx, person, password, from)
  const hash = await hashPassword(wanted)
  await ctx.db.tx(async (db) => {
    await people.lockUnchangedPerson(ctx, db, same)
    await people.setPassword(db, person.id, hash)
    await endOtherSessions(db, person.id, session)
  })
  return secret
}

/** New recovery codes; earlier ones stop working. Refuses as `again`. */
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
