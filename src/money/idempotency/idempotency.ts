import { Type } from '@sinclair/typebox'
import { and, eq, lt, type SQL } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { afterCommit, type Db, type Engine } from '../../kernel/db/engine.ts'
import { databaseErrorKind } from '../../kernel/db/error.ts'
import { changedRowCount } from '../../kernel/db/query.ts'
import { hasEnded, thisProcess } from '../../kernel/db/replicas/presence.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { Success } from '../../kernel/http/outcome.ts'
import { sha256 } from '../../kernel/ids.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'
import { type Clock, day } from '../../kernel/time.ts'
import { defineRow, type SettlementRow } from '../ledger/settlement-rows.ts'
import { storedResponses } from './tables.ts'

/** The name of a stored response, or of a lock. */
interface Name {
  owner: string
  ref: string
}

const isClaim = ({ owner, ref }: Name) =>
  and(eq(storedResponses.owner, owner), eq(storedResponses.ref, ref), eq(storedResponses.status, 0))

const textOf = ({ owner, ref }: Name): string => `${owner} ${ref}`

/**
 * Claims of names among the processes of a PostgreSQL database. A claim is committed before the
 * work begins, so that no other process begins it. It ends with its release, with the response that
 * replaces it, or with its process.
 */
export class Claims {
  /** Ends the holds of dead processes before their claims are taken over. */
  beforeTakeover: (() => Promise<unknown>) | undefined
  private readonly own = new Map<string, Name>()
  /** Claims whose release failed. */
  private readonly unreleased = new Map<string, Name>()
  /** The claim that `releaseLate` deletes now. */
  private releasing: string | undefined

  constructor(
    private readonly db: Engine,
    private readonly clock: Clock,
  ) {}

  /** Claims a name. Returns false where another live process has it, or a response is stored. */
  async take(name: Name): Promise<boolean> {
    const text = textOf(name)
    if (this.releasing === text) return false
    // A late release must not delete the new claim.
    const isUnreleased = this.unreleased.delete(text)
    let isTaken = false
    try {
      isTaken = (await this.insert(name)) || (await this.takeOver(name))
    } finally {
      if (isUnreleased && !isTaken) this.unreleased.set(text, name)
    }
    if (isTaken) this.own.set(text, name)
    return isTaken
  }

  /** Forgets a claim that its response has replaced. */
  forget(name: Name): void {
    this.own.delete(textOf(name))
  }

  /** Ends a claim without a response. What fails is repeated by `releaseLate`. */
  async release(name: Name): Promise<void> {
    const text = textOf(name)
    if (!this.own.delete(text)) return
    try {
      await this.delete(name)
    } catch {
      this.unreleased.set(text, name)
    }
  }

  /** Releases the claims whose release failed. Runs as maintenance. */
  async releaseLate(): Promise<void> {
    for (const [text, name] of [...this.unreleased]) {
      if (!this.unreleased.has(text)) continue
      this.releasing = text
      try {
        await this.delete(name)
        this.unreleased.delete(text)
      } finally {
        this.releasing = undefined
      }
    }
  }

  private async insert({ owner, ref }: Name): Promise<boolean> {
    const claim = { owner, ref, status: 0, request: '', body: '', process: thisProcess }
    const inserted = await this.db.tx((db) =>
      db
        .insert(storedResponses)
        .values({ ...claim, at: this.clock.now() })
        .onConflictDoNothing(),
    )
    return changedRowCount(inserted) > 0
  }

  /** Takes the claim of an ended process, or an unreleased one of this process. */
  private async takeOver(name: Name): Promise<boolean> {
    const isFree = and(isClaim(name), hasEnded(storedResponses.process))
    const [abandoned] = await this.db.read
      .select({ ref: storedResponses.ref })
      .from(storedResponses)
      .where(isFree)
    if (abandoned) await this.beforeTakeover?.()
    const isOwn = and(isClaim(name), eq(storedResponses.process, thisProcess))
    const taken = await this.db.tx((db) =>
      db
        .update(storedResponses)
        .set({ process: thisProcess, at: this.clock.now() })
        .where(abandoned ? isFree : isOwn),
    )
    return changedRowCount(taken) > 0
  }

  private delete(name: Name): Promise<unknown> {
    const isOwn = and(isClaim(name), eq(storedResponses.process, thisProcess))
    return this.db.tx((db) => db.delete(storedResponses).where(isOwn))
  }
}

/** Stores a success inside the transaction that commits its work, and returns it. */
export type StoreResponse = <Stored extends Success>(db: Db, success: Stored) => Promise<Stored>

/** The outcome of work as its row has it: a success, or the error of failed work with a charge. */
type StoredOutcome = Pick<Success, 'status' | 'value'>

/** An error as it was sent. A repeated request under its idempotency key throws it. */
export class StoredError extends Error {
  constructor(
    readonly status: number,
    readonly value: object,
  ) {
    super('the stored error of work that was charged')
  }
}

/** Statuses of errors (RFC 9110, section 15.5). */
const firstErrorStatus = 400

/**
 * The exclusive right to run the work of an idempotency key, among all processes of the database.
 * `slot` names the response without its owner: a row that carries it can store the response after a
 * crash (`storeIfAbsent`). Undefined without an idempotency key.
 */
export interface IdempotencyLock {
  /** The success of an earlier run of the same request. A stored one needs no release. */
  readonly stored: Success | undefined
  readonly slot: string | undefined
  readonly store: StoreResponse
  /** Returns the success of another process that committed first; else throws `error`. */
  resolveConflict(error: unknown): Promise<Success>
  /** Ends the right. `isPending`: the response will still be stored, so no other run may begin. */
  release(isPending?: boolean): Promise<void> | undefined
}

/** Returns the key of a request: `ref` of its body, or its header Idempotency-Key. */
export const idempotencyKeyOf = (
  { headers }: { headers: Headers },
  inBody?: string,
): string | undefined => inBody ?? headers.get('idempotency-key') ?? undefined

const retentionMs = 30 * day
const pattern = /^[\x21-\x7e]{1,128}$/

const noLock: IdempotencyLock = {
  stored: undefined,
  slot: undefined,
  store: async (_, success) => success,
  resolveConflict: (error) => Promise.reject(error),
  release: () => undefined,
}

/** Sorts fields, so that their order does not change the fingerprint. */
const sortFields = (_key: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Stores responses by Idempotency-Key; remembers the requests that run now. */
    readonly idempotency: Idempotency
  }
}

/**
 * Runs repeatable work at most once for each idempotency key (a body's `ref`, or the header of
 * draft-ietf-httpapi-idempotency-key-header). The same key and request replay the stored response;
 * another request is `ref_conflict`. While the first still runs, a second is `busy`. Errors are
 * stored only where they were charged, because other failed work leaves nothing behind.
 */
export class Idempotency {
  /** On PostgreSQL, the claims of this process. */
  readonly claims: Claims | undefined
  private readonly running = new Set<string>()

  constructor(
    private readonly db: Engine,
    private readonly clock: Clock,
  ) {
    if (db.kind === 'postgres') this.claims = new Claims(db, clock)
  }

  /** Runs `work` under an idempotency key. Throws `bad_request`, `busy`, `ref_conflict`. */
  async run(
    owner: string,
    key: string | undefined,
    request: unknown,
    work: (store: StoreResponse) => Promise<Success>,
  ): Promise<Success> {
    const keyLock = await this.acquire(owner, key, request)
    if (keyLock.stored) return keyLock.stored
    try {
      return await work(keyLock.store)
    } catch (error) {
      return await keyLock.resolveConflict(error)
    } finally {
      await keyLock.release()
    }
  }

  /** Locks an idempotency key. Throws `bad_request`, `busy`, `ref_conflict` and StoredError. */
  async acquire(
    owner: string,
    key: string | undefined,
    request: unknown,
  ): Promise<IdempotencyLock> {
    if (key === undefined) return noLock
    if (!pattern.test(key)) {
      rejectRequest(
        'A ref or Idempotency-Key must be 1 to 128 printable ASCII characters without spaces.',
      )
    }
    const fingerprint = sha256(JSON.stringify(request, sortFields))
    const slot = `${fingerprint} ${key}`
    const find = () => this.find(owner, key, fingerprint)
    const what = 'The same request'
    const unlock = this.lockHere(`${owner} ${key}`, what)
    try {
      const stored = (await find()) ?? (await this.claim({ owner, ref: key }, what, find))
      if (stored) unlock()
      return {
        stored,
        slot,
        store: async (db, success) => {
          await this.storeSlot(db, owner, slot, success)
          return success
        },
        resolveConflict: async (error) => {
          const isConflict = databaseErrorKind(error) === 'unique'
          const first = isConflict ? await find() : undefined
          if (first) return first
          throw error
        },
        release: (isPending = false) => {
          if (!this.claims || isPending) return unlock()
          return this.claims.release({ owner, ref: key }).then(unlock)
        },
      }
    } catch (error) {
      unlock()
      throw error
    }
  }

  /** Locks a name among all processes and returns the function that unlocks it. Throws `busy`. */
  async lock(name: string, what: string): Promise<() => Promise<void> | undefined> {
    const unlock = this.lockHere(name, what)
    const claim = { owner: 'lock', ref: name }
    await this.claim(claim, what, async () => undefined).catch((error: unknown) => {
      unlock()
      throw error
    })
    return () => (this.claims ? this.claims.release(claim).then(unlock) : unlock())
  }

  private lockHere(name: string, what: string): () => undefined {
    if (this.running.has(name)) throw new ApiError('busy', { what })
    this.running.add(name)
    return () => void this.running.delete(name)
  }

  /** Claims a name among the processes of the database. Returns a response that is stored now. */
  private async claim(
    name: { owner: string; ref: string },
    what: string,
    find: () => Promise<Success | undefined>,
  ): Promise<Success | undefined> {
    if (!this.claims || (await this.claims.take(name))) return undefined
    const stored = await find()
    if (stored) return stored
    throw new ApiError('busy', { what })
  }

  /** Returns the stored success of a request, or throws its StoredError or `ref_conflict`. */
  private async find(
    owner: string,
    key: string,
    fingerprint: string,
  ): Promise<Success | undefined> {
    const [row] = await this.db.read.select().from(storedResponses).where(isNamed(owner, key))
    if (!row || row.status === 0) return undefined
    if (row.request !== fingerprint) throw new ApiError('ref_conflict', { ref: key })
    const value = JSON.parse(row.body)
    if (row.status >= firstErrorStatus) throw new StoredError(row.status, value)
    return new Success(row.status, value)
  }

  /** Stores the response of work that ended without one, unless the slot has a response. */
  async storeIfAbsent(db: Db, owner: string, slot: string, outcome: StoredOutcome): Promise<void> {
    const row = this.rowOf(owner, slot, outcome)
    if (await this.replaceClaim(db, row)) return
    await db.insert(storedResponses).values(row).onConflictDoNothing()
  }

  /** Inserts the response of a slot. Fails when the slot has one. */
  async storeSlot(db: Db, owner: string, slot: string, outcome: StoredOutcome): Promise<void> {
    const row = this.rowOf(owner, slot, outcome)
    if (!(await this.replaceClaim(db, row))) await db.insert(storedResponses).values(row)
    afterCommit(db, () => this.claims?.forget(row))
  }

  private rowOf(owner: string, slot: string, { status, value }: StoredOutcome): NewRow {
    const [request = '', ref = ''] = slot.split(' ')
    const at = this.clock.now()
    return { owner, ref, request, status, body: JSON.stringify(value), at, process: null }
  }

  /** Turns a claim into a response. Returns false where there is no claim. */
  private async replaceClaim(db: Db, row: NewRow): Promise<boolean> {
    if (!this.claims) return false
    const isClaim = and(isNamed(row.owner, row.ref), eq(storedResponses.status, 0))
    return changedRowCount(await db.update(storedResponses).set(row).where(isClaim)) > 0
  }

  /** Deletes responses that were stored more than 30 days ago. */
  async sweep(): Promise<void> {
    await this.db.tx((db) =>
      db.delete(storedResponses).where(lt(storedResponses.at, this.clock.now() - retentionMs)),
    )
  }
}

type NewRow = typeof storedResponses.$inferInsert

const isNamed = (owner: string, ref: string): SQL | undefined =>
  and(eq(storedResponses.owner, owner), eq(storedResponses.ref, ref))

/** The outcome that a repeated request gets under its idempotency key. */
export const responseRow = defineRow(
  'response',
  Type.Object({
    owner: Type.String(),
    slot: Type.String(),
    status: Type.Integer(),
    body: Type.Unknown(),
  }),
  {
    async write({ idempotency }: Pick<AppContext, 'idempotency'>, db, rows) {
      for (const { data } of rows) {
        const { owner, slot, status, body } = data
        await idempotency.storeSlot(db, owner, slot, { status, value: body })
      }
    },
  },
)

/** Returns whether a row is the response of an owner's idempotency key, of any request. */
export function isResponseOf({ kind, data }: SettlementRow, owner: string, key: string): boolean {
  const response = recordOf(data)
  const [, ofKey] = String(response.slot).split(' ')
  return kind === responseRow.kind && response.owner === owner && ofKey === key
}
