import { Type } from '@sinclair/typebox'

import { isApiError } from '../../kernel/errors.ts'
import { completed, type Content, type Success } from '../../kernel/http/outcome.ts'
import { type NanoUsd, toUsd, zero } from '../../kernel/money.ts'
import { type Json, nullable, oneOf } from '../../kernel/schema.ts'
import { stopwatch } from '../../kernel/time.ts'
import type { Hold } from '../../money/ledger/holds.ts'
import { defineRow, type SettlementRow } from '../../money/ledger/settlement-rows.ts'
import type { PaidOutcome, RunningWork } from '../../money/pay.ts'
import { storedError } from '../error-response.ts'
import { chargeWithinHold } from '../models/charge.ts'
import { insertUses, usageCounts } from '../models/history.ts'
import { createUsage, type Usage } from '../models/usage.ts'
import type { Attempt as MeasuredAttempt } from '../providers/measurements.ts'
import type { MonitoredUpstream } from '../providers/monitored-upstream.ts'
import type { Registry } from '../providers/registry.ts'
import { reportAttempt } from './call-telemetry.ts'
import type { Candidate, Candidates } from './candidates.ts'
import { CallDeadlines, deadlineSettingsOf } from './deadlines.ts'
import type { CallResult, PaidCall } from './paid-call.ts'
import {
  failureOfError,
  isFailure,
  isOfUpstream,
  unavailable,
  unreadable,
  type UpstreamFailure,
} from './upstream-failure.ts'

/** A whole response of an upstream. */
export interface WholeOutput {
  usage: Usage
  /** Returns the value of the result, with its cost in USD and as the charge in nano-USD. */
  response(cost: number, charge: NanoUsd): Json | Promise<Json>
  rows?: SettlementRow[]
  /** The response for traces, where it is no chat completion. */
  output?: unknown
  /** The text for the guardrail of the operator; undefined where there is none. */
  text?: string
}

/** A response that streams while the upstream produces it. */
export interface StreamOutput {
  start(running: RunningStream): StartedStream
}

interface RunningStream {
  /** Returns the charge of a usage, at most the hold. */
  chargeOf(usage: Usage): NanoUsd
  /** Resolves when the charge is committed. Streams close after it. */
  settled: Promise<unknown>
}

interface StartedStream {
  /** Undefined for a stream that is kept back. */
  response: Content | undefined
  ended: Promise<ServedCall | UpstreamFailure>
}

/** Sends a request to an upstream, and opens its response. */
export type Attempt<Opened> = (
  upstream: MonitoredUpstream,
  candidate: Candidate,
  deadlines: CallDeadlines,
) => Promise<Opened | UpstreamFailure>

/** The parts of a paid call that depend on its operation. */
export interface UpstreamWork {
  attempt: Attempt<WholeOutput | StreamOutput>
  estimateUsage(candidate: Candidate): Usage
}

/**
 * Serves a held call: calls the upstream with fallbacks, sends a stream or reads a whole response,
 * and returns the outcome to settle.
 */
export async function serveCall(
  call: PaidCall,
  { hold, respond, settled }: RunningWork<CallResult>,
  { attempt, estimateUsage }: UpstreamWork,
): Promise<PaidOutcome<CallResult>> {
  const { ctx, candidates, signal } = call
  const deadlines = new CallDeadlines(signal, deadlineSettingsOf(ctx))
  const outcome = new OutcomeBuilder(call, hold, estimateUsage)
  try {
    const result = await callUpstream(ctx.upstreams, candidates, {
      deadlines,
      attempt: (upstream, candidate) => attempt(upstream, candidate, deadlines),
      onFailure: (by, failure) => outcome.report(by, failure),
    })
    if (result.failure) return outcome.failed(result.candidate, result.failure)
    outcome.markFirstByte()
    const { candidate, opened } = result
    const chargeOf = (usage: Usage): NanoUsd => outcome.chargeOf(candidate, usage)
    if ('start' in opened) {
      const { response, ended } = opened.start({ chargeOf, settled })
      if (response) respond(response)
      const end = await ended
      return isFailure(end) ? outcome.broken(result, end) : outcome.served(result, end)
    }
    const { usage, rows } = opened
    const charge = chargeOf(usage)
    const response = completed(await opened.response(toUsd(charge), charge))
    const output = opened.output ?? response.value
    return outcome.served(result, { usage, end: 'completed', response, rows, output })
  } finally {
    deadlines.end()
  }
}

/** A request to the upstreams of its candidates. */
export interface UpstreamRequest<Opened> {
  deadlines: CallDeadlines
  /** Sends the request to an upstream, and opens its response. Throws UpstreamError without one. */
  attempt(upstream: MonitoredUpstream, candidate: Candidate): Promise<Opened | UpstreamFailure>
  /** Observes an attempt that failed. */
  onFailure?: ((by: RunningAttempt, failure: UpstreamFailure) => void) | undefined
}

/** The opened response with the candidate that served it, or the failure of the last attempt. */
export type UpstreamResult<Opened> =
  | (RunningAttempt & { opened: Opened; failure?: undefined })
  | { candidate: Candidate; opened?: undefined; failure: UpstreamFailure; attempt?: undefined }

/**
 * Tries the candidates in order until one opens a response, and all of them again where the model
 * has retries. A further attempt is made only while nothing has reached the client and nothing is
 * billed.
 */
export async function callUpstream<Opened extends object>(
  upstreams: Registry,
  candidates: Candidates,
  request: UpstreamRequest<Opened>,
): Promise<UpstreamResult<Opened>> {
  const { retries = 0 } = candidates[0].model
  let last = await tryCandidates(upstreams, candidates, request)
  for (let round = 1; round <= retries && isRetryable(last.failure); round += 1) {
    const isOver = await waitUnlessOver(firstPauseMs * 2 ** (round - 1), request.deadlines)
    if (isOver) break
    last = await tryCandidates(upstreams, candidates, request)
  }
  return last
}

/** The pause before the first retry of a model with retries. It doubles. */
const firstPauseMs = 200

/** A busy upstream says when to retry, and an unavailable one needs its operator. */
const isRetryable = (failure: UpstreamFailure | undefined): boolean =>
  failure?.canTryNext === true &&
  (failure.error.errorName === 'upstream_failed' ||
    failure.error.errorName === 'gateway_unavailable')

/** Waits, and returns whether the call ended meanwhile. */
async function waitUnlessOver(ms: number, { signal }: CallDeadlines): Promise<boolean> {
  const ended = Promise.withResolvers<void>()
  const end = (): void => ended.resolve()
  signal.addEventListener('abort', end)
  const timer = setTimeout(end, ms)
  await ended.promise
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
  return signal.aborted
}

async function tryCandidates<Opened extends object>(
  upstreams: Registry,
  candidates: Candidates,
  request: UpstreamRequest<Opened>,
): Promise<UpstreamResult<Opened>> {
  let last: UpstreamResult<Opened> = { candidate: candidates[0], failure: unavailable }
  for (const candidate of upstreams.balancer.withoutCooling(candidates)) {
    const upstream = upstreams.find(candidate.offer.upstream)
    if (!upstream?.isAvailable) continue
    const attempt = upstreams.measurements.begin(candidate.offer)
    const opened = await request
      .attempt(upstream, candidate)
      .catch((error: unknown) => failureOfError(error, request.deadlines))
      .catch((error: unknown) => {
        attempt.end('dismissed')
        throw error
      })
    if (!isFailure(opened)) {
      attempt.markFirstByte()
      return { candidate, opened, attempt }
    }
    attempt.end(isOfUpstream(opened) ? 'failed' : 'dismissed')
    if (isApiError(opened.error, 'upstream_busy')) {
      upstreams.balancer.cool(candidate.offer, opened.error.details[0].retryAfter)
    }
    request.onFailure?.({ candidate, attempt }, opened)
    last = { candidate, failure: opened }
    if (!opened.canTryNext) break
  }
  return last
}

/** A call that runs at a candidate. */
export interface RunningAttempt {
  candidate: Candidate
  attempt: MeasuredAttempt
}

/** The end of a call, as the history has it. */
export type CallEnd = 'completed' | 'interrupted' | 'failed'

/** A call that an upstream served, in full or in part. */
export interface ServedCall {
  usage: Usage
  end: CallEnd
  /** The result; undefined for a stream that the client already received. */
  response?: Success | undefined
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
    { candidate, attempt }: RunningAttempt,
    { usage, end, response, rows, output }: ServedCall,
  ): PaidOutcome<Success> {
    const tokens = candidate.model.type === 'chat' ? usage.completion : 0
    attempt.end(end === 'interrupted' ? 'dismissed' : end, tokens)
    this.countTokens(usage)
    const charge = this.chargeOf(candidate, usage)
    const error = end === 'completed' ? undefined : end
    reportAttempt(this.call, { candidate, attempt, usage, charge, error, output })
    this.call.spender.onServed?.(charge)
    const broken = end === 'failed' ? unreadable.error.errorName : null
    const ended = { usage, end, charge, error: broken, rows }
    const outcome = { ...this.written(candidate, ended), result: response ?? completed(null) }
    if (this.call.slot === undefined) return outcome
    return { ...outcome, replay: response, shortReplay: storedError(unreadable.error) }
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

  /** Ends an attempt whose stream may not be sent, or had no content. */
  broken({ candidate, attempt }: RunningAttempt, failure: UpstreamFailure): PaidOutcome<never> {
    attempt.end(isOfUpstream(failure) ? 'failed' : 'dismissed')
    this.report({ candidate, attempt }, failure)
    return this.failed(candidate, failure)
  }

  failed(candidate: Candidate, { error, charges }: UpstreamFailure): PaidOutcome<never> {
    const usage = charges === 'nothing' ? createUsage({}) : this.estimateUsage(candidate)
    if (charges === 'delivered') {
      const charge = this.chargeOf(candidate, usage)
      const ended = { usage, end: 'interrupted', charge, error: null } as const
      return { ...this.written(candidate, ended), error }
    }
    const charge = charges === 'hold' ? this.hold.amount : zero
    const ended = { usage, end: 'failed', charge, error: error.errorName } as const
    const replay = charges === 'hold' ? storedError(error) : undefined
    return { ...this.written(candidate, ended), error, replay }
  }

  /** Returns the charge of a call with its history row. */
  private written(
    { model, offer, price }: Candidate,
    { usage, end, charge, error, rows = [] }: EndedCall,
  ): { charge: NanoUsd; rows: SettlementRow[] } {
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
    return { charge, rows: [use, ...rows] }
  }
}

/** The history row of a paid call. The hold gives it the amounts. */
export const historyRow = defineRow(
  'use',
  Type.Object({
    account: Type.String(),
    requestId: Type.String(),
    at: Type.Number(),
    model: Type.String(),
    type: Type.String(),
    source: oneOf(['api', 'web', 'build']),
    status: oneOf(['completed', 'interrupted', 'failed']),
    upstream: nullable(Type.String()),
    /** The error of a failed call. Rows of older journals have none. */
    error: Type.Optional(nullable(Type.String())),
    /** Rows of older journals have none. */
    key: Type.Optional(nullable(Type.String())),
    price: nullable(Type.String()),
    input: Type.Number(),
    cached: Type.Number(),
    output: Type.Number(),
    reasoning: Type.Number(),
    searches: Type.Number(),
    estimated: Type.Boolean(),
    ms: Type.Number(),
    firstByteMs: nullable(Type.Number()),
  }),
  {
    write: (_ctx: unknown, db, rows) =>
      insertUses(
        db,
        rows.map(({ data, ended: { charged, amount } }) => ({ ...data, charged, held: amount })),
      ),
  },
)
