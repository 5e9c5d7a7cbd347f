import { type NanoUsd, zero } from '../../kernel/money.ts'
import { stopwatch } from '../../kernel/time.ts'
import type { StoredResponse } from '../../money/idempotency/idempotency.ts'
import type { PaidOutcome, PaidResult } from '../../money/idempotency/paid-request.ts'
import type { Hold } from '../../money/ledger/holds.ts'
import type { SettlementRow } from '../../money/ledger/settlement-rows.ts'
import { errorEnvelope } from '../error-response.ts'
import { chargeWithinHold } from '../models/charge.ts'
import { usageCounts } from '../models/history.ts'
import { createUsage, type Usage } from '../models/usage.ts'
import type { Attempt } from '../providers/measurements.ts'
import { reportAttempt } from './call-telemetry.ts'
import type { Candidate } from './candidates.ts'
import { historyRow } from './history-row.ts'
import type { PaidCall } from './paid-call.ts'
import { unreadable, type UpstreamFailure } from './upstream-failure.ts'

/** A call that runs at a candidate. */
export interface RunningAttempt {
  candidate: Candidate
  attempt: Attempt
}

/** The candidate of a call; its attempt is undefined where it has ended. */
type ServingAttempt = Pick<RunningAttempt, 'candidate'> & { attempt: Attempt | undefined }

/** The end of a call, as the history has it. */
export type CallEnd = 'completed' | 'interrupted' | 'failed'

/** A call that an upstream served, in full or in part. */
interface ServedCall {
  usage: Usage
  end: CallEnd
  /** The result; undefined for a stream that the client already received. */
  response?: StoredResponse | undefined
  rows?: SettlementRow[] | undefined
  /** The completion, or the text of a stream, for traces. */
  output?: unknown
}

/** The parts of a history row that the end of a call decides. */
interface EndedCall {
  usage: Usage
  end: CallEnd
  charge: NanoUsd
  error: string | null
  rows?: SettlementRow[] | undefined
}

/** Times one call and builds its outcome: the charge, the history row and the replay. */
export class OutcomeBuilder {
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

  served(
    { candidate, attempt }: ServingAttempt,
    { usage, end, response, rows, output }: ServedCall,
  ): PaidOutcome {
    const tokens = candidate.model.type === 'chat' ? usage.completion : 0
    attempt?.end(end === 'interrupted' ? 'dismissed' : end, tokens)
    this.countTokens(usage)
    const charge = this.chargeOf(candidate, usage)
    if (attempt) {
      const error = end === 'completed' ? undefined : end
      reportAttempt(this.call, { candidate, attempt, usage, charge, error, output })
    }
    const result = { response: response ?? { status: 200, body: null } }
    const broken = end === 'failed' ? unreadable.error.errorName : null
    const outcome = this.outcome(result, candidate, { usage, end, charge, error: broken, rows })
    if (this.call.slot === undefined) return outcome
    return { ...outcome, replay: response, shortReplay: replayOf(unreadable.error) }
  }

  /** Adds tokens to those of the key in this minute. They are known only after the call. */
  private countTokens({ prompt, completion }: Usage): void {
    const { ctx, spender } = this.call
    if (typeof spender.tokensPerMinute !== 'number') return
    ctx.state.limits.keyTokens.add(spender.cap.key, prompt + completion)
  }

  /** Reports an attempt that failed. */
  report(by: RunningAttempt, { error }: UpstreamFailure): void {
    reportAttempt(this.call, { ...by, error: error.errorName })
  }

  failed(candidate: Candidate, { error, charges }: UpstreamFailure): PaidOutcome {
    const result = { error }
    if (charges === 'nothing') {
      const usage = createUsage({})
      const name = error.errorName
      return this.outcome(result, candidate, { usage, end: 'failed', charge: zero, error: name })
    }
    const usage = this.estimateUsage(candidate)
    if (charges === 'delivered') {
      const charge = this.chargeOf(candidate, usage)
      return this.outcome(result, candidate, { usage, end: 'interrupted', charge, error: null })
    }
    const charge = this.hold.amount
    const failure = { usage, end: 'failed', charge, error: error.errorName } as const
    const outcome = this.outcome(result, candidate, failure)
    return { ...outcome, replay: replayOf(error) }
  }

  private outcome(
    result: PaidResult,
    { model, offer, price }: Candidate,
    { usage, end, charge, error, rows = [] }: EndedCall,
  ): PaidOutcome {
    const { spender, requestId, ctx } = this.call
    const [ms, { firstByteMs }] = [stopwatch() - this.started, this]
    ctx.state.observations.addModelCall({
      requestId,
      model: model.id,
      upstream: offer.upstream,
      status: end,
      firstByteMs,
      ms,
    })
    const use = historyRow.create(ctx, {
      account: spender.account,
      requestId,
      at: ctx.clock.now(),
      model: model.id,
      type: model.type,
      source: spender.source,
      key: spender.source === 'api' ? spender.callerId : null,
      status: end,
      error,
      upstream: offer.upstream,
      price: price.id,
      ...usageCounts(usage),
      ms: Math.round(ms),
      firstByteMs,
    })
    return { result, charge, rows: [use, ...rows] }
  }
}

function replayOf(error: UpstreamFailure['error']): StoredResponse {
  const { status, body } = errorEnvelope(error)
  return { status, body }
}
