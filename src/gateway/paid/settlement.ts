import { type NanoUsd, zero } from '../../core/money.ts'
import { stopwatch } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import type { StoredResponse } from '../../idempotency/idempotency.ts'
import type { Hold } from '../../ledger/holds.ts'
import { chargeWithinHold } from '../../models/charge.ts'
import { insertUse, usageCounts } from '../../models/history.ts'
import { createUsage, type Usage } from '../../models/usage.ts'
import type { PaidOutcome, PaidResult } from '../../paid/paid-request.ts'
import { errorEnvelope } from '../error-response.ts'
import type { Candidate } from './candidates.ts'
import type { PaidCall } from './paid-call.ts'
import type { UpstreamFailure } from './upstream-failure.ts'

/** The end of a call, as the history has it. */
export type CallEnd = 'completed' | 'interrupted' | 'failed'

/** A call that an upstream served, in full or in part. */
interface ServedCall {
  usage: Usage
  end: CallEnd
  /** The result; undefined for a stream that the client already received. */
  response?: StoredResponse | undefined
  record?: ((db: Db) => Promise<unknown>) | undefined
}

/** Times one call and creates its outcome: the charge, the history row and the replay. */
export class Settlement {
  private readonly started = stopwatch()
  private firstByteMs: number | null = null

  /** `estimateUsage` counts the usage of a failed call that is charged. */
  constructor(
    private readonly call: PaidCall,
    private readonly hold: Hold,
    private readonly estimateUsage: (candidate: Candidate) => Usage,
  ) {}

  markFirstByte(): void {
    this.firstByteMs = Math.round(stopwatch() - this.started)
  }

  /** Returns the cost of a usage, at most the hold. */
  chargeOf({ price }: Candidate, usage: Usage): NanoUsd {
    return chargeWithinHold(this.hold, price, usage)
  }

  served(candidate: Candidate, { usage, end, response, record }: ServedCall): PaidOutcome {
    const { offer, model } = candidate
    const ms = stopwatch() - this.started
    const { speeds } = this.call.ctx.upstreams
    if (model.type === 'chat') speeds.record(offer.upstream, offer.model, usage.completion, ms)
    const charge = this.chargeOf(candidate, usage)
    const result = { response: response ?? { status: 200, body: null } }
    return { ...this.outcome(result, candidate, usage, end, charge, record), replay: response }
  }

  failed(candidate: Candidate, { error, charges }: UpstreamFailure): PaidOutcome {
    const result = { error }
    if (charges === 'nothing') {
      return this.outcome(result, candidate, createUsage({}), 'failed', zero)
    }
    const usage = this.estimateUsage(candidate)
    if (charges === 'delivered') {
      const charge = this.chargeOf(candidate, usage)
      return this.outcome(result, candidate, usage, 'interrupted', charge)
    }
    const { status, body } = errorEnvelope(error)
    const outcome = this.outcome(result, candidate, usage, 'failed', this.hold.amount)
    return { ...outcome, replay: { status, body } }
  }

  private outcome(
    result: PaidResult,
    { model, offer, price }: Candidate,
    usage: Usage,
    end: CallEnd,
    charge: NanoUsd,
    record?: (db: Db) => Promise<unknown>,
  ): PaidOutcome {
    const { spender, requestId, ctx } = this.call
    const at = ctx.clock.now()
    const ms = Math.round(stopwatch() - this.started)
    return {
      result,
      charge,
      record: async (db, { charged, amount }) => {
        await insertUse(db, {
          account: spender.account,
          requestId,
          at,
          model: model.id,
          type: model.type,
          source: spender.source,
          status: end,
          upstream: offer.upstream,
          price: price.id,
          ...usageCounts(usage),
          charged,
          held: amount,
          ms,
          firstByteMs: this.firstByteMs,
        })
        await record?.(db)
      },
    }
  }
}
