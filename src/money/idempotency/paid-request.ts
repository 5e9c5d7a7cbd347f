import { currentClient } from '../../kernel/client.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, type GatewayErrorName } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { openHoldsPerKeyMax } from '../../kernel/limits.ts'
import type { AppContext } from '../../server/context.ts'
import type { Hold, HoldRequest } from '../ledger/holds.ts'
import { holdMaxCost, releaseWork, settleWork, type WorkOutcome } from '../ledger/paid-work.ts'
import type { IdempotencyLock, StoredResponse } from './idempotency.ts'
import { isResponseOf, responseRow } from './response-row.ts'

/** The response to finished work, or the error of failed work, which may have a charge too. */
export type PaidResult =
  | { response: StoredResponse; error?: undefined }
  | { response?: undefined; error: ApiError<GatewayErrorName> }

export interface PaidOutcome extends WorkOutcome<PaidResult> {
  /** The response that a replay under the same idempotency key returns. */
  replay?: StoredResponse | undefined
  /** Replaces a `replay` that is too large for the journal of settlements. */
  shortReplay?: StoredResponse | undefined
}

/** A paid request while it is served. `Stream` is the type of a streaming response. */
export interface RunningRequest<Stream> {
  hold: Hold
  /** Sends a streaming response; the work goes on behind it, and its result is not sent. */
  respond(stream: Stream): void
  /** Resolves when the charge is committed or the work failed. Streams close after it. */
  settled: Promise<void>
}

/** Work that ends within its request. */
export interface RequestWork<Stream> {
  hold: HoldRequest
  run(request: RunningRequest<Stream>): Promise<PaidOutcome>
}

/** Work that a job does. `start` enqueues it and opens its holds, in one transaction. */
export interface JobWork {
  start(db: Db): Promise<StoredResponse>
}

export interface PaidRequest<Stream = never> {
  owner: string
  key: string | undefined
  /** Equal for two requests for the same work. */
  fingerprint: unknown
  /** Work that must not run twice at a time by this name; `busy` reports the description. */
  exclusive?: { name: string; description: string }
  /** The API key or balance whose running requests are limited. `id` names it. */
  caller?: { id: string; signal: AbortSignal }
  /** Checks the request and computes its maximum cost. `slot` names the stored response. */
  prepare(slot: string | undefined): Promise<RequestWork<Stream> | JobWork>
}

/**
 * Runs one paid request, from its idempotency key to its response (docs/architecture.md). Chat,
 * media, icons, assets and builds use it; a video hands its hold to a job (videos/submit.ts).
 * Throws the errors of its steps. Failed work is charged only where its outcome says so (document
 * 2, section 7).
 */
export function runPaidRequest<Stream = never>(
  ctx: AppContext,
  request: PaidRequest<Stream>,
): Promise<StoredResponse | Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<StoredResponse | Stream>()
  serve(ctx, request, resolve).then(resolve, reject)
  return promise
}

async function serve<Stream>(
  ctx: AppContext,
  request: PaidRequest<Stream>,
  respond: (stream: Stream) => void,
): Promise<StoredResponse> {
  // 1. Lock the idempotency key, or replay the stored response.
  await settlePendingResponse(ctx, request)
  const keyLock = await ctx.idempotency.acquire(request.owner, request.key, request.fingerprint)
  if (keyLock.stored) return keyLock.stored
  const settled = Promise.withResolvers<void>()
  let endRequest: (() => void) | undefined
  let unlock: (() => Promise<void> | undefined) | undefined
  try {
    const { exclusive } = request
    unlock = exclusive && (await ctx.idempotency.lock(exclusive.name, exclusive.description))
    // 2. Check the request, and compute its candidates and its maximum cost.
    const work = await request.prepare(keyLock.slot)
    // 3. A job holds the credits, does the work later and settles it then.
    if ('start' in work) return await startJob(ctx, keyLock, work)
    // 4. Check the limit of running requests, and rethrow a recent charged failure.
    endRequest = checkAndBegin(ctx, request)
    // 5. Hold the maximum cost.
    const hold = await holdMaxCost(ctx, withCaller(ctx, request, work.hold))
    // 6. Call the upstream with fallbacks. Work that throws costs nothing.
    const outcome = await work
      .run({ hold, respond, settled: settled.promise })
      .catch((error: unknown) => releaseWork(ctx, hold, error))
    // 7. Settle: the charge, the history row and the replayable response, in one transaction.
    const { charged } = await settleWork(ctx, hold, withReplay(ctx, request, outcome, keyLock))
    // 8. Respond.
    const { response, error } = outcome.result
    if (response) return response
    if (charged > 0n) await rememberChargedFailure(ctx, request, error)
    throw error
  } catch (error) {
    // Another process on the same database may have committed the same key first.
    return await keyLock.resolveConflict(error)
  } finally {
    settled.resolve()
    endRequest?.()
    // Requests without a key or a lock end without a further turn of the event loop.
    if (unlock) await unlock()
    if (request.key !== undefined) await keyLock.release(hasPendingResponse(ctx, request))
  }
}

/** SQLite has one process, which counts the running calls in memory. */
const withCaller = (
  { db }: AppContext,
  { caller }: Pick<PaidRequest, 'caller'>,
  hold: HoldRequest,
): HoldRequest => (caller && db.kind === 'postgres' ? { ...hold, caller: caller.id } : hold)

const startJob = (
  ctx: AppContext,
  keyLock: IdempotencyLock,
  { start }: JobWork,
): Promise<StoredResponse> =>
  ctx.db.tx(async (db) => {
    const response = await start(db)
    await keyLock.store(db, response)
    return response
  })

/** Counts a running request of an API key. Throws `holds_limit`, or a recent charged failure. */
function checkAndBegin<Stream>(
  { state }: AppContext,
  request: PaidRequest<Stream>,
): (() => void) | undefined {
  if (!request.caller) return undefined
  // Hashing a request costs time, so it waits until there is a failure to find.
  const failures = state.chargedFailures
  const failure = failures.size > 0 ? failures.get(failureKey(request)) : undefined
  if (failure) throw failure
  return beginPaidCall(state, request.caller.id)
}

/** Counts a running paid call until the returned function is called. Throws `holds_limit`. */
export function beginPaidCall(
  { limits: { paidCalls } }: AppContext['state'],
  callerId: string,
): () => void {
  const end = paidCalls.begin(callerId)
  const client = currentClient()
  if (end) {
    client.charge('open', 1)
    return () => {
      client.charge('open', -1)
      end()
    }
  }
  throw new ApiError('holds_limit', { max: openHoldsPerKeyMax, retryAfter: 1 })
}

/**
 * Settles an earlier run of the same key whose outcome still waits for the database. Throws `busy`
 * when the database does not take it.
 */
async function settlePendingResponse(
  { pendingSettlements }: AppContext,
  { owner, key }: Pick<PaidRequest, 'owner' | 'key'>,
): Promise<void> {
  if (key === undefined || pendingSettlements.pendingCount === 0) return
  const isSettled = await pendingSettlements.retryWith((row) => isResponseOf(row, owner, key))
  if (!isSettled) throw new ApiError('busy', { what: 'The same request' })
}

/** Returns whether the response of the same key waits for the database. */
const hasPendingResponse = (
  { pendingSettlements }: AppContext,
  { owner, key }: Pick<PaidRequest, 'owner' | 'key'>,
): boolean =>
  key !== undefined &&
  pendingSettlements.findPending((row) => isResponseOf(row, owner, key)).length > 0

/** Adds the replayable response to the rows of the settlement. */
function withReplay<Stream>(
  ctx: AppContext,
  { owner }: PaidRequest<Stream>,
  outcome: PaidOutcome,
  { slot }: IdempotencyLock,
): PaidOutcome {
  const { replay, shortReplay, rows = [] } = outcome
  if (!replay || slot === undefined) return outcome
  const row = responseRow.create(ctx, { owner, slot, ...replay })
  if (shortReplay) row.fallback = { kind: row.kind, data: { owner, slot, ...shortReplay } }
  return { ...outcome, rows: [...rows, row] }
}

/** Remembers a charged failure for clients that retry at once. A client that left saw no error. */
async function rememberChargedFailure<Stream>(
  { state }: AppContext,
  request: PaidRequest<Stream>,
  error: ApiError<GatewayErrorName>,
): Promise<void> {
  if (request.caller && !request.caller.signal.aborted) {
    await state.chargedFailures.add(failureKey(request), error)
  }
}

const failureKey = ({ caller, fingerprint }: Pick<PaidRequest, 'caller' | 'fingerprint'>): string =>
  sha256(`${caller?.id} ${JSON.stringify(fingerprint)}`)
