import { and, eq, lt } from 'drizzle-orm'

import { sha256 } from '../core/ids.ts'
import { isRecord } from '../core/schema.ts'
import { type Clock, day } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { databaseErrorKind } from '../db/error.ts'
import { ApiError } from '../errors.ts'
import { storedResponses } from './tables.ts'

/** A response as the client received it, kept for replays. */
export interface StoredResponse {
  status: number
  body: unknown
}

/** Stores the response inside the transaction that commits the work. */
export type StoreResponse = (db: Db, response: StoredResponse) => Promise<void>

/**
 * One process's exclusive right to run the work of an idempotency key. `slot` names the response
 * without its owner: a row that carries it can store the response after a crash
 * (`storeIfAbsent`). Undefined without an idempotency key.
 */
export interface IdempotencyLock {
  /** The response of an earlier run of the same request. A stored response needs no release. */
  readonly stored: StoredResponse | undefined
  readonly slot: string | undefined
  readonly store: StoreResponse
  /** Returns the response of another process that committed first; else throws `error`. */
  resolveConflict(error: unknown): Promise<StoredResponse>
  release(): void
}

/** Returns the key of a request: `ref` of its body, or its header Idempotency-Key. */
export const idempotencyKeyOf = ({ headers }: Request, inBody?: string): string | undefined =>
  inBody ?? headers.get('idempotency-key') ?? undefined

const retentionMs = 30 * day
const pattern = /^[\x21-\x7e]{1,128}$/

const noLock: IdempotencyLock = {
  stored: undefined,
  slot: undefined,
  store: async () => {},
  resolveConflict: (error) => Promise.reject(error),
  release: () => {},
}

/** Sorts fields, so that their order does not change the fingerprint. */
const sortFields = (_key: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/**
 * Runs repeatable work at most once for each idempotency key (a body's `ref`, or the header of
 * draft-ietf-httpapi-idempotency-key-header). The same key and request replay the stored response;
 * another request is `ref_conflict`. While the first still runs, a second is `busy`. Errors are not
 * stored, because failed work leaves nothing behind.
 */
export class Idempotency {
  private readonly running = new Set<string>()

  constructor(
    private readonly db: Engine,
    private readonly clock: Clock,
  ) {}

  /** Runs `work` under an idempotency key. Throws `bad_request`, `busy`, `ref_conflict`. */
  async run(
    owner: string,
    key: string | undefined,
    request: unknown,
    work: (store: StoreResponse) => Promise<StoredResponse>,
  ): Promise<StoredResponse> {
    const keyLock = await this.acquire(owner, key, request)
    if (keyLock.stored) return keyLock.stored
    try {
      return await work(keyLock.store)
    } catch (error) {
      return await keyLock.resolveConflict(error)
    } finally {
      keyLock.release()
    }
  }

  /** Locks an idempotency key. Throws `bad_request`, `busy`, `ref_conflict`. */
  async acquire(
    owner: string,
    key: string | undefined,
    request: unknown,
  ): Promise<IdempotencyLock> {
    if (key === undefined) return noLock
    if (!pattern.test(key)) {
      const problem =
        'A ref or Idempotency-Key must be 1 to 128 printable ASCII characters without spaces.'
      throw new ApiError('bad_request', { problem })
    }
    const fingerprint = sha256(JSON.stringify(request, sortFields))
    const slot = `${fingerprint} ${key}`
    const release = this.lock(`${owner} ${key}`, 'The same request')
    try {
      const stored = await this.find(owner, key, fingerprint)
      if (stored) release()
      return {
        stored,
        slot,
        store: async (db, response) => {
          await this.storeSlot(db, owner, slot, response)
        },
        resolveConflict: async (error) => {
          const isConflict = databaseErrorKind(error) === 'unique'
          const first = isConflict ? await this.find(owner, key, fingerprint) : undefined
          if (first) return first
          throw error
        },
        release,
      }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Locks a name within this process and returns the function that unlocks it. Throws `busy`. */
  lock(name: string, what: string): () => void {
    if (this.running.has(name)) throw new ApiError('busy', { what })
    this.running.add(name)
    return () => void this.running.delete(name)
  }

  private async find(
    owner: string,
    key: string,
    fingerprint: string,
  ): Promise<StoredResponse | undefined> {
    const [row] = await this.db.read
      .select()
      .from(storedResponses)
      .where(and(eq(storedResponses.owner, owner), eq(storedResponses.ref, key)))
    if (!row) return undefined
    if (row.request !== fingerprint) throw new ApiError('ref_conflict', { ref: key })
    return { status: row.status, body: JSON.parse(row.body) }
  }

  /** Stores the response of work that ended without one, unless the slot has a response. */
  async storeIfAbsent(
    db: Db,
    owner: string,
    slot: string,
    response: StoredResponse,
  ): Promise<void> {
    await this.storeSlot(db, owner, slot, response).onConflictDoNothing()
  }

  /** Inserts the response of a slot. Fails when the slot has one. */
  storeSlot(db: Db, owner: string, slot: string, { status, body }: StoredResponse) {
    const [request = '', ref = ''] = slot.split(' ')
    const row = { owner, ref, request, status, body: JSON.stringify(body), at: this.clock.now() }
    return db.insert(storedResponses).values(row)
  }

  /** Deletes responses that were stored more than 30 days ago. */
  async sweep(): Promise<void> {
    await this.db.tx((db) =>
      db.delete(storedResponses).where(lt(storedResponses.at, this.clock.now() - retentionMs)),
    )
  }
}
