import { currentClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, isApiError } from '../../kernel/errors.ts'
import { Content } from '../../kernel/http/outcome.ts'
import { newId } from '../../kernel/ids.ts'
import { lookUp } from '../../kernel/schema.ts'
import { minute, second } from '../../kernel/time.ts'
import { clientRejection, networkRejection } from '../../money/keys/restrictions.ts'
import { checkDailyCap } from '../../money/ledger/holds.ts'
import { shortfallOf } from '../../money/payment.ts'
import { createOffer } from '../../money/payments/x402/headers.ts'
import { admitKey, type KeySpender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { complete } from '../completions/operations.ts'
import { embedInputs } from '../embeddings/operations.ts'
import { errorEnvelope, findEnvelope, internalError, isGatewayError } from '../error-response.ts'
import { generateImages } from '../images/operations.ts'
import { batchAttemptsMax, batchRetryMsMax } from '../limits.ts'
import { moderate } from '../moderations/operations.ts'
import { completeChat } from '../openai-chat/operations.ts'
import { sortDocuments } from '../rerank/operations.ts'
import { createResponse } from '../responses/responses.ts'
import type { BatchLine } from './input-file.ts'
import type { batches } from './tables.ts'

/** An operation that a batch can call. */
type Operation = (
  ctx: AppContext,
  spender: KeySpender,
  body: unknown,
  call: Call,
) => Promise<CallOutcome>

/** The operations that a batch can call, by their paths. */
export const endpoints: Record<string, Operation> = {
  '/v1/chat/completions': completeChat,
  '/v1/responses': createResponse,
  '/v1/completions': complete,
  '/v1/embeddings': embedInputs,
  '/v1/moderations': moderate,
  '/v1/rerank': sortDocuments,
  '/v1/images/generations': generateImages,
}

/** The outcome of one attempt at a line, as HTTP has it. */
interface LineOutcome {
  status: number
  headers: Readonly<Record<string, string>>
  body: unknown
}

/** The response to a line, as the output file has it. */
export interface LineResponse {
  status_code: number
  request_id: string
  body: unknown
}

/**
 * The key or the upstream has reached its rate, or the operator slowed down or blocked the client:
 * the batch waits so many milliseconds.
 */
export interface Paused {
  pausedMs: number
}

type Batch = Pick<typeof batches.$inferSelect, 'id' | 'owner' | 'key' | 'endpoint'>

/**
 * Runs a line as the key's own call, with a hold and a settlement of its own. Its Idempotency-Key
 * is the line, so a line that runs again after a crash is charged once: a settled one returns its
 * stored response. A failure without a charge that may pass is tried again.
 */
export async function runLine(
  ctx: AppContext,
  batch: Batch,
  { line, body }: BatchLine,
): Promise<LineResponse | Paused> {
  for (let attempt = 1; ; attempt += 1) {
    const requestId = newId()
    const response = await sendLine(ctx, batch, body, {
      requestId,
      idempotencyKey: `batch:${batch.id}:${line}`,
      // A line goes on when the job is aborted: its result is stored under the key.
      signal: new AbortController().signal,
    })
    if ('pausedMs' in response) return response
    const { status, body: sent } = response
    const retryMs = retryMsOf(response, attempt)
    const isLast = attempt >= batchAttemptsMax
    if (retryMs === undefined || (isLast && !pauseStatuses.includes(status))) {
      return { status_code: status, request_id: requestId, body: sent }
    }
    // The next slice tries a busy upstream again, until the batch expires.
    if (isLast) return { pausedMs: retryMs }
    await Bun.sleep(retryMs)
  }
}

async function sendLine(
  ctx: AppContext,
  { owner, key, endpoint }: Batch,
  body: unknown,
  call: Call,
): Promise<LineOutcome | Paused> {
  const client = currentClient()
  const restricted = networkRejection(ctx, client) ?? clientRejection(ctx, client)
  if (restricted) return { pausedMs: Math.min(restricted.retryAfter * second, restrictedMsMax) }
  client.charge('requests', 1)
  try {
    const spender = admitKey(ctx, await ctx.keys.findOwn(owner, key))
    const operation = lookUp(endpoints, endpoint)
    if (!operation) throw new ApiError('not_found', { what: `endpoint ${endpoint}` })
    return await operation(ctx, spender, body, call).then(responseOf, (error: unknown) =>
      offerTopUp(ctx, spender, error),
    )
  } catch (error) {
    if (isApiError(error, 'key_rate')) return { pausedMs: error.details[0].retryAfter * second }
    const known = findEnvelope(error)
    if (!known) ctx.log.error('batch.line_failed', error)
    return known ?? internalError(call.requestId, error)
  }
}

/** A line never streams, so its outcome is JSON. */
function responseOf(outcome: CallOutcome): LineOutcome {
  if (outcome instanceof Content) throw new Error('a line of a batch has no JSON')
  const { status, headers, value: body } = outcome
  return { status, headers, body }
}

/** A batch of a blocked client looks this often whether it was cancelled or may go on. */
const restrictedMsMax = minute

/** 409: another process still runs the line. */
const retryStatuses = [409, 429, 502, 503]
const pauseStatuses = [409, 429]

/** Returns the wait before another attempt; undefined for a final response. */
function retryMsOf({ status, headers }: LineOutcome, attempt: number): number | undefined {
  const isFinal = headers['x-should-retry'] === 'false'
  if (isFinal || !retryStatuses.includes(status)) return undefined
  const seconds = Number(headers['retry-after'] ?? 2 ** (attempt - 1))
  return Math.min(seconds * second, batchRetryMsMax)
}

/**
 * Returns the 402 of an agent's line with an offer, or throws its error. A line carries no payment,
 * so the offer is one of POST /topup, which pays for the line in another batch. Throws `daily_cap`
 * where paying would not help.
 */
async function offerTopUp(
  { clock, db, urls, x402 }: AppContext,
  { owner, cap }: KeySpender,
  error: unknown,
): Promise<LineOutcome> {
  const shortfall = shortfallOf(error)
  if (!x402 || !shortfall || !isGatewayError(error) || owner.kind !== 'agent') throw error
  await checkDailyCap(db.read, cap, shortfall.spends, clock.now())
  const terms = await x402.termsFor(shortfall.amount, `${urls.base}/topup`)
  if (!terms) throw error
  const { status, body } = errorEnvelope(error)
  return { status, headers: {}, body: { ...body, ...createOffer(terms).fields } }
}
