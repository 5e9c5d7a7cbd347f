import type { Log } from '../core/log.ts'
import type { NanoUsd } from '../core/money.ts'
import type { Clock } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { ApiError } from '../errors.ts'
import { endingWaitsMs } from '../limits.ts'
import type { Hold } from './holds.ts'
import { type Ask, type Hear, hold, type Note, release, settle } from './ledger.ts'

/** What paid work needs of the house. */
export interface Books {
  db: Engine
  clock: Clock
  log: Log
  onCharge?: Hear | undefined
}

/** What work answers: its result, and what it cost (clamped to the hold). */
export interface Worked<T> {
  result: T
  charge: NanoUsd
  /** What else is kept of it, written in the transaction of the settlement. */
  record?: Note
  /** Locks what `record` writes to and others lock before they pay. */
  first?: (db: Db) => Promise<unknown>
}

/** Work that is over, and whose hold its deadline ends, charging all of it: `onExpiry` says so. */
export class ChargedLate extends Error {
  constructor(ref: string) {
    super(`The hold of ${ref} did not end with its work, and is charged whole.`)
  }
}

/**
 * The only shape of paid work: hold the worst case, work, settle what it cost. Work that throws, or
 * whose `record` refuses, costs nothing; work that failed and still costs (document 2, section 7)
 * returns its failure with the charge. A process that dies leaves the hold to `expireOrphans`; a
 * database that is away for too long does, too, and throws ChargedLate where that will charge it.
 * Refuses what `hold` refuses, and a taken ref: busy while its work runs, else ref_conflict.
 */
export async function withHold<T>(
  ctx: Books,
  ask: Ask,
  work: (hold: Hold) => Promise<Worked<T>>,
): Promise<{ result: T; hold: Hold }> {
  const held = await ctx.db.tx((db) => hold(ctx, db, ask))
  const { ref } = held.hold
  if (!held.fresh) {
    throw held.hold.state === 'held'
      ? new ApiError('busy', { what: ref })
      : new ApiError('ref_conflict', { ref })
  }
  const isChargedLate = ask.onExpiry === 'settle'
  const letGo = async (error: unknown): Promise<never> => {
    try {
      await persist(ctx, held.hold, (db) => release(db, held.hold))
    } catch {
      if (isChargedLate) throw new ChargedLate(ref)
    }
    // The caller must hear of the work's own failure, if that is free; the other is in the log.
    throw error
  }
  const { charge, result, record, first } = await work(held.hold).catch(letGo)
  const settled = persist(ctx, held.hold, async (db) => {
    await first?.(db)
    return settle(ctx, db, held.hold, charge, record)
  })
  const ended = await settled.catch((error: unknown) => {
    if (error instanceof ApiError) return letGo(error)
    throw isChargedLate ? new ChargedLate(ref) : error
  })
  if (ended.state !== 'settled') throw new Error(`The hold of ${ref} ended before its work.`)
  return { result, hold: ended }
}

/**
 * Ends a hold, again and again when the database fails, and tells the log each time; then it is
 * left to its deadline. What `record` refuses is refused at once.
 */
async function persist(ctx: Books, { ref }: Hold, ending: (db: Db) => Promise<Hold>) {
  for (const waitMs of endingWaitsMs) {
    try {
      return await ctx.db.tx(ending)
    } catch (error) {
      if (error instanceof ApiError) throw error
      ctx.log.fault('ledger.hold_not_ended', error, { ref, waitMs })
    }
    await Bun.sleep(waitMs)
  }
  try {
    return await ctx.db.tx(ending)
  } catch (error) {
    ctx.log.fault('ledger.hold_left_to_its_deadline', error, { ref })
    throw error
  }
}
