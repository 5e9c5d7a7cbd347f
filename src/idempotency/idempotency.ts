import { and, eq, lt } from 'drizzle-orm'

import { sha256 } from '../core/ids.ts'
import { isRecord } from '../core/schema.ts'
import { type Clock, day } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { faultOf } from '../db/error.ts'
import { ApiError } from '../errors.ts'
import { answers } from './tables.ts'

/** An answer as it went out, to be given again. */
export interface Answer {
  status: number
  body: unknown
}

/** Keeps the answer, inside the transaction that does what it tells of. */
export type KeepAnswer = (db: Db, answer: Answer) => Promise<void>

/**
 * Work that is done once. `slot` names its answer, without the owner: who writes it down beside the
 * work can keep an answer when the process has died (`keepLate`). Undefined where nothing is kept.
 */
export type Work = (keep: KeepAnswer, slot?: string) => Promise<Answer>

/** What a request names itself by, so that it is done once: in its body, or by its header. */
export const refOf = ({ headers }: Request, inBody?: string): string | undefined =>
  inBody ?? headers.get('idempotency-key') ?? undefined

/** An answer is remembered this long after it was given. */
const keptMs = 30 * day
const pattern = /^[\x21-\x7e]{1,128}$/

const keepNothing: KeepAnswer = async () => {}

/** The same fields in another order are the same request. */
const inOrder = (_key: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/**
 * Runs paid or repeatable work once per `ref` (a body's `ref`, or the header Idempotency-Key of
 * draft-ietf-httpapi-idempotency-key-header). The same ref with the same request answers the first
 * answer again; with another request it is ref_conflict; while the first still runs it is busy.
 * Refusals are not remembered: nothing was done.
 */
export class Idempotency {
  private readonly running = new Set<string>()

  constructor(
    private readonly db: Engine,
    private readonly clock: Clock,
  ) {}

  once(owner: string, ref: string | undefined, request: unknown, work: Work): Promise<Answer> {
    return ref === undefined ? work(keepNothing) : this.onceBy(owner, ref, request, work)
  }

  private async onceBy(owner: string, ref: string, request: unknown, work: Work): Promise<Answer> {
    if (!pattern.test(ref)) {
      const problem =
        'A ref, or an Idempotency-Key, is 1 to 128 printable ASCII characters without spaces.'
      throw new ApiError('bad_request', { problem })
    }
    const fingerprint = sha256(JSON.stringify(request, inOrder))
    const slot = `${fingerprint} ${ref}`
    const keep: KeepAnswer = async (db, answer) => {
      await this.inserting(db, owner, slot, answer)
    }
    return this.alone(`${owner} ${ref}`, 'The same request', async () => {
      const known = await this.first(owner, ref, fingerprint)
      if (known) return known
      try {
        return await work(keep, slot)
      } catch (error) {
        // Another process that shares the database was first.
        const first = faultOf(error) === 'unique' && (await this.first(owner, ref, fingerprint))
        if (first) return first
        throw error
      }
    })
  }

  /** Runs work that this process does once at a time under its name. Refuses busy with `what`. */
  async alone<Done>(name: string, what: string, work: () => Promise<Done>): Promise<Done> {
    if (this.running.has(name)) throw new ApiError('busy', { what })
    this.running.add(name)
    try {
      return await work()
    } finally {
      this.running.delete(name)
    }
  }

  private async first(
    owner: string,
    ref: string,
    fingerprint: string,
  ): Promise<Answer | undefined> {
    const [row] = await this.db.read
      .select()
      .from(answers)
      .where(and(eq(answers.owner, owner), eq(answers.ref, ref)))
    if (!row) return undefined
    if (row.request !== fingerprint) throw new ApiError('ref_conflict', { ref })
    return { status: row.status, body: JSON.parse(row.body) }
  }

  /** Keeps the answer of work that ended without one, by its slot, unless there is one. */
  async keepLate(db: Db, owner: string, slot: string, answer: Answer): Promise<void> {
    await this.inserting(db, owner, slot, answer).onConflictDoNothing()
  }

  private inserting(db: Db, owner: string, slot: string, { status, body }: Answer) {
    const [request = '', ref = ''] = slot.split(' ')
    const row = { owner, ref, request, status, body: JSON.stringify(body), at: this.clock.now() }
    return db.insert(answers).values(row)
  }

  /** Forgets answers older than 30 days. */
  async sweep(): Promise<void> {
    await this.db.tx((db) => db.delete(answers).where(lt(answers.at, this.clock.now() - keptMs)))
  }
}
