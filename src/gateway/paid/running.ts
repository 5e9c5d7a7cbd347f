import { LRUCache } from 'lru-cache'

import type { AppContext } from '../../context.ts'
import { RateLimit } from '../../core/counters.ts'
import { sha256 } from '../../core/ids.ts'
import { onceFor } from '../../core/once.ts'
import { type Clock, isWithin, minute } from '../../core/time.ts'
import { ApiError, type GatewayErrorName } from '../../errors.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import type { Hold } from '../../ledger/holds.ts'
import {
  failureReplayMs,
  failureReplaysMax,
  openHoldsPerKeyMax,
  searchesPerMinuteMax,
} from '../../limits.ts'
import type { Call } from '../call.ts'
import type { Spender } from '../key.ts'
import type { Served } from './bill.ts'

/** How many paid calls of each key are running. */
class OpenCalls {
  private readonly byKey = new Map<string, number>()

  /** Counts a call of this key; the answer ends it. Refuses holds_limit. */
  begin(key: string): () => void {
    const open = this.byKey.get(key) ?? 0
    if (open >= openHoldsPerKeyMax) {
      throw new ApiError('holds_limit', { max: openHoldsPerKeyMax, retryAfter: 1 })
    }
    this.byKey.set(key, open + 1)
    return () => {
      const left = (this.byKey.get(key) ?? 1) - 1
      if (left > 0) this.byKey.set(key, left)
      else this.byKey.delete(key)
    }
  }
}

interface Failure {
  refusal: ApiError<GatewayErrorName>
  at: number
}

/**
 * Failures that were charged, by key and body: clients that try again at once are told the same and
 * are not charged twice (gateway-completed, Answers). Who left was told nothing: that is not kept.
 */
class ChargedFailures {
  private readonly kept = new LRUCache<string, Failure>({ max: failureReplaysMax })

  constructor(private readonly clock: Clock) {}

  /** Refuses as the same call was refused within the last minute. */
  check(key: string, body: unknown): void {
    if (this.kept.size === 0) return
    const failure = this.kept.get(nameOf(key, body))
    if (failure && isWithin(this.clock, failure.at, failureReplayMs)) throw failure.refusal
  }

  keep(key: string, body: unknown, refusal: ApiError<GatewayErrorName>): void {
    this.kept.set(nameOf(key, body), { refusal, at: this.clock.now() })
  }
}

const nameOf = (key: string, body: unknown): string => sha256(`${key} ${JSON.stringify(body)}`)

/** What the gateway remembers of paid calls while the process lives. */
export const paidCallsOf = onceFor(({ clock }: AppContext) => ({
  open: new OpenCalls(),
  failures: new ChargedFailures(clock),
  /** Searching calls a minute by account. */
  searches: new RateLimit(clock, searchesPerMinuteMax, minute),
}))

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
  const { open, failures } = paidCallsOf(ctx)
  failures.check(caller, request)
  const done = open.begin(caller)
  const { promise: paid, resolve: tell } = Promise.withResolvers<void>()
  try {
    const { result, hold } = await work(paid)
    if (result.answer) return result.answer
    if (hold.charged > 0n && !signal.aborted) failures.keep(caller, request, result.refusal)
    throw result.refusal
  } finally {
    tell()
    done()
  }
}
