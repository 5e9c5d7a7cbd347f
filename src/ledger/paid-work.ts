import type { Log } from '../core/log.ts'
import type { NanoUsd } from '../core/money.ts'
import type { Clock } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { ApiError } from '../errors.ts'
import { settleRetriesMs } from '../limits.ts'
import type { ChargeObserver, Hold, HoldRequest, SettlementRecorder } from './holds.ts'
import { openHold, releaseHold, settleHold } from './ledger.ts'

/** The parts of AppContext that paid work uses. */
export interface PaymentContext {
  db: Engine
  clock: Clock
  log: Log
  onCharge?: ChargeObserver | undefined
}

/** The result and the cost of work, and the rows that are written with its settlement. */
export interface WorkOutcome<Result = unknown> {
  result: Result
  /** The settlement clamps it to the hold. */
  charge: NanoUsd
  record?: SettlementRecorder | undefined
  /** Locks rows of `record` that other transactions lock before they pay. */
  lock?: (db: Db) => Promise<unknown>
}

/** Work has ended, and its hold stays open until its deadline, which charges all of it. */
export class UnsettledHoldError extends Error {
  constructor(ref: string) {
    super(`The hold of ${ref} is still open after its work. Its deadline charges all of it.`)
  }
}

/**
 * Holds the maximum cost of work in a transaction of its own. Throws what `openHold` throws. A
 * `ref` in use is `busy` while its work runs, and `ref_conflict` afterwards.
 */
export async function holdMaxCost(ctx: PaymentContext, request: HoldRequest): Promise<Hold> {
  const { hold, isNew } = await ctx.db.tx((db) => openHold(ctx, db, request))
  if (isNew) return hold
  const { ref, state } = hold
  throw state === 'held'
    ? new ApiError('busy', { what: ref })
    : new ApiError('ref_conflict', { ref })
}

/**
 * Settles finished work: charges it and writes its rows, in one transaction. Releases the hold when
 * `record` throws an ApiError, and throws that. Throws UnsettledHoldError, or the database's error
 * where the deadline releases the hold, when the database stays away for too long.
 */
export async function settleWork(
  ctx: PaymentContext,
  hold: Hold,
  { charge, record, lock }: Omit<WorkOutcome, 'result'>,
): Promise<Hold> {
  try {
    const ended = await endHoldDurably(ctx, hold, async (db) => {
      await lock?.(db)
      return settleHold(ctx, db, hold, charge, record)
    })
    if (ended.state === 'settled') return ended
  } catch (error) {
    if (error instanceof ApiError) return releaseWork(ctx, hold, error)
    throw hold.onExpiry === 'settle' ? new UnsettledHoldError(hold.ref) : error
  }
  throw new Error(`The hold of ${hold.ref} ended before its work.`)
}

/** Releases the hold of failed work and throws the work's error, or UnsettledHoldError. */
export async function releaseWork(ctx: PaymentContext, hold: Hold, error: unknown): Promise<never> {
  try {
    await endHoldDurably(ctx, hold, (db) => releaseHold(db, hold))
  } catch {
    if (hold.onExpiry === 'settle') throw new UnsettledHoldError(hold.ref)
  }
  // Free work reports its own error. The log has the database's.
  throw error
}

/**
 * Runs paid work under a hold: holds the maximum cost, works, settles. Work that throws costs
 * nothing; work that fails and still costs returns its charge (document 2, section 7). A dead
 * process leaves its hold to `expireOrphans`. Throws what the three steps throw.
 */
export async function withHold<Result>(
  ctx: PaymentContext,
  request: HoldRequest,
  work: (hold: Hold) => Promise<WorkOutcome<Result>>,
): Promise<{ result: Result; hold: Hold }> {
  const hold = await holdMaxCost(ctx, request)
  const outcome = await work(hold).catch((error: unknown) => releaseWork(ctx, hold, error))
  return { result: outcome.result, hold: await settleWork(ctx, hold, outcome) }
}

/** Ends a hold. Logs each failure of the database and tries again, a bounded number of times. */
async function endHoldDurably(
  { db, log }: PaymentContext,
  { ref }: Hold,
  end: (db: Db) => Promise<Hold>,
): Promise<Hold> {
  for (const waitMs of settleRetriesMs) {
    try {
      return await db.tx(end)
    } catch (error) {
      if (error instanceof ApiError) throw error
      log.error('ledger.hold_not_ended', error, { ref, waitMs })
    }
    await Bun.sleep(waitMs)
  }
  try {
    return await db.tx(end)
  } catch (error) {
    log.error('ledger.hold_left_to_its_deadline', error, { ref })
    throw error
  }
}
