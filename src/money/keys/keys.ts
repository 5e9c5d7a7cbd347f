import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  or,
  sql,
} from 'drizzle-orm'
import { LRUCache } from 'lru-cache'

import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db, Engine } from '../../kernel/db/engine.ts'
import {
  changedRowCount,
  contains,
  countRows,
  isAfterCursor,
  lock,
  prepared,
} from '../../kernel/db/query.ts'
import type { Signals } from '../../kernel/db/signals.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newSecret, sha256 } from '../../kernel/ids.ts'
import { keyNameCharsMax } from '../../kernel/limits.ts'
import { fromCredits, type NanoUsd } from '../../kernel/money.ts'
import type { Scope } from '../../kernel/scopes.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { type Clock, second } from '../../kernel/time.ts'
import { keys, projects } from './tables.ts'

/** The columns of a key without its hash. */
const { hash: _, ...columns } = getTableColumns(keys)

/** A stored key without its hash. */
export type Key = Omit<typeof keys.$inferSelect, 'hash'>

export type Project = typeof projects.$inferSelect

/** A key with the budgets of its project. */
export type FoundKey = Key & { budget: Project | null }

/** The limits and notes of a key that its account may change. */
export type KeySettings = Pick<
  Key,
  | 'dailyCap'
  | 'weeklyCap'
  | 'monthlyCap'
  | 'requestsPerMinute'
  | 'tokensPerMinute'
  | 'runningRequests'
  | 'models'
  | 'expires'
  | 'note'
  | 'tags'
  | 'project'
>

/** No limits: the settings of the operator. */
export const noSettings: KeySettings = {
  dailyCap: null,
  weeklyCap: null,
  monthlyCap: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  runningRequests: null,
  models: null,
  expires: null,
  note: null,
  tags: null,
  project: null,
}

export interface KeyInput extends Partial<KeySettings> {
  kind: Key['kind']
  owner: string
  name?: string | undefined
  dailyCap: NanoUsd | null
  /** Set for the replacement of a key, which goes on with its counter. */
  counter?: string | null
  /** Set for the token of a connector. */
  scopes?: Scope[] | null
}

const keysListedMax = 1_000
const textPrefixes = { agent: 'ak_', gateway: 'gk_', person: 'pk_' } as const
const tokenPrefix = 'ct_'
const prefixChars = 11
/** Characters of a token after its prefix. */
export const tokenSecretChars = 32
const pattern = /^(ak|gk|pk)_[A-Za-z0-9]{40}$/
const tokenPattern = /^ct_[A-Za-z0-9]{40}$/
const prefixPattern = /^(ak|gk|pk|ct)_[A-Za-z0-9]{8}$/

const isLiveOf = (owner: string) => and(eq(keys.owner, owner), isNull(keys.revoked))

/** Throws `bad_request` for an invalid name; undefined is valid. */
export function validateName(name: string | undefined): void {
  if (name === undefined || isPlainLine(name, keyNameCharsMax)) return
  rejectRequest(`"name" must be one line of at most ${keyNameCharsMax} characters.`, 'name')
}

/** Serializes changes to an owner's keys, so that changing all keys misses no new one. */
export const lockOwner = (db: Db, owner: string): Promise<void> => lock(db, `keys of ${owner}`)

/** Creates a key. `text` is shown once and never stored. */
export async function create(
  db: Db,
  clock: Clock,
  input: KeyInput,
): Promise<{ text: string; key: Key }> {
  const text = (input.scopes ? tokenPrefix : textPrefixes[input.kind]) + newSecret()
  const key = {
    ...noSettings,
    counter: null,
    scopes: null,
    ...input,
    name: input.name ?? null,
    prefix: text.slice(0, prefixChars),
    created: clock.now(),
    revoked: null,
    suspended: null,
  }
  await db.insert(keys).values({ ...key, hash: sha256(text) })
  return { text, key }
}

/** Lists an owner's live keys, oldest first. Creators of keys limit their number. */
export const list = (db: Db, owner: string): Promise<Key[]> =>
  db.select(columns).from(keys).where(isLiveOf(owner)).orderBy(asc(keys.created), asc(keys.prefix))

/** Lists an owner's keys, also revoked ones, newest first, at most 1,000. */
export const listAll = (db: Db, owner: string): Promise<Key[]> =>
  db
    .select(columns)
    .from(keys)
    .where(eq(keys.owner, owner))
    .orderBy(desc(keys.created))
    .limit(keysListedMax)

/** Finds keys by their prefixes, which are also the names of their counters (`counterOf`). */
export async function findByPrefixes(db: Db, prefixes: string[]): Promise<Map<string, Key>> {
  const rows = await db.select(columns).from(keys).where(inArray(keys.prefix, prefixes))
  return new Map(rows.map((key) => [key.prefix, key]))
}

/** Counts an owner's live keys. */
export const count = (db: Db, owner: string): Promise<number> =>
  countRows(db, keys, isLiveOf(owner))

/** Changes the given fields of a live key. Call `KeyRing.forget()` after the commit. */
export async function update(
  db: Db,
  owner: string,
  prefix: string,
  changes: Partial<KeySettings> & { name?: string | undefined },
): Promise<Key | undefined> {
  if (!prefixPattern.test(prefix)) return undefined
  const live = and(isLiveOf(owner), eq(keys.prefix, prefix))
  const given = Object.values(changes).some((change) => change !== undefined)
  if (given) await db.update(keys).set(changes).where(live)
  const [changed] = await db.select(columns).from(keys).where(live)
  return changed
}

/**
 * Replaces the text of the live token of a connector, whose prefix stays. Returns false for a
 * revoked token. Call `KeyRing.forget()` after the commit.
 */
export async function renewToken(
  db: Db,
  owner: string,
  { text, scopes, expires }: { text: string; scopes: Scope[]; expires: number },
): Promise<boolean> {
  const live = and(isLiveOf(owner), eq(keys.prefix, text.slice(0, prefixChars)))
  const changes = { hash: sha256(text), scopes, expires }
  return changedRowCount(await db.update(keys).set(changes).where(live)) > 0
}

/** Revokes the tokens of all connectors of an owner. Call under `lockOwner`, then `forget`. */
export async function revokeTokens(db: Db, clock: Clock, owner: string): Promise<void> {
  const tokens = and(isLiveOf(owner), isNotNull(keys.scopes))
  await db.update(keys).set({ revoked: clock.now() }).where(tokens)
}

/** Sets the cap of all live keys of an owner. Call under `lockOwner`, then `KeyRing.forget()`. */
export async function setDailyCap(db: Db, owner: string, dailyCap: NanoUsd | null): Promise<void> {
  await db.update(keys).set({ dailyCap }).where(isLiveOf(owner))
}

/** Returns the daily cap and its counter, which all keys of an agent share. */
export const capOf = (key: Key): { key: string; max: NanoUsd | null } => ({
  key: key.kind === 'agent' ? key.owner : counterOf(key),
  max: key.dailyCap,
})

/** Returns the counter of a key. A rotated key and its replacement share one. */
export const counterOf = ({ prefix, counter }: Key): string => counter ?? prefix

/** Revokes a live key; returns false if the owner has no such key. Then call `KeyRing.forget()`. */
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

/** Revokes all live keys of an owner. Call under `lockOwner`, then `KeyRing.forget()`. */
export async function revokeAll(db: Db, clock: Clock, owner: string): Promise<void> {
  await db.update(keys).set({ revoked: clock.now() }).where(isLiveOf(owner))
}

/**
 * Revokes the keys of a restored database that `replaced`, the database before it, has revoked or
 * given another text. Returns the prefixes of live keys that it does not have, which stay valid.
 */
export async function revokeAsIn(db: Db, replaced: Db, now: number): Promise<string[]> {
  const facts = { prefix: keys.prefix, hash: keys.hash, revoked: keys.revoked }
  const known = new Map(
    (await replaced.select(facts).from(keys)).map((key) => [key.prefix, key] as const),
  )
  const unknown: string[] = []
  for (const { prefix, hash } of await db.select(facts).from(keys).where(isNull(keys.revoked))) {
    const later = known.get(prefix)
    if (!later) unknown.push(prefix)
    else if (later.revoked !== null || later.hash !== hash)
      await db.update(keys).set({ revoked: now }).where(eq(keys.prefix, prefix))
  }
  return unknown
}

/** Suspends an owner's keys; null resumes them. Call under `lockOwner`, then `KeyRing.forget()`. */
export async function setSuspended(db: Db, owner: string, suspended: number | null): Promise<void> {
  await db.update(keys).set({ suspended }).where(eq(keys.owner, owner))
}

const byHash = prepared((db) =>
  db
    .select({ ...columns, budget: projects })
    .from(keys)
    .leftJoin(projects, eq(projects.id, keys.project))
    .where(eq(keys.hash, sql.placeholder('hash')))
    .prepare(),
)

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Finds API keys; caches keys for five seconds. */
    readonly keys: KeyRing
  }
}

/**
 * Finds keys by their text and caches them for five seconds. A change is seen at once in this
 * process, and in other processes of the database with its signal (kernel/db/signals.ts).
 */
export class KeyRing {
  private readonly cache = new LRUCache<string, FoundKey>({ max: 10_000, ttl: 5 * second })
  private changes = 0

  constructor(
    private readonly db: Engine,
    private readonly signals?: Pick<Signals, 'on' | 'send'>,
  ) {
    signals?.on('keys', () => this.clear())
  }

  /** Returns the key, revoked or not; undefined for an unknown key and for a token. */
  async find(text: string): Promise<FoundKey | undefined> {
    return pattern.test(text) ? this.read(text) : undefined
  }

  /** Returns the token of a connector, revoked, expired or not. Only MCP accepts these. */
  async findToken(text: string): Promise<FoundKey | undefined> {
    return tokenPattern.test(text) ? this.read(text) : undefined
  }

  private async read(text: string): Promise<FoundKey | undefined> {
    const hash = sha256(text)
    const known = this.cache.get(hash)
    if (known) return known
    const { changes } = this
    const [key] = await byHash(this.db.read).execute({ hash })
    // A key read before a change is not cached after it.
    if (key && changes === this.changes) this.cache.set(hash, key)
    return key
  }

  /** Returns a key of an owner by its prefix, for work that goes on without its text. */
  async findOwn(owner: string, prefix: string): Promise<FoundKey | undefined> {
    const [key] = await this.db.read
      .select({ ...columns, budget: projects })
      .from(keys)
      .leftJoin(projects, eq(projects.id, keys.project))
      .where(and(eq(keys.owner, owner), eq(keys.prefix, prefix)))
    return key
  }

  /** Clears the cache in all processes. Call it after the commit of a change to keys. */
  forget(): void {
    this.clear()
    void this.signals?.send('keys')
  }

  private clear(): void {
    this.changes += 1
    this.cache.clear()
  }
}

/** Returns the daily cap of a new key; null for no cap. */
export const initialCap = ({
  config: { dailyCapCredits: cap },
}: Pick<AppContext, 'config'>): NanoUsd | null => (cap === null ? null : fromCredits(cap))

/** A position in the list of `searchKeys`. */
type KeyPosition = Pick<Key, 'created' | 'prefix'>

/**
 * Lists the live keys of gateway accounts and agents, newest first: all, or those of `owner` and
 * those whose prefix, name, note or tags contain `words`.
 */
export function searchKeys(
  db: Db,
  limit: number,
  { words = '', owner, after }: { words?: string; owner?: string; after?: KeyPosition },
): Promise<Key[]> {
  const texts = [keys.prefix, keys.name, keys.note, keys.tags]
  const found = texts.map((text) => contains(sql`lower(${text})`, words.toLowerCase()))
  const matches =
    words === '' ? undefined : or(...found, owner === undefined ? undefined : eq(keys.owner, owner))
  const last = after && { created: after.created, id: after.prefix }
  const older = isAfterCursor({ created: keys.created, id: keys.prefix }, last)
  return db
    .select(columns)
    .from(keys)
    .where(and(isNull(keys.revoked), inArray(keys.kind, ['agent', 'gateway']), matches, older))
    .orderBy(desc(keys.created), desc(keys.prefix))
    .limit(limit)
}

/** Headers of keys beside Authorization: those of Anthropic's and of Google's clients. */
const keyHeaders = ['x-api-key', 'x-goog-api-key']

/** Reads the key of a request from its headers, never from the query string. */
export function readApiKey(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.get('authorization') ?? '')
  if (bearer) return bearer[1]
  const named = keyHeaders.map((name) => headers.get(name)?.trim())
  return named.find((key) => key !== undefined) ?? socketKeyOf(headers)
}

/** Reads the key that OpenAI's browser client sends as a protocol of its WebSocket. */
const socketKeyOf = (headers: Headers): string | undefined =>
  /\bopenai-insecure-api-key\.([^\s,]+)/.exec(headers.get('sec-websocket-protocol') ?? '')?.[1]

/** Throws `invite_only` where new accounts need the operator's token and the request has none. */
export function requireInvitation({ keysOpen, operatorToken }: Config, headers: Headers): void {
  if (keysOpen === 'on') return
  const token = readApiKey(headers) ?? ''
  if (!operatorToken || sha256(token) !== sha256(operatorToken)) throw new ApiError('invite_only')
}
