import { isApiError } from '../../kernel/errors.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import type { Json } from '../../kernel/schema.ts'
import type { StoredResponse } from '../../money/idempotency/idempotency.ts'
import type { PaidOutcome, RunningRequest } from '../../money/idempotency/paid-request.ts'
import type { SettlementRow } from '../../money/ledger/settlement-rows.ts'
import type { Call } from '../call.ts'
import type { Usage } from '../models/usage.ts'
import type { Registry } from '../providers/registry.ts'
import type { NativeRequest, UpstreamCall, UpstreamPath } from '../providers/upstream.ts'
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

/** A request to an upstream, and the function that opens its response. */
export interface UpstreamRequest<Opened> {
  /** Receives the fields that the upstream of the response did not get. */
  reportIgnored?: Call['reportIgnored']
  path: UpstreamPath
  body: UpstreamCall['body']
  deadlines: CallDeadlines
  open(response: Response, candidate: Candidate): Promise<Opened | UpstreamFailure>
  /** Returns the output tokens per choice at most, where the upstream needs a limit. */
  outputLimit?: ((candidate: Candidate) => number | undefined) | undefined
  /** Observes an attempt that failed. */
  onFailure?: ((by: RunningAttempt, failure: UpstreamFailure) => void) | undefined
  /** Replaces the single send: it may send several times and returns the response to open. */
  sendVia?: SendVia | undefined
}

/** Sends a body, with the output tokens at most, to the upstream of the current attempt. */
export type SendUpstream = (
  body: UpstreamCall['body'],
  outputTokensMax?: number,
  native?: NativeRequest,
) => Promise<Response>

export type SendVia = (
  send: SendUpstream,
  candidate: Candidate,
  deadlines: CallDeadlines,
) => Promise<Response | UpstreamFailure>

/** The opened response with the candidate that served it, or the failure of the last attempt. */
export type UpstreamResult<Opened> =
  | (RunningAttempt & { opened: Opened; failure?: undefined })
  | { candidate: Candidate; opened?: undefined; failure: UpstreamFailure; attempt?: undefined }

const isFailure = (value: object): value is UpstreamFailure => 'canTryNext' in value

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
    if (!upstreams.find(candidate.offer.upstream)?.isAvailable) continue
    const attempt = upstreams.measurements.begin(candidate.offer)
    const opened = await tryCandidate(upstreams, candidate, request).catch((error: unknown) => {
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

/** Sends a request to an available upstream, and opens its response. */
async function tryCandidate<Opened extends object>(
  upstreams: Registry,
  candidate: Candidate,
  { path, body, deadlines, open, outputLimit, sendVia, reportIgnored }: UpstreamRequest<Opened>,
): Promise<Opened | UpstreamFailure> {
  const { upstream: name, model } = candidate.offer
  const upstream = upstreams.find(name)
  if (!upstream) return unavailable
  const { signal } = deadlines
  let isNative = false
  const send: SendUpstream = (body, outputTokensMax, native) => {
    isNative = native !== undefined
    return upstream.send({
      path,
      model,
      signal,
      body,
      ...(outputTokensMax && { outputTokensMax }),
      ...(native && { native }),
    })
  }
  try {
    const response = sendVia
      ? await sendVia(send, candidate, deadlines)
      : await send(body, outputLimit?.(candidate))
    if (isFailure(response)) return response
    if (response.ok) {
      if (!isNative) reportIgnored?.(upstream.ignoredFields({ path, body }))
      return await open(response, candidate)
    }
    return failureOfStatus(response.status, await response.text(), response.headers)
  } catch (error) {
    return failureOfError(error, deadlines)
  }
}

export interface UpstreamOutput {
  usage: Usage
  /** Returns the result, with its cost in USD and as the charge in nano-USD. */
  response(cost: number, charge: NanoUsd): StoredResponse
  rows?: SettlementRow[]
  /** The response as a chat completion for traces, where it is none. */
  completion?: Json | undefined
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
export interface UpstreamWork extends Omit<
  UpstreamRequest<UpstreamOutput>,
  'deadlines' | 'open' | 'onFailure' | 'reportIgnored'
> {
  /** Reads a successful response, bounded. */
  read(
    response: Response,
    candidate: Candidate,
    deadlines: CallDeadlines,
  ): Promise<UpstreamOutput | UpstreamFailure>
  estimateUsage(candidate: Candidate): Usage
}

/** Serves a held call: calls the upstream with fallbacks and returns the outcome to settle. */
export async function serveCall(
  call: PaidCall,
  { hold, respond }: RunningRequest<Response>,
  { read, estimateUsage, ...work }: UpstreamWork,
): Promise<PaidOutcome> {
  const { ctx, candidates, signal, reportIgnored } = call
  const deadlines = new CallDeadlines(signal, deadlineSettingsOf(ctx))
  const settlement = new OutcomeBuilder(call, hold, estimateUsage)
  try {
    const result = await callUpstream(ctx.upstreams, candidates, {
      ...work,
      reportIgnored,
      deadlines,
      open: (response, by) => read(response, by, deadlines),
      onFailure: (by, failure) => settlement.report(by, failure),
    })
    if (result.failure) return settlement.failed(result.candidate, result.failure)
    settlement.markFirstByte()
    const { candidate, opened } = result
    const { usage, stream, rows, completion } = opened
    const charge = settlement.chargeOf(candidate, usage)
    const cost = toUsd(charge)
    if (!stream) {
      const response = opened.response(cost, charge)
      const output = completion ?? response.body
      return settlement.served(result, { usage, end: 'completed', response, rows, output })
    }
    respond(stream.response(cost))
    const end = await stream.ended
    return settlement.served(result, { usage: stream.usage?.() ?? usage, end })
  } finally {
    deadlines.end()
  }
}
