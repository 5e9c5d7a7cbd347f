import { RateLimit } from '../../core/counters.ts'
import { sha256 } from '../../core/ids.ts'
import { onceFor } from '../../core/once.ts'
import { hour, minute } from '../../core/time.ts'
import type { House } from '../../house.ts'
import {
  claimTriesPerHour,
  signInsPerAddress,
  signInsPerName,
  signInsPerPair,
  signUpsPerHour,
} from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import { checkPassword, hashOf, isPassword } from './passwords.ts'
import * as people from './people.ts'
import { newCodes, takeCode } from './recovery.ts'
import { begin, checkFresh, endOthers, type Session } from './sessions.ts'

/** What is counted of people in this process: tries, by address and by name. */
export const limitsOf = onceFor(({ clock }: House) => ({
  pair: new RateLimit(clock, signInsPerPair, 15 * minute),
  address: new RateLimit(clock, signInsPerAddress, hour),
  name: new RateLimit(clock, signInsPerName, hour),
  signUps: new RateLimit(clock, signUpsPerHour, hour),
  claims: new RateLimit(clock, claimTriesPerHour, hour),
}))

/** Where a request comes from: its address, its browser, and the session that it brought. */
export interface From {
  address: string
  browser: string
  before: Session | undefined
}

/** A person who has just signed in, and the text of their new session's cookie. */
export interface Entered {
  person: people.Person
  secret: string
}

/**
 * Signs a person in by name or e-mail address and password. Refuses bad_sign_in with one sentence
 * and after the same time for a wrong name and a wrong password, and sign_in_locked. `own`: it is
 * the password of who is signed in already.
 */
export async function signIn(
  house: House,
  { name, password }: { name: string; password: string },
  from: From,
  own = false,
): Promise<Entered> {
  const work = async (): Promise<people.Person | undefined> => {
    const person = await people.findByName(house, name)
    const right = await isPassword(password, person?.password ?? null)
    return person && right ? person : undefined
  }
  return tried(house, byName(house, name, from), from, work, own)
}

/** What one try counts for. */
type Count = [limit: RateLimit, key: string]

/** A try by what names nobody: a passkey, or what a sign-in provider said. */
export const byAddress = (house: House, { address }: From): Count[] => [
  [limitsOf(house).address, address],
]

function byName(house: House, name: string, from: From): Count[] {
  const { pair, name: names } = limitsOf(house)
  const who = people.nameOf(name) ?? ''
  return [[pair, `${from.address} ${who}`], ...byAddress(house, from), [names, who]]
}

/** Counts a try before it is made, so that many at once are no way around it. */
export async function tried(
  house: House,
  counts: Count[],
  from: From,
  work: () => Promise<people.Person | undefined>,
  own = false,
): Promise<Entered> {
  for (const [limit, key] of counts) {
    const retryAfter = limit.take(key)
    if (retryAfter !== undefined) throw new Refusal('sign_in_locked', { retryAfter })
  }
  const person = await work()
  if (!person) throw new Refusal('bad_sign_in', { own })
  for (const [limit, key] of counts) limit.giveBack(key)
  return enter(house, person, from)
}

const enter = async (house: House, person: people.Person, from: From): Promise<Entered> => ({
  person,
  secret: await house.db.tx((db) => begin(house, db, person, from)),
})

/** Makes a person and signs them in. Refuses sign_in_locked and what `join` does. */
export async function signUp(
  house: House,
  joining: people.Joining & { password: string },
  from: From,
): Promise<Entered & { codes: string[] }> {
  const retryAfter = limitsOf(house).signUps.take(from.address)
  if (retryAfter !== undefined) throw new Refusal('sign_in_locked', { retryAfter })
  const { person, codes } = await people.join(house, joining)
  return { ...(await enter(house, person, from)), codes }
}

/** Sets a new password by a recovery code, which is used up, and ends every session. */
export async function recover(
  house: House,
  { name, code, password }: { name: string; code: string; password: string },
  from: From,
): Promise<Entered> {
  checkPassword(password, people.nameOf(name) ?? '')
  return tried(house, byName(house, name, from), from, async () => {
    const [person, hash] = [await people.findByName(house, name), await hashOf(password)]
    const isRight = await house.db.tx(async (db) => {
      await people.lockPerson(db, person?.id ?? '')
      if (!(await takeCode(db, person?.id ?? '', code)) || !person) return false
      await people.setPassword(db, person.id, hash)
      await endOthers(db, person.id)
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
export async function again(
  house: House,
  person: people.Person,
  password: string,
  from: From,
): Promise<{ same: people.Person; secret: string | undefined; hash: string | undefined }> {
  if (person.password === null) {
    checkFresh(house, from.before)
    return { same: person, secret: undefined, hash: from.before?.hash }
  }
  const { person: same, secret } = await signIn(house, { name: person.name, password }, from, true)
  return { same, secret, hash: sha256(secret) }
}

/**
 * Changes a password and ends every other session. Answers the text of this one's cookie where
 * that is new. Refuses as `again`, and bad_request.
 */
export async function changePassword(
  house: House,
  person: people.Person,
  { password, wanted }: { password: string; wanted: string },
  from: From,
): Promise<string | undefined> {
  checkPassword(wanted, person.name)
  const { same, secret, hash: session } = await again(house, person, password, from)
  const hash = await hashOf(wanted)
  await house.db.tx(async (db) => {
    await people.checkSame(house, db, same)
    await people.setPassword(db, person.id, hash)
    await endOthers(db, person.id, session)
  })
  return secret
}

/** New recovery codes; earlier ones stop working. Refuses as `again`. */
export async function renewCodes(
  house: House,
  person: people.Person,
  password: string,
  from: From,
): Promise<{ secret: string | undefined; codes: string[] }> {
  const { same, secret } = await again(house, person, password, from)
  const codes = await house.db.tx(async (db) => {
    await people.checkSame(house, db, same)
    return newCodes(db, person.id)
  })
  return { secret, codes }
}
