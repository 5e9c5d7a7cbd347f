import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { newId, sha256, sign } from '../kernel/ids.ts'
import { deviceSlotsPerPerson, devicesPerBrowserMax, nameAttack } from '../kernel/limits.ts'
import type { StrictLimit } from '../kernel/state/limits.ts'
import {
  consumeRecoveryCode,
  createRecoveryCodes,
  hashPassword,
  hasRecoveryCode,
  validatePassword,
  verifyPassword,
} from './passwords.ts'
import * as people from './people.ts'
import type { Person } from './people.ts'
import { checkFresh, createSession, endOtherSessions, type Session } from './sessions.ts'

/** The client of a sign-in: its addresses, browser, and current session. */
export interface SignInClient {
  address: string
  /** The /24 or /56 network of the address. */
  prefix: string
  browser: string
  /** The device cookie; '' without one. */
  devices: string
  before: Session | undefined
}

/** A signed-in person with the values of the session cookie and the device cookie. */
export interface SignInResult {
  person: people.Person
  secret: string
  device: string
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
  const person = await people.findByName(ctx, name)
  const device = person && knownDevice(ctx, person, from)
  const counts = device ?? (await byPrefix(ctx, people.normalizeName(name) ?? '', from))
  return attemptSignIn(ctx, counts, from, own, async () => {
    const isRight = await verifyPassword(password, person?.password ?? null)
    return person && isRight ? person : undefined
  })
}

/** A counter of an attempt. `isOpen`: it counts and never rejects. */
interface Count {
  limit: StrictLimit
  key: string
  cost?: number
  isOpen?: boolean
}

/**
 * Returns the counter of a browser that is signed in or has signed in before. No wrong password of
 * another device counts for it (docs/decisions/0058).
 */
function knownDevice(
  ctx: AppContext,
  person: people.Person,
  { before, devices }: SignInClient,
): Count[] | undefined {
  const isSignedIn = before?.person === person.id
  const device = isSignedIn ? before.id : deviceSlot(ctx, person, devices)
  if (device === undefined) return undefined
  return [{ limit: ctx.state.limits.deviceSignIns, key: `${person.id} ${device}` }]
}

/**
 * Returns the counters of an unknown device. Each attempt at a name under attack costs more of the
 * budget of its prefix, but a prefix without wrong attempts always has one.
 */
async function byPrefix(ctx: AppContext, name: string, { prefix }: SignInClient): Promise<Count[]> {
  const { signInsByName, signIns, attackedNames: names } = ctx.state.limits
  const wrong = names.max - (await names.left(name)).calls
  const mildCost = wrong >= nameAttack.fiveTimes ? 5 : 1
  const cost = wrong >= nameAttack.tenTimes ? 10 : mildCost
  return [
    { limit: signInsByName, key: `${prefix} ${name}`, cost },
    { limit: signIns, key: prefix },
    { limit: names, key: name, isOpen: true },
  ]
}

/** Returns the counter of attempts by provider. */
export const byProvider = (ctx: AppContext, { address }: SignInClient): Count[] => [
  { limit: ctx.state.limits.signIns, key: `provider ${address}` },
]

/** Counts an attempt before it runs, so concurrent attempts cannot bypass the limit. */
export async function attemptSignIn(
  ctx: AppContext,
  counts: Count[],
  from: SignInClient,
  own: boolean,
  work: () => Promise<people.Person | undefined>,
): Promise<SignInResult> {
  const counted: Count[] = []
  for (const count of counts) {
    const retryAfter = await count.limit.take(count.key, count.cost)
    if (retryAfter === undefined) counted.push(count)
    else if (!count.isOpen) throw new ApiError('sign_in_locked', { retryAfter })
  }
  const person = await work()
  if (!person) throw new ApiError('bad_sign_in', { own })
  for (const { limit, key, cost } of counted) await limit.giveBack(key, cost)
  return startSession(ctx, person, from)
}

/**
 * Signs in by a credential that cannot be guessed: a passkey or a recovery code. The right one
 * always succeeds. Wrong ones count afterwards, by the kind of credential and the address.
 */
export async function signInUnguessably(
  ctx: AppContext,
  kind: 'passkey' | 'recovery',
  from: SignInClient,
  work: () => Promise<people.Person | undefined>,
): Promise<SignInResult> {
  const person = await work().catch(async (error: unknown) => {
    await countFailure(ctx, kind, from)
    throw error
  })
  if (person) return startSession(ctx, person, from)
  await countFailure(ctx, kind, from)
  throw new ApiError('bad_sign_in', { isOther: true })
}

/** Throws `sign_in_locked` after 60 failures in an hour. */
async function countFailure(
  ctx: AppContext,
  kind: string,
  { address }: SignInClient,
): Promise<void> {
  const retryAfter = await ctx.state.limits.signIns.take(`${kind} ${address}`)
  if (retryAfter !== undefined) throw new ApiError('sign_in_locked', { retryAfter })
}

const startSession = async (
  ctx: AppContext,
  person: people.Person,
  from: SignInClient,
): Promise<SignInResult> => ({
  person,
  secret: await ctx.db.tx((db) => createSession(ctx, db, person, from)),
  device: rememberDevice(ctx, person, from.devices),
})

/**
 * Creates a person and signs them in. Throws `sign_in_locked`, and as `createPerson` does; without
 * the code of the operator's link also as `requireOpenSignUp` does.
 */
export async function signUp(
  ctx: AppContext,
  input: people.NewPerson & { password: string },
  from: SignInClient,
): Promise<SignInResult & { codes: string[] }> {
  if (input.code === undefined) people.requireOpenSignUp(ctx)
  const retryAfter = await ctx.state.limits.signUps.take(from.address)
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
  return signInUnguessably(ctx, 'recovery', from, async () => {
    const person = await people.findByName(ctx, name)
    if (!person || !(await hasRecoveryCode(ctx.db.read, person.id, code))) return undefined
    const hash = await hashPassword(password)
    const isRight = await ctx.db.tx(async (db) => {
      await people.lockPerson(db, person.id)
      if (!(await consumeRecoveryCode(db, person.id, code))) return false
      await people.setPassword(db, person.id, hash)
      await endOtherSessions(ctx, db, person.id)
      return true
    })
    return isRight ? { ...person, password: hash } : undefined
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
    await endOtherSessions(ctx, db, person.id, session)
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

/** A device id and its signature. */
const entryPattern = /^([A-Za-z0-9]{12})([\w-]{43})$/

/** The pattern of the device cookie: one entry for each person who signed in on this browser. */
export const devicesPattern = `[\\w-]{55}(?:\\.[\\w-]{55}){0,${devicesPerBrowserMax - 1}}`

/** Signs a device for a person. A new password makes the signature invalid. */
const signatureOf = (ctx: AppContext, { id, password }: Person, device: string): string =>
  sign(ctx.secret, `device ${device} ${id} ${password ?? ''}`)

/** Returns the id of the device on which a person has signed in before. */
function findDevice(ctx: AppContext, person: Person, cookie: string): string | undefined {
  const entries = cookie.split('.').slice(0, devicesPerBrowserMax)
  for (const entry of entries) {
    const [, device = '', signature = ''] = entryPattern.exec(entry) ?? []
    if (sha256(signature) === sha256(signatureOf(ctx, person, device))) return device
  }
  return undefined
}

/**
 * Returns the number of a person's device for limits, from 0 to 19; undefined for an unknown
 * device. Devices share these numbers, so that any number of them allows a bounded number of
 * wrong passwords.
 */
function deviceSlot(ctx: AppContext, person: Person, cookie: string): number | undefined {
  const device = findDevice(ctx, person, cookie)
  return device === undefined
    ? undefined
    : Number.parseInt(sha256(device).slice(0, 8), 16) % deviceSlotsPerPerson
}

/** Returns the device cookie of a browser after a person has signed in. */
function rememberDevice(ctx: AppContext, person: Person, cookie: string): string {
  if (findDevice(ctx, person, cookie) !== undefined) return cookie
  const device = newId()
  const others = cookie.split('.').filter((entry) => entryPattern.test(entry))
  return [device + signatureOf(ctx, person, device), ...others]
    .slice(0, devicesPerBrowserMax)
    .join('.')
}
