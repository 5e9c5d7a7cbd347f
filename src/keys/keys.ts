import { and, asc, eq, getTableColumns, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'

import { newSecret, sha256 } from '../core/ids.ts'
import type { NanoUsd } from '../core/money.ts'
import { isPlainLine } from '../core/text.ts'
import { type Clock, second } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { lock } from '../db/lock.ts'
import { changedRowCount, countRows, prepared } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import { keyNameCharsMax } from '../limits.ts'
import { keys } from './tables.ts'

const { hash: _, ...columns } = getTableColumns(keys)

/** A key as it is kept, without its hash. */
export type Key = Omit<typeof keys.$inferSelect, 'hash'>

/** What a new key is made from. */
export interface KeyInput {
  kind: Key['kind']
  owner: string
  name?: string | undefined
  dailyCap: NanoUsd | null
}

const starts = { agent: 'ak_', gateway: 'gk_', person: 'pk_' } as const
const prefixChars = 11
const pattern = /^(ak|gk|pk)_[A-Za-z0-9]{40}$/
const prefixPattern = /^(ak|gk|pk)_[A-Za-z0-9]{8}$/

const isLiveOf = (owner: string) => and(eq(keys.owner, owner), isNull(keys.revoked))

/** Refuses bad_request for a name that is none; a key may have none. */
export function validateName(name: string | undefined): void {
  if (name === undefined || isPlainLine(name, keyNameCharsMax)) return
  const problem = `"name" is one plain line of at most ${keyNameCharsMax} characters.`
  throw new ApiError('bad_request', { problem, param: 'name' })
}

/**
 * Lets one change at a time pass of what an owner's keys are, until the transaction ends: who makes
 * one reads under it what it may do, and who limits or suspends all of them misses none.
 */
export const lockOwner = (db: Db, owner: string): Promise<void> => lock(db, `keys of ${owner}`)

/** Makes a key inside the caller's transaction. `text` is shown once and never kept. */
export async function create(
  db: Db,
  clock: Clock,
  wanted: KeyInput,
): Promise<{ text: string; key: Key }> {
  const text = starts[wanted.kind] + newSecret()
  const key = {
    ...wanted,
    name: wanted.name ?? null,
    prefix: text.slice(0, prefixChars),
    created: clock.now(),
    revoked: null,
    suspended: null,
  }
  await db.insert(keys).values({ ...key, hash: sha256(text) })
  return { text, key }
}

/** An owner's live keys, oldest first: whoever makes one bounds how many there are. */
export const list = (db: Db, owner: string): Promise<Key[]> =>
  db.select(columns).from(keys).where(isLiveOf(owner)).orderBy(asc(keys.created), asc(keys.prefix))

/** How many live keys an owner has. */
export const count = (db: Db, owner: string): Promise<number> =>
  countRows(db, keys, isLiveOf(owner))

/** Changes what is given of an owner's live key, inside a transaction; `forget` once it is kept. */
export async function update(
  db: Db,
  owner: string,
  prefix: string,
  wanted: { name: string | undefined; dailyCap: NanoUsd | null | undefined },
): Promise<Key | undefined> {
  if (!prefixPattern.test(prefix)) return undefined
  const live = and(isLiveOf(owner), eq(keys.prefix, prefix))
  const { name, dailyCap } = wanted
  if (name !== undefined) await db.update(keys).set({ name }).where(live)
  if (dailyCap !== undefined) await db.update(keys).set({ dailyCap }).where(live)
  const [changed] = await db.select(columns).from(keys).where(live)
  return changed
}

/** Gives an owner's live keys the same cap, under `lockAll`; `forget` once it is kept. */
export async function setDailyCap(db: Db, owner: string, dailyCap: NanoUsd | null): Promise<void> {
  await db.update(keys).set({ dailyCap }).where(isLiveOf(owner))
}

/**
 * The counter of what a key spends in a day, and the most it may. All keys of an agent count
 * together, so that none is made to get around the cap.
 */
export const capOf = ({
  kind,
  owner,
  prefix,
  dailyCap,
}: Key): { key: string; max: NanoUsd | null } => ({
  key: kind === 'agent' ? owner : prefix,
  max: dailyCap,
})

/** Revokes one live key of an owner; then `forget`. False when it has no such key. */
export async function revoke(
  db: Db,
  clock: Clock,
  owner: string,
  prefix: string,
): Promise<boolean> {
  if (!prefixPattern.test(prefix)) return false
  const live = and(isLiveOf(owner), eq(keys.prefix, prefix))
  return changedRowCount(await db.update(keys).set({ revoked: clock.now() }).where(live)) > 0
}

/** Revokes every live key of an owner, under `lockAll`; call `forget` after the commit. */
export async function revokeAll(db: Db, clock: Clock, owner: string): Promise<void> {
  await db.update(keys).set({ revoked: clock.now() }).where(isLiveOf(owner))
}

/** Suspends an owner's keys, or lets them go on (null), under `lockAll`; then `forget`. */
export async function setSuspended(db: Db, owner: string, suspended: number | null): Promise<void> {
  await db.update(keys).set({ suspended }).where(eq(keys.owner, owner))
}

const byHash = prepared((db) =>
  db
    .select(columns)
    .from(keys)
    .where(eq(keys.hash, sql.placeholder('hash')))
    .prepare(),
)

/**
 * Finds keys by their text. A found key is remembered for five seconds; revoking forgets it at
 * once in this process, and within that time in others that share the database.
 */
export class KeyRing {
  private readonly found = new LRUCache<string, Key>({ max: 10_000, ttl: 5 * second })
  private changes = 0

  constructor(private readonly db: Engine) {}

  /** The key, revoked ones too; undefined when there is none. */
  async find(text: string): Promise<Key | undefined> {
    if (!pattern.test(text)) return undefined
    const hash = sha256(text)
    const known = this.found.get(hash)
    if (known) return known
    const { changes } = this
    const [key] = await byHash(this.db.read).execute({ hash })
    // What was read before a change is not remembered after it.
    if (key && changes === this.changes) this.found.set(hash, key)
    return key
  }

  /** Forgets what was found, after a change to keys has been committed. */
  forget(): void {
    this.changes += 1
    this.found.clear()
  }
}
