import type { AppContext } from '../../context.ts'
import { sha256 } from '../../core/ids.ts'
import { ApiError } from '../../errors.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import type { Hold } from '../../ledger/holds.ts'
import { openHoldsPerKeyMax } from '../../limits.ts'
import type { Call } from '../call.ts'
import type { Spender } from '../key.ts'
import type { Served } from './bill.ts'

/** Counts a running paid call of this key until the returned function is called. Throws `holds_limit`. */
export function beginPaidCall({ state }: AppContext, key: string): () => void {
  const end = state.paidCalls.begin(key)
  if (end) return end
  throw new ApiError('holds_limit', { max: openHoldsPerKeyMax, retryAfter: 1 })
}

const failureKey = (key: string, body: unknown): string => sha256(`${key} ${JSON.stringify(body)}`)

/**
 * Does paid work as one of its caller's running calls; `paid` settles once it is over. Refuses
 * holds_limit, and what the work comes to, also when that was charged within the last minute.
 */
export async function runPaid(
  ctx: AppContext,
  { caller }: Spender,
  { signal }: Call,
  request: unknown,
  work: (paid: Promise<void>) => Promise<{ result: Served; hold: Hold }>,
): Promise<Answer> {
  const failures = ctx.state.chargedFailures
  // Hashing the request costs time, so it waits until there is a failure to find.
  const failure = failures.size > 0 ? failures.get(failureKey(caller, request)) : undefined
  if (failure) throw failure
  const done = beginPaidCall(ctx, caller)
  const { promise: paid, resolve: tell } = Promise.withResolvers<void>()
  try {
    const { result, hold } = await work(paid)
    if (result.answer) return result.answer
    if (hold.charged > 0n && !signal.aborted) {
      failures.set(failureKey(caller, request), result.refusal)
    }
    throw result.refusal
  } finally {
    tell()
    done()
  }
}
