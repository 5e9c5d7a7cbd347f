import { currentClient } from '../kernel/client.ts'
import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { ApiError, type GatewayErrorName } from '../kernel/errors.ts'
import { Success } from '../kernel/http/outcome.ts'
import { sha256 } from '../kernel/ids.ts'
import type { NanoUsd } from '../kernel/money.ts'
import {
  type IdempotencyLock,
  isResponseOf,
  responseRow,
  type StoredError,
} from './idempotency/idempotency.ts'
import type { Hold, HoldRequest } from './ledger/holds.ts'
import { openHold, settleHold } from './ledger/ledger.ts'
import { withHold } from './ledger/paid-work.ts'
import type { SettlementRow } from './ledger/settlement-rows.ts'

/** The party that paid work is for. */
export interface Payer {
  /** The owner of the idempotency key and of its stored response. */
  owner: string
  key?: string | undefined
  /** Equal for two requests for the same work. */
  fingerprint?: unknown
  /**
   * The API key or balance whose running requests are limited. `id` names it; `max` is its own
   * limit.
   */
  caller?: { id: string; max?: number | null | undefined; signal: AbortSignal } | undefined
}

/** The result of finished work, or the error of failed work, which may have a charge too. */
type ResultOrError<Result> =
  { result: Result; error?: undefined } | { result?: undefined; error: ApiError<GatewayErrorName> }

/** The end of paid work: its result, its charge, and what is written with the charge. */
export type PaidOutcome<Result> = ResultOrError<Result> & {
  /** The settlement clamps it to the hold. */
  charge: NanoUsd
  rows?: SettlementRow[] | undefined
  /** The outcome of a repeated request under the same idempotency key. */
  replay?: Success | StoredError | undefined
  /** Replaces a `replay` that is too large for the journal of settlements. */
  shortReplay?: StoredError | undefined
}

/** Paid work while it runs. */
export interface RunningWork<Result> {
  hold: Hold
  /** Sends a streaming result; the work goes on behind it. */
  respond(stream: Result): void
  /** Resolves when the charge is committed or the work failed. Streams close after it. */
  settled: Promise<void>
}

/** Work that ends within its request. */
export interface PaidWork<Result> {
  maxCost: HoldRequest
  /** Does the work. Work that throws costs nothing. */
  run(running: RunningWork<Result>): Promise<PaidOutcome<Result>>
}

/** Work of a transaction: a purchase at a fixed price, or the start of a job. */
export interface CommittedWork {
  /** Writes the purchase or enqueues the job, in the transaction that opens the holds. */
  commit(db: Db): Promise<Purchase | StartedJob>
}

interface Purchase {
  response: Success
  /** Charged in full. */
  price: HoldRequest | undefined
}

interface StartedJob {
  /** The holds that the job takes over. It settles them when it ends. */
  maxCosts: HoldRequest[]
  /** The response, or the call that the job needs before there is one. */
  response: Success | JobSubmission
}

interface JobSubmission {
  /** Calls the upstream. The returned function hands the job over and returns the response. */
  submit(): Promise<(db: Db) => Promise<Success>>
  /** Cancels the job, and so releases its holds. */
  cancel(): Promise<void>
}

export interface Payment<Result> {
  who: Payer
  /** Work that must not run twice at a time by this name; `busy` reports the description. */
  exclusive?: { name: string; description: string }
  /**
   * Checks the request and computes its maximum cost, or returns a response that needs no work.
   * `slot` names the stored response.
   */
  prepare(slot: string | undefined): Promise<PaidWork<Result> | CommittedWork | Success>
  /** Turns a stored success into a result; needed for work with a key, and for a transaction. */
  replay?(stored: Success): Result
}

const noReplay = (): never => {
  throw new Error('This work has no stored response.')
}

/**
 * Pays for one piece of work, from its idempotency key to its result: hold the maximum cost, run,
 * settle or release, replay. Nothing else opens holds (docs/decisions/0108). Throws the errors of
 * its steps, and the StoredError of failed work that was charged. Failed work is charged only where
 * its outcome says so (document 2, section 7).
 */
export function pay<Result>(ctx: AppContext, payment: Payment<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  payAndRun(ctx, payment, resolve).then(resolve, reject)
  return promise
}

async function payAndRun<Result>(
  ctx: AppContext,
  payment: Payment<Result>,
  respond: (result: Result) => void,
): Promise<Result> {
  const { who, exclusive, prepare, replay = noReplay } = payment
  // 1. Lock the idempotency key, or replay the stored response.
  await settlePendingResponse(ctx, who)
  const keyLock = await ctx.idempotency.acquire(who.owner, who.key, who.fingerprint)
  if (keyLock.stored) return replay(keyLock.stored)
  const settled = Promise.withResolvers<void>()
  let endCall: (() => void) | undefined
  let unlock: (() => Promise<void> | undefined) | undefined
  try {
    unlock = exclusive && (await ctx.idempotency.lock(exclusive.name, exclusive.description))
    // 2. Check the request, and compute its maximum cost.
    const work = await prepare(keyLock.slot)
    if (work instanceof Success) return replay(await store(ctx, keyLock, async () => work))
    // 3. Check the limit of running requests, and rethrow a recent charged failure.
    endCall = checkAndBegin(ctx, who)
    // 4. A purchase holds and settles in its own transaction. A job settles when it ends.
    if ('commit' in work) return replay(await commit(ctx, keyLock, work))
    // 5. Hold the maximum cost, run the work, and settle its charge, its rows and its replay in one
    // transaction; or release the hold (money/ledger/paid-work.ts).
    const { result: outcome, hold } = await withHold(
      ctx,
      withCaller(ctx, who, work.maxCost),
      async (hold) => {
        const result = await work.run({ hold, respond, settled: settled.promise })
        return { result, charge: result.charge, rows: rowsOf(ctx, who, result, keyLock) }
      },
    )
    // 6. Return the result or the error.
    const { result, error } = outcome
    if (!error) return result
    if (hold.charged > 0n) await rememberChargedFailure(ctx, who, error)
    throw error
  } catch (error) {
    // Another process on the same database may have committed the same key first.
    return replay(await keyLock.resolveConflict(error))
  } finally {
    settled.resolve()
    endCall?.()
    // Requests without a key or a lock end without a further turn of the event loop.
    if (unlock) await unlock()
    if (who.key !== undefined) await keyLock.release(hasPendingResponse(ctx, who))
  }
}

/** Stores a success under the idempotency key, with what `work` writes. */
const store = (
  { db }: AppContext,
  keyLock: IdempotencyLock,
  work: (db: Db) => Promise<Success>,
): Promise<Success> => db.tx(async (tx) => keyLock.store(tx, await work(tx)))

async function commit(
  ctx: AppContext,
  keyLock: IdempotencyLock,
  work: CommittedWork,
): Promise<Success> {
  const response = await ctx.db.tx(async (db) => {
    const done = await work.commit(db)
    if ('maxCosts' in done) for (const maxCost of done.maxCosts) await openHold(ctx, db, maxCost)
    else if (done.price) {
      const { hold } = await openHold(ctx, db, done.price)
      await settleHold(ctx, db, hold, hold.amount)
    }
    const { response } = done
    return response instanceof Success ? keyLock.store(db, response) : response
  })
  if (response instanceof Success) return response
  try {
    return await store(ctx, keyLock, await response.submit())
  } catch (error) {
    await response.cancel()
    throw error
  }
}

/** SQLite has one process, which counts the running calls in memory. */
const withCaller = (
  { db, state: { limits } }: AppContext,
  { caller }: Payer,
  maxCost: HoldRequest,
): HoldRequest =>
  caller && db.kind === 'postgres'
    ? { ...maxCost, caller: { id: caller.id, max: caller.max ?? limits.paidCalls.max } }
    : maxCost

/** Counts a running request of an API key. Throws `holds_limit`, or a recent charged failure. */
function checkAndBegin({ state }: AppContext, who: Payer): (() => void) | undefined {
  if (!who.caller) return undefined
  // Hashing a request costs time, so it waits until there is a failure to find.
  const failures = state.chargedFailures
  const failure = failures.size > 0 ? failures.get(failureKey(who)) : undefined
  if (failure) throw failure
  return beginPaidCall(state, who.caller)
}

/** Counts a running paid call until the returned function is called. Throws `holds_limit`. */
export function beginPaidCall(
  { limits: { paidCalls } }: AppContext['state'],
  { id, max }: Pick<NonNullable<Payer['caller']>, 'id' | 'max'>,
): () => void {
  const end = paidCalls.begin(id, max ?? undefined)
  const client = currentClient()
  if (end) {
    client.charge('open', 1)
    return () => {
      client.charge('open', -1)
      end()
    }
  }
  throw new ApiError('holds_limit', { max: max ?? paidCalls.max, retryAfter: 1 })
}

/**
 * Settles an earlier run of the same key whose outcome still waits for the database. Throws `busy`
 * when the database does not take it.
 */
async function settlePendingResponse(
  { pendingSettlements }: AppContext,
  { owner, key }: Payer,
): Promise<void> {
  if (key === undefined || pendingSettlements.pendingCount === 0) return
  const isSettled = await pendingSettlements.retryWith((row) => isResponseOf(row, owner, key))
  if (!isSettled) throw new ApiError('busy', { what: 'The same request' })
}

/** Returns whether the response of the same key waits for the database. */
const hasPendingResponse = ({ pendingSettlements }: AppContext, { owner, key }: Payer): boolean =>
  key !== undefined &&
  pendingSettlements.findPending((row) => isResponseOf(row, owner, key)).length > 0

/** Returns the rows of a settlement, with the replayable response. */
function rowsOf(
  ctx: AppContext,
  { owner }: Payer,
  { replay, shortReplay, rows = [] }: PaidOutcome<unknown>,
  { slot }: IdempotencyLock,
): SettlementRow[] {
  if (!replay || slot === undefined) return rows
  const dataOf = ({ status, value: body }: Success | StoredError) => ({ owner, slot, status, body })
  const row = responseRow.create(ctx, dataOf(replay))
  if (shortReplay) row.fallback = { kind: row.kind, data: dataOf(shortReplay) }
  return [...rows, row]
}

/** Remembers a charged failure for clients that retry at once. A client that left saw no error. */
async function rememberChargedFailure(
  { state }: AppContext,
  who: Payer,
  error: ApiError<GatewayErrorName>,
): Promise<void> {
  if (who.caller && !who.caller.signal.aborted) {
    await state.chargedFailures.add(failureKey(who), error)
  }
}

const failureKey = ({ caller, fingerprint }: Payer): string =>
  sha256(`${caller?.id} ${JSON.stringify(fingerprint)}`)
