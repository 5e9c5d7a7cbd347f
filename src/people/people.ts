import { and, asc, eq, gt, inArray, isNotNull, isNull } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { databaseErrorKind } from '../kernel/db/error.ts'
import { contains, countRows, hasRows, lock } from '../kernel/db/query.ts'
import { ApiError, isApiError, rejectRequest } from '../kernel/errors.ts'
import { newId, sha256, sign } from '../kernel/ids.ts'
import { personNameCharsMax } from '../kernel/limits.ts'
import type { Language } from '../kernel/words/words.ts'
import type { Owner } from '../money/ledger/accounts.ts'
import * as ledger from '../money/ledger/ledger.ts'
import { reserveHandle } from './agents/create-agent.ts'
import { commandLine, recordAudit } from './audit/audit.ts'
import type { Identity } from './identity-provider.ts'
import {
  addRecoveryCode,
  createRecoveryCodes,
  hashPassword,
  validatePassword,
} from './passwords.ts'
import type { ProfilePart } from './profiles/parts.ts'
import {
  deleteProfile,
  type Profile,
  skeletonOf,
  validateHandle,
  writeProfile,
} from './profiles/profiles.ts'
import { groupMembers, identities, passkeys, people, recoveryCodes, sessions } from './tables.ts'

/** A new page shows what its person made. */
const shownAtFirst: ProfilePart[] = ['agents', 'collections']

/**
 * Creates the profile of a person, with a valid handle. Throws `handle_taken`, and `bad_handle` for
 * a look-alike.
 */
export async function createProfile(
  ctx: AppContext,
  db: Db,
  person: string,
  { handle, isPublic }: { handle: string; isPublic: boolean },
): Promise<Profile> {
  await reserveHandle(db, handle, person)
  const profile = {
    person,
    handle,
    skeleton: skeletonOf(handle),
    formerHandle: null,
    formerSkeleton: null,
    about: null,
    isPublic,
    shows: shownAtFirst,
    avatar: null,
    created: ctx.clock.now(),
    hidden: null,
    hiddenFor: null,
  }
  await writeProfile(db, profile)
  return profile
}

export type Person = typeof people.$inferSelect

const namePattern = /^[a-z0-9][a-z0-9._-]{1,38}[a-z0-9]$/
const emailPattern = /^[^\s@<>"',;:\\()[\]\p{Cc}]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,8}$/u

/** Normalizes a name or an email address; undefined for an invalid one. */
export function normalizeName(text: string): string | undefined {
  const name = text.trim().normalize('NFC').toLowerCase()
  return name.length <= personNameCharsMax && (namePattern.test(name) || emailPattern.test(name))
    ? name
    : undefined
}

/** Returns the public name of a person: agents never see an email address. */
export const displayName = ({ name }: Pick<Person, 'name'>): string => name.split('@')[0] ?? name

/** Returns the ledger owner of a person's wallet, a gateway account that the operator funds. */
export const walletOf = ({ wallet }: Pick<Person, 'wallet'>): Owner => ({
  kind: 'gateway',
  owner: wallet,
})

export interface NewPerson {
  name: string
  /** null for a person that a provider or a proxy authenticates. */
  password: string | null
  /** The code of the operator's link. */
  code?: string | undefined
  identity?: Identity | undefined
  /** The handle of their page, which is public then. */
  handle?: string | undefined
}

/** A new person with recovery codes, which are shown once. */
export interface CreatedPerson {
  person: Person
  codes: string[]
}

/** Throws `bad_request` where the operator closed sign-up (SIGN_UP). */
export function requireOpenSignUp({ config }: AppContext): void {
  if (config.signUp === 'on') return
  rejectRequest('Sign-up is closed on this server. Ask its operator for an account.')
}

/**
 * Creates a person with an empty wallet. Throws `bad_request`, `name_taken`, `not_found`, and for a
 * handle `bad_handle` and `handle_taken`.
 */
export async function createPerson(ctx: AppContext, input: NewPerson): Promise<CreatedPerson> {
  const { name, password, code, identity, handle } = input
  if (handle !== undefined) validateHandle(handle)
  const normalized = normalizeName(name)
  if (normalized === undefined)
    rejectRequest('A name must be an email address or 3 to 40 characters of a-z, 0-9 and . _ -')
  if (password !== null) validatePassword(password, normalized)
  const hash = password === null ? null : await hashPassword(password)
  try {
    return await ctx.db.tx(async (db) => {
      if (code !== undefined) {
        await lock(db, 'the first operator')
        await checkOperatorCode(ctx, db, code)
      }
      const row = { id: newId(), name: normalized, wallet: newId(), created: ctx.clock.now() }
      const operator = code !== undefined
      const [person] = await db
        .insert(people)
        .values({ ...row, password: hash, operator })
        .returning()
      if (!person) throw new Error('inserting the person returned no row')
      await ledger.openOwnerAccount(ctx, db, walletOf(person))
      if (handle !== undefined) await createProfile(ctx, db, person.id, { handle, isPublic: true })
      if (identity) await db.insert(identities).values(identityRow(ctx, person.id, identity))
      // A person that only a proxy authenticates needs no recovery codes.
      const codes = password === null && !identity ? [] : await createRecoveryCodes(db, person.id)
      return { person, codes }
    })
  } catch (error) {
    throw databaseErrorKind(error) === 'unique' ? new ApiError('name_taken') : error
  }
}

/** Returns the row that links a person to an identity at the provider. */
export const identityRow = (ctx: AppContext, person: string, identity: Identity) => ({
  id: newId(),
  person,
  issuer: identity.issuer,
  subject: identity.subject,
  name: identity.names[0] ?? identity.subject,
  created: ctx.clock.now(),
})

export async function findPerson(ctx: AppContext, id: string): Promise<Person | undefined> {
  const [person] = await ctx.db.read.select().from(people).where(eq(people.id, id))
  return person
}

/** Returns the names of people by their ids, sorted. */
export async function listNames(db: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db
    .select({ name: people.name })
    .from(people)
    .where(inArray(people.id, [...ids]))
    .orderBy(asc(people.name))
  return rows.map(({ name }) => name)
}

/** Returns those people of a list who are suspended. */
export async function findSuspended({ db }: AppContext, ids: string[]): Promise<Set<string>> {
  const rows = await db.read
    .select({ id: people.id })
    .from(people)
    .where(and(inArray(people.id, ids), isNotNull(people.suspended)))
  return new Set(rows.map(({ id }) => id))
}

/** Throws `account_suspended`. */
export function checkActive({ suspendedFor }: Person): void {
  if (suspendedFor !== null) throw new ApiError('account_suspended', { reason: suspendedFor })
}

/** Serializes changes to a person until the transaction ends. */
export const lockPerson = (db: Db, id: string): Promise<void> => lock(db, `person ${id}`)

/**
 * Locks an active person until the transaction ends; call it first. Throws `not_signed_in` if the
 * account was closed meanwhile, and `account_suspended`.
 */
export async function lockActivePerson(ctx: AppContext, db: Db, id: string): Promise<Person> {
  await lockPerson(db, id)
  const [person] = await db.select().from(people).where(eq(people.id, id))
  if (!person) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  checkActive(person)
  return person
}

/** Locks an active person. Throws `bad_sign_in` if the password was changed meanwhile. */
export async function lockUnchangedPerson(
  ctx: AppContext,
  db: Db,
  { id, password }: Person,
): Promise<void> {
  const current = await lockActivePerson(ctx, db, id)
  if (current.password !== password) throw new ApiError('bad_sign_in', { own: true })
}

/** Returns the person with a name or email address, ignoring case. */
export async function findByName(ctx: AppContext, text: string): Promise<Person | undefined> {
  const name = normalizeName(text) ?? ''
  const [person] = await ctx.db.read.select().from(people).where(eq(people.name, name))
  return person
}

/** Returns or creates the person that a trusted proxy names. Undefined for an invalid name. */
export async function findOrCreateProxyUser(
  ctx: AppContext,
  text: string,
): Promise<Person | undefined> {
  if (normalizeName(text) === undefined) return undefined
  const known = await findByName(ctx, text)
  if (known) return known
  const created = await createPerson(ctx, { name: text, password: null }).catch(
    (error: unknown) => {
      if (isApiError(error, 'name_taken')) return undefined
      throw error
    },
  )
  return created?.person ?? findByName(ctx, text)
}

const hasOperator = (db: Db): Promise<boolean> => hasRows(db, people, eq(people.operator, true))

/** Derived from the secret of the data folder, so it is not stored. */
const operatorCode = (ctx: AppContext): string => sign(ctx.secret, 'the first operator')

/** Returns the one-time link that makes a person the operator; undefined if one exists. */
export const operatorLink = async (ctx: AppContext): Promise<string | undefined> =>
  (await hasOperator(ctx.db.read)) ? undefined : `${ctx.urls.app}/welcome/${operatorCode(ctx)}`

/** Throws `not_found` for a code that is wrong or was used. */
export async function checkOperatorCode(ctx: AppContext, db: Db, code: string): Promise<void> {
  const isValid = sha256(code) === sha256(operatorCode(ctx))
  if (isValid && !(await hasOperator(db))) return
  const see = 'The operator’s link works once. The server prints it at each start until then.'
  throw new ApiError('not_found', { what: 'link', see })
}

/** Makes a person the operator by the one-time link. Throws `not_found`. */
export const becomeOperator = (ctx: AppContext, person: Person, code: string): Promise<void> =>
  ctx.db.tx(async (db) => {
    await lock(db, 'the first operator')
    await checkOperatorCode(ctx, db, code)
    await db.update(people).set({ operator: true }).where(eq(people.id, person.id))
  })

/** Adds a recovery code of the oldest operator. Undefined where no operator exists. */
export const createOperatorRecovery = (
  ctx: AppContext,
): Promise<{ name: string; code: string } | undefined> =>
  ctx.db.tx(async (db) => {
    const [operator] = await db
      .select()
      .from(people)
      .where(and(eq(people.operator, true), isNull(people.suspended)))
      .orderBy(asc(people.created))
      .limit(1)
    if (!operator) return undefined
    const { id, name } = operator
    await recordAudit(ctx, db, { by: commandLine, did: 'recover', item: name, why: '' })
    return { name, code: await addRecoveryCode(db, id) }
  })

/** Stores the language of pages that a person chose; null for that of the browser. */
export const setLanguage = (
  ctx: AppContext,
  { id }: Person,
  language: Language | null,
): Promise<void> =>
  ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, id)
    await db.update(people).set({ language }).where(eq(people.id, id))
  })

export async function setPassword(db: Db, person: string, hash: string): Promise<void> {
  await db.update(people).set({ password: hash }).where(eq(people.id, person))
}

/** Deletes a person with their page, sign-in methods and sessions. */
export async function deletePerson(db: Db, id: string): Promise<void> {
  await deleteProfile(db, id)
  for (const rows of [sessions, recoveryCodes, passkeys, identities, groupMembers]) {
    await db.delete(rows).where(eq(rows.person, id))
  }
  await db.delete(people).where(eq(people.id, id))
}

/** Lists people whose name contains `q`, by name, after the name `after`. */
export const listPeople = (
  { db }: AppContext,
  limit: number,
  { q = '', after }: { q?: string | undefined; after?: string | undefined },
): Promise<Person[]> => {
  const words = q.toLowerCase().replace(/\p{Cc}/gu, '')
  const matches = words === '' ? undefined : contains(people.name, words)
  return db.read
    .select()
    .from(people)
    .where(and(matches, after === undefined ? undefined : gt(people.name, after)))
    .orderBy(asc(people.name))
    .limit(limit)
}

/** Counts the people with an account. */
export const countPeople = ({ db }: AppContext): Promise<number> => countRows(db.read, people)

const namesBy =
  (column: typeof people.id | typeof people.wallet) =>
  async ({ db }: AppContext, values: string[]): Promise<Map<string, string>> => {
    const rows = await db.read
      .select({ value: column, name: people.name })
      .from(people)
      .where(inArray(column, values))
    return new Map(rows.map(({ value, name }) => [value, name]))
  }

/** Returns the names of people by id. */
export const namesOf = namesBy(people.id)

/** Returns the names of people by their wallets. */
export const namesOfWallets = namesBy(people.wallet)
