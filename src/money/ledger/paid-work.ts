import { ApiError } from '../../kernel/errors.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { LateCommit } from './commit-groups.ts'
import { clampCharge, createHold, type Hold, type HoldRequest } from './holds.ts'
import { isFinal, type PaymentContext, releaseOf } from './outcomes.ts'
import type { SettlementRow } from './settlement-rows.ts'
import { openUnit } from './units.ts'

/** The result and the cost of work, and the rows that are written with its settlement. */
export interface WorkOutcome<Result = unknown> {
  result: Result
  /** The settlement clamps it to the hold. */
  charge: NanoUsd
  rows?: SettlementRow[] | undefined
}

/** Work has ended, and the database has not taken its charge yet. */
export class UnsettledHoldError extends Error {
  constructor(ref: string) {
    super(`The charge of ${ref} waits in memory until the database takes it.`)
  }
}

/**
 * Holds the maximum cost of work in a transaction of its own. Throws what `openHold` throws. A
 * `ref` in use is `busy` while its work runs, and `ref_conflict` afterwards.
 */
async function holdMaxCost(ctx: PaymentContext, request: HoldRequest): Promise<Hold> {
  const { pendingSettlements, db, clock } = ctx
  const { ref } = request
  const isTwin = pendingSettlements.isRunning(ref)
  pendingSettlements.begin(ctx, request)
  const own = createHold(clock.now(), request)
  try {
    const { hold, isChanged } = await pendingSettlements.groups.commit(ctx, openUnit(own, request))
    if (isChanged) {
      if (isTwin) pendingSettlements.begin(ctx, request)
      return hold
    }
    throw hold.state === 'held'
      ? new ApiError('busy', { what: 'The same request' })
      : new ApiError('ref_conflict', { ref })
  } catch (error) {
    if (!isTwin) pendingSettlements.cancel(ref)
    const release = () => void pendingSettlements.keep(ctx, releaseOf({ ref, id: own.id }))
    // A release before a late commit would find no hold.
    if (error instanceof LateCommit) void error.ended.then(release)
    // PostgreSQL may have committed the hold although its response was lost, which may never end.
    if (db.kind === 'postgres' && !(error instanceof ApiError)) release()
    throw error
  }
}

/**
 * Settles finished work: charges it and writes its rows, in one transaction. A settlement that
 * waits in the journal is returned as it will be. Releases the hold when a row throws an ApiError
 * or conflicts with another process, and throws that error. Throws UnsettledHoldError when the
 * database stays away and the journal has no space.
 */
async function settleWork(
  ctx: PaymentContext,
  hold: Hold,
  { charge, rows = [] }: Omit<WorkOutcome, 'result'>,
): Promise<Hold> {
  const charged = clampCharge(hold, charge)
  const { hold: ended, pending } = await ctx.pendingSettlements
    .end(ctx, { hold, state: 'settled', charge: charged, rows })
    .catch((error: unknown) => {
      if (isFinal(error)) return releaseWork(ctx, hold, error)
      throw error
    })
  if (ended?.state === 'settled') return ended
  if (pending === 'journal') return { ...hold, state: 'settled', charged }
  if (pending === 'memory') throw new UnsettledHoldError(hold.ref)
  throw new Error(`The hold of ${hold.ref} ended before its work.`)
}

/** Releases the hold of failed work and throws the work's error. */
async function releaseWork(ctx: PaymentContext, hold: Hold, error: unknown): Promise<never> {
  await ctx.pendingSettlements.end(ctx, releaseOf(hold))
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
