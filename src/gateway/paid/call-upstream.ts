import { isApiError } from '../../kernel/errors.ts'
import type { StoredResponse } from '../../kernel/http/outcome.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import type { PaidOutcome, RunningRequest } from '../../money/idempotency/paid-request.ts'
import type { SettlementRow } from '../../money/ledger/settlement-rows.ts'
import type { Call } from '../call.ts'
import type { Usage } from '../models/usage.ts'
import type { MonitoredUpstream } from '../providers/monitored-upstream.ts'
import type { Registry } from '../providers/registry.ts'
import type { UpstreamCall, UpstreamPath } from '../providers/upstream.ts'
import type { Candidate, Candidates } from './candidates.ts'
import { CallDeadlines, deadlineSettingsOf } from './deadlines.ts'
import { type CallEnd, OutcomeBuilder, type RunningAttempt } from './outcome-builder.ts'
import type { PaidCall } from './paid-call.ts'
import {
  failureOfError,
  failureOfStatus,
  isOfUpstream,
  unavailable,
  type UpstreamFailure,
} from './upstream-failure.ts'

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

export const isFailure = (value: object): value is UpstreamFailure => 'canTryNext' in value

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

/** Sends a request to an upstream, and reads its response, bounded. */
type Attempt<Opened> = (
  upstream: MonitoredUpstream,
  candidate: Candidate,
  deadlines: CallDeadlines,
) => Promise<Opened | UpstreamFailure>

/** Returns the attempts of a request that is no chat. */
export const sending =
  <Opened>(
    { path, bodyFor }: { path: UpstreamPath; bodyFor(candidate: Candidate): UpstreamCall['body'] },
    read: (
      response: Response,
      candidate: Candidate,
      deadlines: CallDeadlines,
    ) => Promise<Opened | UpstreamFailure>,
    reportIgnored?: Call['reportIgnored'],
  ): Attempt<Opened> =>
  async (upstream, candidate, deadlines) => {
    const body = bodyFor(candidate)
    const { model } = candidate.offer
    const { signal } = deadlines
    const response = await upstream.send({ path, model, signal, body })
    if (!response.ok) {
      return failureOfStatus(response.status, await response.text(), response.headers)
    }
    reportIgnored?.(upstream.ignoredFields({ path, body }))
    return read(response, candidate, deadlines)
  }

export interface UpstreamOutput {
  usage: Usage
  /** Returns the result, with its cost in USD and as the charge in nano-USD. */
  response(cost: number, charge: NanoUsd): StoredResponse | Promise<StoredResponse>
  rows?: SettlementRow[]
  /** The response for traces, where it is no chat completion. */
  output?: unknown
  /** The text for the guardrail of the operator; undefined where there is none. */
  text?: string
  /** A response that streams while the upstream produces it. `response` is not sent then. */
  stream?: {
    response(cost: number): Response
    ended: Promise<CallEnd>
    /** Returns the usage after the end, where it depends on the stream. */
    usage?(): Usage
  }
}

/** The parts of a paid call that depend on its operation. */
export interface UpstreamWork {
  attempt: Attempt<UpstreamOutput>
  estimateUsage(candidate: Candidate): Usage
}

/** Serves a held call: calls the upstream with fallbacks and returns the outcome to settle. */
export async function serveCall(
  call: PaidCall,
  { hold, respond }: RunningRequest<Response>,
  { attempt, estimateUsage }: UpstreamWork,
): Promise<PaidOutcome> {
  const { ctx, candidates, signal } = call
  const deadlines = new CallDeadlines(signal, deadlineSettingsOf(ctx))
  const settlement = new OutcomeBuilder(call, hold, estimateUsage)
  try {
    const result = await callUpstream(ctx.upstreams, candidates, {
      deadlines,
      attempt: (upstream, candidate) => attempt(upstream, candidate, deadlines),
      onFailure: (by, failure) => settlement.report(by, failure),
    })
    if (result.failure) return settlement.failed(result.candidate, result.failure)
    settlement.markFirstByte()
    const { candidate, opened } = result
    const { usage, stream, rows } = opened
    const charge = settlement.chargeOf(candidate, usage)
    const cost = toUsd(charge)
    if (!stream) {
      const response = await opened.response(cost, charge)
      const output = opened.output ?? response.body
      return settlement.served(result, { usage, end: 'completed', response, rows, output })
    }
    respond(stream.response(cost))
    const end = await stream.ended
    return settlement.served(result, { usage: stream.usage?.() ?? usage, end })
  } finally {
    deadlines.end()
  }
}
