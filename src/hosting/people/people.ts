import { eq } from 'drizzle-orm'

import { newId, sha256, sign } from '../../core/ids.ts'
import type { Db } from '../../db/engine.ts'
import { faultOf } from '../../db/fault.ts'
import { lock } from '../../db/lock.ts'
import type { House } from '../../house.ts'
import type { Owner } from '../../ledger/accounts.ts'
import * as ledger from '../../ledger/ledger.ts'
import { personNameCharsMax } from '../../limits.ts'
import { isRefusal, Refusal } from '../../refusals.ts'
import { checkPassword, hashOf } from './passwords.ts'
import type { Identity } from './provider.ts'
import { newCodes } from './recovery.ts'
import { identities, people } from './tables.ts'

export type Person = typeof people.$inferSelect

const handle = /^[a-z0-9][a-z0-9._-]{1,38}[a-z0-9]$/
const email = /^[^\s@<>"',;:\\()[\]\p{Cc}]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,8}$/u

/** A name or an e-mail address as it is kept; undefined when it is neither. */
export function nameOf(text: string): string | undefined {
  const name = text.trim().normalize('NFC').toLowerCase()
  return name.length <= personNameCharsMax && (handle.test(name) || email.test(name))
    ? name
    : undefined
}

/** How others see a person: no agent is told an e-mail address. */
export const shownName = ({ name }: Pick<Person, 'name'>): string => name.split('@')[0] ?? name

/** A person's wallet: one gateway account, which the operator funds. */
export const walletOf = ({ wallet }: Pick<Person, 'wallet'>): Owner => ({
  kind: 'gateway',
  owner: wallet,
})

/**
 * Who joins; without a password a provider or a proxy vouches for them. `code`: of the operator's
 * link.
 */
export interface Joining {
  name: string
  password: string | null
  code?: string | undefined
  /** Who they are at the sign-in provider. */
  identity?: Identity | undefined
}

/** A new person, and their recovery codes, which are shown once. */
export interface Joined {
  person: Person
  codes: string[]
}

/** Makes a person with an empty wallet. Refuses bad_request, name_taken, not_found. */
export async function join(house: House, joining: Joining): Promise<Joined> {
  const { name, password, code, identity } = joining
  const known = nameOf(name)
  if (known === undefined) {
    const problem = 'A name is 3 to 40 letters a-z, digits and . _ -, or an e-mail address.'
    throw new Refusal('bad_request', { problem })
  }
  if (password !== null) checkPassword(password, known)
  const hash = password === null ? null : await hashOf(password)
  try {
    return await house.db.tx(async (db) => {
      if (code !== undefined) {
        await lock(db, 'the first operator')
        await checkFirst(house, db, code)
      }
      const row = { id: newId(), name: known, wallet: newId(), created: house.clock.now() }
      const operator = code !== undefined
      const [person] = await db
        .insert(people)
        .values({ ...row, password: hash, operator })
        .returning()
      if (!person) throw new Error('the new person was not kept')
      await ledger.open(house, db, walletOf(person))
      if (identity) await db.insert(identities).values(identityRow(house, person.id, identity))
      // Who comes by a proxy alone never needs another way in.
      const codes = password === null && !identity ? [] : await newCodes(db, person.id)
      return { person, codes }
    })
  } catch (error) {
    throw faultOf(error) === 'unique' ? new Refusal('name_taken') : error
  }
}

/** The row that links a person to who they are at the provider. */
export const identityRow = (house: House, person: string, identity: Identity) => ({
  id: newId(),
  person,
  issuer: identity.issuer,
  subject: identity.subject,
  name: identity.names[0] ?? identity.subject,
  created: house.clock.now(),
})

/** The person with this id. */
export async function find(house: House, id: string): Promise<Person | undefined> {
  const [person] = await house.db.read.select().from(people).where(eq(people.id, id))
  return person
}

/** Refuses account_suspended. */
export function checkActive({ suspendedFor }: Person): void {
  if (suspendedFor !== null) throw new Refusal('account_suspended', { reason: suspendedFor })
}

/** Lets one decision about a person be taken at a time, until the transaction ends. */
export const lockPerson = (db: Db, id: string): Promise<void> => lock(db, `person ${id}`)

/**
 * Keeps a person from being suspended, or leaving, until this transaction ends: first in it.
 * Refuses not_signed_in for who has left meanwhile, and account_suspended.
 */
export async function checkHere(house: House, db: Db, id: string): Promise<Person> {
  await lockPerson(db, id)
  const [person] = await db.select().from(people).where(eq(people.id, id))
  if (!person) throw new Refusal('not_signed_in', { signIn: `${house.urls.app}/sign-in` })
  checkActive(person)
  return person
}

/** The same for who has shown who they are; bad_sign_in where the password was changed since. */
export async function checkSame(house: House, db: Db, { id, password }: Person): Promise<void> {
  const now = await checkHere(house, db, id)
  if (now.password !== password) throw new Refusal('bad_sign_in', { own: true })
}

/** The person with this name or e-mail address, in whatever case. */
export async function findByName(house: House, text: string): Promise<Person | undefined> {
  const name = nameOf(text) ?? ''
  const [person] = await house.db.read.select().from(people).where(eq(people.name, name))
  return person
}

/** Who a trusted proxy vouches for; made at the first visit. Undefined for what is no name. */
export async function vouched(house: House, text: string): Promise<Person | undefined> {
  if (nameOf(text) === undefined) return undefined
  const known = await findByName(house, text)
  if (known) return known
  const made = await join(house, { name: text, password: null }).catch((error: unknown) => {
    if (isRefusal(error, 'name_taken')) return undefined
    throw error
  })
  return made?.person ?? findByName(house, text)
}

const hasOperator = async (db: Db): Promise<boolean> =>
  (await db.select({ id: people.id }).from(people).where(eq(people.operator, true)).limit(1))
    .length > 0

/** The secret never leaves the data folder, so its hash needs to be kept nowhere. */
const firstCode = (house: House): string => sign(house.secret, 'the first operator')

/** The link that makes a person the operator, once; undefined when there is one. */
export const operatorLink = async (house: House): Promise<string | undefined> =>
  (await hasOperator(house.db.read)) ? undefined : `${house.urls.app}/welcome/${firstCode(house)}`

/** Refuses not_found where this is not the operator's link, or it was used. */
export async function checkFirst(house: House, db: Db, code: string): Promise<void> {
  const isRight = sha256(code) === sha256(firstCode(house))
  if (isRight && !(await hasOperator(db))) return
  const see = 'The operator’s link works once; each start of this place prints it until then.'
  throw new Refusal('not_found', { what: 'link', see })
}

/** Makes a person the operator by the one-time link. Refuses not_found. */
export const becomeOperator = (house: House, person: Person, code: string): Promise<void> =>
  house.db.tx(async (db) => {
    await lock(db, 'the first operator')
    await checkFirst(house, db, code)
    await db.update(people).set({ operator: true }).where(eq(people.id, person.id))
  })

/** Keeps a new password, inside a transaction. */
export async function setPassword(db: Db, person: string, hash: string): Promise<void> {
  await db.update(people).set({ password: hash }).where(eq(people.id, person))
}
