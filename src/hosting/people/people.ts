import { eq } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { newId, sha256, sign } from '../../core/ids.ts'
import type { Db } from '../../db/engine.ts'
import { databaseErrorKind } from '../../db/error.ts'
import { lock } from '../../db/lock.ts'
import { ApiError, isApiError } from '../../errors.ts'
import type { Owner } from '../../ledger/accounts.ts'
import * as ledger from '../../ledger/ledger.ts'
import { personNameCharsMax } from '../../limits.ts'
import { validatePassword, hashPassword } from './passwords.ts'
import type { Identity } from './identity-provider.ts'
import { createRecoveryCodes } from './recovery-codes.ts'
import { identities, people } from './tables.ts'

export type Person = typeof people.$inferSelect

const handle = /^[a-z0-9][a-z0-9._-]{1,38}[a-z0-9]$/
const email = /^[^\s@<>"',;:\\()[\]\p{Cc}]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,8}$/u

/** A name or an e-mail address as it is kept; undefined when it is neither. */
export function normalizeName(text: string): string | undefined {
  const name = text.trim().normalize('NFC').toLowerCase()
  return name.length <= personNameCharsMax && (handle.test(name) || email.test(name))
    ? name
    : undefined
}

/** How others see a person: no agent is told an e-mail address. */
export const displayName = ({ name }: Pick<Person, 'name'>): string => name.split('@')[0] ?? name

/** A person's wallet: one gateway account, which the operator funds. */
export const walletOf = ({ wallet }: Pick<Person, 'wallet'>): Owner => ({
  kind: 'gateway',
  owner: wallet,
})

/**
 * Who joins; without a password a provider or a proxy vouches for them. `code`: of the operator's
 * link.
 */
export interface NewPerson {
  name: string
  password: string | null
  code?: string | undefined
  /** Who they are at the sign-in provider. */
  identity?: Identity | undefined
}

/** A new person, and their recovery codes, which are shown once. */
export interface CreatedPerson {
  person: Person
  codes: string[]
}

/** Makes a person with an empty wallet. Refuses bad_request, name_taken, not_found. */
export async function createPerson(ctx: AppContext, joining: NewPerson): Promise<CreatedPerson> {
  const { name, password, code, identity } = joining
  const known = normalizeName(name)
  if (known === undefined) {
    const problem = 'A name is 3 to 40 letters a-z, digits and . _ -, or an e-mail address.'
    throw new ApiError('bad_request', { problem })
  }
  if (password !== null) validatePassword(password, known)
  const hash = password === null ? null : await hashPassword(password)
  try {
    return await ctx.db.tx(async (db) => {
      if (code !== undefined) {
        await lock(db, 'the first operator')
        await checkOperatorCode(ctx, db, code)
      }
      const row = { id: newId(), name: known, wallet: newId(), created: ctx.clock.now() }
      const operator = code !== undefined
      const [person] = await db
        .insert(people)
        .values({ ...row, password: hash, operator })
        .returning()
      if (!person) throw new Error('the new person was not kept')
      await ledger.open(ctx, db, walletOf(person))
      if (identity) await db.insert(identities).values(identityRow(ctx, person.id, identity))
      // Who comes by a proxy alone never needs another way in.
      const codes = password === null && !identity ? [] : await createRecoveryCodes(db, person.id)
      return { person, codes }
    })
  } catch (error) {
    throw databaseErrorKind(error) === 'unique' ? new ApiError('name_taken') : error
  }
}

/** The row that links a person to who they are at the provider. */
export const identityRow = (ctx: AppContext, person: string, identity: Identity) => ({
  id: newId(),
  person,
  issuer: identity.issuer,
  subject: identity.subject,
  name: identity.names[0] ?? identity.subject,
  created: ctx.clock.now(),
})

/** The person with this id. */
export async function findPerson(ctx: AppContext, id: string): Promise<Person | undefined> {
  const [person] = await ctx.db.read.select().from(people).where(eq(people.id, id))
  return person
}

/** Refuses account_suspended. */
export function checkActive({ suspendedFor }: Person): void {
  if (suspendedFor !== null) throw new ApiError('account_suspended', { reason: suspendedFor })
}

/** Lets one decision about a person be taken at a time, until the transaction ends. */
export const lockPerson = (db: Db, id: string): Promise<void> => lock(db, `person ${id}`)

/**
 * Keeps a person from being suspended, or leaving, until this transaction ends: first in it.
 * Refuses not_signed_in for who has left meanwhile, and account_suspended.
 */
export async function lockActivePerson(ctx: AppContext, db: Db, id: string): Promise<Person> {
  await lockPerson(db, id)
  const [person] = await db.select().from(people).where(eq(people.id, id))
  if (!person) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  checkActive(person)
  return person
}

/** The same for who has shown who they are; bad_sign_in where the password was changed since. */
export async function lockUnchangedPerson(ctx: AppContext, db: Db, { id, password }: Person): Promise<void> {
  const now = await lockActivePerson(ctx, db, id)
  if (now.password !== password) throw new ApiError('bad_sign_in', { own: true })
}

/** The person with this name or e-mail address, in whatever case. */
export async function findByName(ctx: AppContext, text: string): Promise<Person | undefined> {
  const name = normalizeName(text) ?? ''
  const [person] = await ctx.db.read.select().from(people).where(eq(people.name, name))
  return person
}

/** Who a trusted proxy vouches for; made at the first visit. Undefined for what is no name. */
export async function findOrCreateProxyUser(ctx: AppContext, text: string): Promise<Person | undefined> {
  if (normalizeName(text) === undefined) return undefined
  const known = await findByName(ctx, text)
  if (known) return known
  const made = await createPerson(ctx, { name: text, password: null }).catch((error: unknown) => {
    if (isApiError(error, 'name_taken')) return undefined
    throw error
  })
  return made?.person ?? findByName(ctx, text)
}

const hasOperator = async (db: Db): Promise<boolean> =>
  (await db.select({ id: people.id }).from(people).where(eq(people.operator, true)).limit(1))
    .length > 0

/** The secret never leaves the data folder, so its hash needs to be kept nowhere. */
const operatorCode = (ctx: AppContext): string => sign(ctx.secret, 'the first operator')

/** The link that makes a person the operator, once; undefined when there is one. */
export const operatorLink = async (ctx: AppContext): Promise<string | undefined> =>
  (await hasOperator(ctx.db.read)) ? undefined : `${ctx.urls.app}/welcome/${operatorCode(ctx)}`

/** Refuses not_found where this is not the operator's link, or it was used. */
export async function checkOperatorCode(ctx: AppContext, db: Db, code: string): Promise<void> {
  const isRight = sha256(code) === sha256(operatorCode(ctx))
  if (isRight && !(await hasOperator(db))) return
  const see = 'The operator’s link works once; each start of this place prints it until then.'
  throw new ApiError('not_found', { what: 'link', see })
}

/** Makes a person the operator by the one-time link. Refuses not_found. */
export const becomeOperator = (ctx: AppContext, person: Person, code: string): Promise<void> =>
  ctx.db.tx(async (db) => {
    await lock(db, 'the first operator')
    await checkOperatorCode(ctx, db, code)
    await db.update(people).set({ operator: true }).where(eq(people.id, person.id))
  })

/** Keeps a new password, inside a transaction. */
export async function setPassword(db: Db, person: string, hash: string): Promise<void> {
  await db.update(people).set({ password: hash }).where(eq(people.id, person))
}
