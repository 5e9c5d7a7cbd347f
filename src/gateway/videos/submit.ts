import type { AppContext } from '../../context.ts'
import { toUsd } from '../../core/money.ts'
import { second } from '../../core/time.ts'
import { ApiError, type GatewayErrorName, isApiError } from '../../errors.ts'
import type { StoredResponse, StoreResponse } from '../../idempotency/idempotency.ts'
import type { Job } from '../../jobs/handler.ts'
import { enqueue, handOff } from '../../jobs/jobs.ts'
import { openHold } from '../../ledger/ledger.ts'
import { openJobsPerOwnerMax, videoMs } from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { hasRate, presentPrice, storedPrice } from '../../models/price.ts'
import { beginPaidCall } from '../../paid/paid-request.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { invalidField } from '../fields.ts'
import { callUpstream } from '../paid/call-upstream.ts'
import { type Candidates, maxCostOf } from '../paid/candidates.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { listMediaCandidates } from '../paid/media.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { unreadable, type UpstreamFailure } from '../paid/upstream-failure.ts'
import type { VideoJobData, VideoJobInput } from './schemas.ts'
import { readVideoRequest, type VideoRequest } from './video-request.ts'
import { present } from './videos.ts'

const operationCharsMax = 8_192
/** A submission that is not answered for by then was cut off with its process. */
const submitMarginMs = 60 * second

/**
 * Begins a film (document 2, POST /v1/videos): the worst case is held, the upstream is asked, and
 * the job that looks after the film has the hold. Nothing is charged before the film is there.
 * Refuses bad_request and what section 7 says.
 */
export async function submit(
  ctx: AppContext,
  spender: Spender,
  request: Request,
  call: Call,
): Promise<Response> {
  const wanted = await readVideoRequest(request)
  const same = { path: '/videos', body: wanted.same }
  const { status, body } = await ctx.idempotency.run(spender.account, call.ref, same, (keep) =>
    run(ctx, spender, wanted, { ...call, keep }),
  )
  return Response.json(body, { status })
}

async function run(
  ctx: AppContext,
  spender: Spender,
  wanted: VideoRequest,
  call: Call & { keep: StoreResponse },
): Promise<StoredResponse> {
  const { modelIds, preferences, hasInputImage: hasPicture } = wanted
  const check = (model: Model): void => checkFits(model, hasPicture)
  const candidates = listMediaCandidates(ctx, {
    modelIds,
    type: 'video',
    preferences,
    validate: check,
  })
  const done = beginPaidCall(ctx.state, spender.caller)
  try {
    const order = { wanted, candidates, call }
    const job = await begin(ctx, spender, order)
    try {
      const making = await ask(ctx, order)
      return await keepAnswer(ctx, job, making, call.keep)
    } catch (error) {
      // The client must hear of the first failure; a job that stays ends by itself.
      await ctx.jobs
        .cancel(job.id)
        .catch((fault: unknown) => ctx.log.error('video.not_cancelled', fault, { job: job.id }))
      throw error
    }
  } finally {
    done()
  }
}

/** Refuses a model that is not paid by the length of its films, and one that takes no picture. */
function checkFits({ id, price, inputs }: Model, hasPicture: boolean): void {
  if (!price || !hasRate('video', price)) throw new ApiError('no_price', { model: id })
  if (hasPicture && !inputs.includes('image')) {
    throw invalidField('input_reference', `${id} takes no picture to begin with.`)
  }
}

interface Order {
  wanted: VideoRequest
  candidates: Candidates
  call: Call
}

/** The job and its hold. It is ours until an upstream has taken the film. */
function begin(
  ctx: AppContext,
  { account, cap, funds, source }: Spender,
  { wanted: { seconds }, candidates, call: { requestId } }: Order,
): Promise<Job> {
  const most = { inputTokensMax: 0, outputTokensMax: 0, seconds, images: 1 }
  const { amount, price } = maxCostOf(candidates, () => most)
  const model = candidates[0].model.id
  const input: VideoJobInput = { model, seconds, requestId, source }
  const ownMs = ctx.config.gatewayTotalSeconds * second + submitMarginMs
  const ms = videoMs + ownMs
  return ctx.db.tx(async (db) => {
    const film = { kind: 'video', queue: 'media', owner: account, input, price: amount } as const
    const job = await enqueue(ctx, db, { ...film, ms, reservedMs: ownMs }).catch(asHoldsLimit)
    await openHold(ctx, db, {
      account,
      amount,
      ref: `video:${requestId}`,
      kind: 'video',
      item: model,
      funds,
      price: storedPrice(price),
      cap,
      job: job.id,
      ms: 2 * ms,
    })
    return job
  })
}

function asHoldsLimit(error: unknown): never {
  throw isApiError(error, 'busy')
    ? new ApiError('holds_limit', { max: openJobsPerOwnerMax, retryAfter: 5 })
    : error
}

/** Asks the candidates until one takes the film. */
async function ask(ctx: AppContext, { wanted, candidates, call }: Order): Promise<VideoJobData> {
  const watch = new CallDeadlines(call.signal, deadlineSettingsOf(ctx.config))
  try {
    const { candidate, opened, failure } = await callUpstream(ctx.upstreams, candidates, {
      path: '/videos',
      body: wanted.body,
      deadlines: watch,
      open: (response) => readTaken(response, watch),
    })
    if (failure) throw uncharged(failure)
    const { upstream } = candidate.offer
    const model = candidate.model.id
    return { upstream, model, operation: opened.operation, price: presentPrice(candidate.price) }
  } finally {
    watch.end()
  }
}

async function readTaken(
  response: Response,
  watch: CallDeadlines,
): Promise<{ operation: string } | UpstreamFailure> {
  const read = await readJsonObject(response, watch)
  if (!('answer' in read)) return read
  const { id } = read.answer
  const isId = typeof id === 'string' && id !== '' && id.length <= operationCharsMax
  return isId ? { operation: id } : unreadable
}

/** A film that was not taken is never charged (document 2): what says otherwise is not said. */
function uncharged({ error: refusal, charges }: UpstreamFailure): ApiError<GatewayErrorName> {
  return charges === 'hold' ? new ApiError('upstream_failed', {}) : refusal
}

async function keepAnswer(
  ctx: AppContext,
  job: Job,
  making: VideoJobData,
  keep: StoreResponse,
): Promise<StoredResponse> {
  const afterMs = ctx.config.videoPollSeconds * second
  const answer: StoredResponse = { status: 200, body: present(ctx, { ...job, data: making }) }
  await ctx.db.tx(async (db) => {
    await handOff(ctx, db, job, { data: making, afterMs })
    await keep(db, answer)
  })
  ctx.log.info('video.begun', { job: job.id, upstream: making.upstream, usd: toUsd(job.price) })
  return answer
}
