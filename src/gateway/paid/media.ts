import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import type { Model } from '../models/catalog.ts'
import type { UsageBounds } from '../models/charge.ts'
import type { ModelType } from '../models/price.ts'
import type { Usage } from '../models/usage.ts'
import type { Received, UpstreamCall, UpstreamPath } from '../providers/upstream.ts'
import {
  type Candidate,
  type Candidates,
  findModels,
  listCandidates,
  maxCostOf,
} from './candidates.ts'
import type { CallDeadlines } from './deadlines.ts'
import { checkInput, checkOutput } from './guardrail.ts'
import { holdRequestOf, jsonOutcome, type PaidCall, payForCall } from './paid-call.ts'
import type { Preferences } from './preferences.ts'
import { type Attempt, serveCall, type StreamOutput, type WholeOutput } from './serve-call.ts'
import { failureOfRejection, type UpstreamFailure } from './upstream-failure.ts'

export interface MediaCall {
  candidate: Candidate
  deadlines: CallDeadlines
  /** True if the result is stored for the same Idempotency-Key. */
  isReplayable: boolean
  pauseIdleTimeout?: Call['pauseIdleTimeout']
}

/** A parsed request for images, speech, a transcription, embeddings or judgments of texts. */
export interface MediaRequest {
  path: UpstreamPath
  type: ModelType
  /** The kind of work in the ledger and the history. */
  kind: 'embedding' | 'image' | 'speech' | 'transcription' | 'moderation' | 'rerank'
  modelIds: string[]
  /** The part of its request that the work is for, where there are several. */
  part?: string | undefined
  preferences: Preferences
  body: UpstreamCall['body']
  /** Returns another body for a candidate that does not accept all of `body`. */
  bodyFor?(candidate: Candidate): UpstreamCall['body']
  /** Identifies the same request. */
  fingerprint: unknown
  /** Throws for a model that has the right type and cannot serve the request. */
  validate?(model: Model): void
  maxUsage(model: Model): UsageBounds
  /** Counts the usage at a model, to charge a client that left before the response. */
  estimateUsage(model: Model): Usage
  /** Reads a successful response, bounded. */
  read(received: Received, call: MediaCall): Promise<WholeOutput | StreamOutput | UpstreamFailure>
  /** Turns the value of a result into an outcome, at first and in replays. The default is JSON. */
  present?(value: unknown): Promise<CallOutcome>
}

/** Runs a paid media request (document 2, sections 4 and 7). Throws the errors of section 7. */
export function runMediaRequest(
  ctx: AppContext,
  spender: Spender,
  request: MediaRequest,
  call: Call,
): Promise<CallOutcome> {
  const { path, kind, part, body, bodyFor, present = jsonOutcome } = request
  return payForCall(ctx, spender, call, {
    path,
    body: request.fingerprint,
    present,
    prepare: async (slot) => {
      const candidates = listMediaCandidates(ctx, spender, request)
      const guarded = { ...call, ctx, spender }
      await checkInput(guarded, candidates[0].model.id, body)
      const paid: PaidCall = { ...call, ctx, spender, candidates, slot }
      const { pauseIdleTimeout } = call
      const isReplayable = slot !== undefined
      return {
        maxCost: holdRequestOf(paid, maxCostOf(candidates, request.maxUsage), kind, part),
        run: (running) =>
          serveCall(paid, running, {
            attempt: sending(
              { path, bodyFor: bodyFor ?? (() => body) },
              async (received, candidate, deadlines) => {
                const media = { candidate, deadlines, isReplayable, pauseIdleTimeout }
                const output = await request.read(received, media)
                if (!('text' in output)) return output
                return (await checkOutput(guarded, candidate.model.id, output.text)) ?? output
              },
              call.reportIgnored,
            ),
            estimateUsage: ({ model }) => ({ ...request.estimateUsage(model), estimated: true }),
          }),
      }
    },
  })
}

/** Returns the candidates of a media request, in the order of the attempts. */
export function listMediaCandidates(
  { catalog, upstreams }: AppContext,
  spender: Spender,
  request: Pick<MediaRequest, 'modelIds' | 'type' | 'preferences' | 'validate'>,
): Candidates {
  const { modelIds, type, preferences } = request
  const models = findModels(catalog, spender, modelIds, type)
  for (const { model, suffixes } of models) {
    // Only chat has the rounds that a web search needs.
    if (suffixes.includes('online')) throw new ApiError('model_cannot_search', { model: model.id })
    request.validate?.(model)
  }
  return listCandidates(models, preferences, upstreams, spender)
}

/** Returns the attempts of a request that is no chat. */
export const sending =
  <Opened>(
    { path, bodyFor }: { path: UpstreamPath; bodyFor(candidate: Candidate): UpstreamCall['body'] },
    read: (
      received: Received,
      candidate: Candidate,
      deadlines: CallDeadlines,
    ) => Promise<Opened | UpstreamFailure>,
    reportIgnored?: Call['reportIgnored'],
  ): Attempt<Opened> =>
  async (upstream, candidate, deadlines) => {
    const body = bodyFor(candidate)
    const { model } = candidate.offer
    const { signal } = deadlines
    const sent = await upstream.send({ path, model, signal, body })
    if ('rejected' in sent) return failureOfRejection(sent.rejected)
    reportIgnored?.(upstream.ignoredFields({ path, body }))
    return read(sent, candidate, deadlines)
  }
