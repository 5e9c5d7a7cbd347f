import type { Job } from '../../jobs/handlers.ts'
import { enqueue, handOff } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { afterCommit, type Db } from '../../kernel/db/engine.ts'
import { ApiError, type GatewayErrorName, isApiError } from '../../kernel/errors.ts'
import { readJsonBody } from '../../kernel/http/body.ts'
import { completed, type Success } from '../../kernel/http/outcome.ts'
import { sha256 } from '../../kernel/ids.ts'
import {
  fileBytesMax,
  gatewayBodyBytesMax,
  openJobsPerOwnerMax,
  promptCharsMax,
  videoMs,
  videoSecondsDefault,
  videoSecondsMax,
} from '../../kernel/limits.ts'
import { toUsd } from '../../kernel/money.ts'
import {
  isRecord,
  type Json,
  mediaSchema,
  RangeNotSatisfiableSchema,
  recordOf,
  toText,
} from '../../kernel/schema.ts'
import { second } from '../../kernel/time.ts'
import type { HoldRequest } from '../../money/ledger/holds.ts'
import type { CommittedWork } from '../../money/pay.ts'
import { anyone, getSpender, key, type Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { checkUrls, findSize, invalidField, readModels, readString } from '../fields.ts'
import { readMultipart, textFields } from '../files/upload.ts'
import { SignedUrlQuerySchema } from '../images/operations.ts'
import type { Model } from '../models/catalog.ts'
import { hasRate, presentPrice, storedPrice } from '../models/price.ts'
import { mediaErrors, operationsOf, paidUpload } from '../operation.ts'
import { type Candidates, maxCostOf } from '../paid/candidates.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { checkInput } from '../paid/guardrail.ts'
import { listMediaCandidates, sending } from '../paid/media.ts'
import { payForCall } from '../paid/paid-call.ts'
import { type Preferences, readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { callUpstream } from '../paid/serve-call.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { unreadable, type UpstreamFailure } from '../paid/upstream-failure.ts'
import type { Received } from '../providers/upstream.ts'
import * as videos from './videos.ts'
import { isOpenAiClient, present, type VideoJobData, type VideoJobInput } from './videos.ts'

const operation = operationsOf('Media')

const ContentSchema = mediaSchema('video/*')

const createVideo = paidUpload({
  id: 'create_video',
  route: 'POST /videos',
  tag: 'Media',
  summary: 'Create a video from a prompt.',
  description:
    'Poll it every 5 to 10 seconds until it is completed or failed. Before, it is pending; for ' +
    "clients of OpenAI's form it is queued, then in_progress. A completed video is charged, at " +
    'most estimated_cost.',
  input: {
    'application/json': videos.videoRequestSchema,
    'multipart/form-data': videos.videoFormSchema,
  },
  output: [videos.VideoSchema],
  errors: mediaErrors,
  read: readVideoRequest,
  run: submit,
})

const getVideo = operation({
  id: 'get_video',
  route: 'GET /videos/:id',
  summary: 'Get the status and URL of a video.',
  access: key,
  output: { 200: videos.VideoSchema },
  errors: ['not_found'],
  run: async (ctx, { caller: spender, params, headers }) =>
    videos.present(ctx, await videos.getVideo(ctx, spender, params.id), headers),
})

const listVideos = operation({
  id: 'list_videos',
  route: 'GET /videos',
  summary: 'List the videos of your account from the last 30 days.',
  access: key,
  input: { query: videos.VideoListQuerySchema },
  output: { 200: videos.VideoListSchema },
  errors: ['bad_request'],
  run: (ctx, { caller: spender, query, headers }) => videos.list(ctx, spender, query, headers),
})

const deleteVideo = operation({
  id: 'delete_video',
  route: 'DELETE /videos/:id',
  summary: 'Delete a completed or failed video with its file.',
  access: key,
  output: { 200: videos.DeletedVideoSchema },
  errors: ['bad_request', 'too_large', 'not_found', 'try_again'],
  async run(ctx, { caller: spender, params }) {
    await videos.remove(ctx, spender, params.id)
    return { id: params.id, object: 'video.deleted' as const, deleted: true as const }
  },
})

const getVideoContent = operation({
  id: 'get_video_content',
  route: 'GET /videos/:id/content',
  summary: 'Get a video by its signed URL or with its API key.',
  access: anyone,
  input: { query: SignedUrlQuerySchema },
  output: {
    200: ContentSchema,
    206: ContentSchema,
    416: RangeNotSatisfiableSchema,
  },
  errors: ['no_key', 'bad_key', 'not_found'],
  run: (ctx, { params, query, ...call }) =>
    videos.getContent(ctx, params.id, query, () => getSpender(ctx, call)),
})

/** Routes of videos (document 2, POST /v1/videos and GET /v1/videos/{id}), and OpenAI's. */
export const videoOperations = [createVideo, listVideos, getVideo, getVideoContent, deleteVideo]

const operationCharsMax = 8_192
/** Time beyond the total deadline after which a submission counts as lost with its process. */
const submitMarginMs = 60 * second

/**
 * Submits a video (document 2, POST /v1/videos): holds the maximum cost, calls the upstream, and
 * hands the hold to the job that polls. Only a completed video is charged. Throws `bad_request` and
 * the errors of section 7.
 */
export async function submit(
  ctx: AppContext,
  spender: Spender,
  parsed: VideoRequest,
  call: Call,
  { headers }: { headers: Headers },
): Promise<CallOutcome> {
  const video = { ...parsed, isOpenAi: parsed.isOpenAi || isOpenAiClient(headers) }
  return payForCall(ctx, spender, call, {
    path: '/videos',
    body: video.fingerprint,
    prepare: () => prepareVideo(ctx, spender, video, call),
    present: completed,
  })
}

/** Checks the request. Its job takes over the hold, and then calls the upstream. */
async function prepareVideo(
  ctx: AppContext,
  spender: Spender,
  video: VideoRequest,
  call: Call,
): Promise<CommittedWork> {
  const { modelIds, preferences, hasInputImage } = video
  const validate = (model: Model): void => validateModel(model, hasInputImage)
  const candidates = listMediaCandidates(ctx, spender, {
    modelIds,
    type: 'video',
    preferences,
    validate,
  })
  await checkInput({ ...call, ctx, spender }, candidates[0].model.id, video.body)
  const submission = { video, candidates, call }
  return {
    commit: async (db) => {
      const { job, maxCost } = await enqueueJob(ctx, db, spender, submission)
      return {
        maxCosts: [maxCost],
        response: {
          submit: async () => handingOff(ctx, job, await submitToUpstream(ctx, submission)),
          // The client gets the first error. A job that cannot be canceled expires.
          cancel: () =>
            ctx.jobs.cancel(job.id).then(
              () => undefined,
              (cause: unknown) => ctx.log.error('video.not_cancelled', cause, { job: job.id }),
            ),
        },
      }
    },
  }
}

/** Throws for a model without a price for videos, and for an input image that it does not take. */
function validateModel({ id, price, inputs }: Model, hasInputImage: boolean): void {
  if (!price || !hasRate('video', price)) throw new ApiError('no_price', { model: id })
  if (hasInputImage && !inputs.includes('image')) {
    throw invalidField('input_reference', `${id} does not accept an input image.`)
  }
}

interface Submission {
  video: VideoRequest
  candidates: Candidates
  call: Call
}

/** Enqueues the job. It stays reserved until an upstream accepts the video. */
async function enqueueJob(
  ctx: AppContext,
  db: Db,
  { account, cap, funds, source }: Spender,
  { video: { seconds, size, isOpenAi }, candidates, call: { requestId } }: Submission,
): Promise<{ job: Job; maxCost: HoldRequest }> {
  const usage = { inputTokensMax: 0, outputTokensMax: 0, seconds, images: 1 }
  const { amount, price } = maxCostOf(candidates, () => usage)
  const model = candidates[0].model.id
  const input: VideoJobInput = { model, seconds, requestId, source, size, isOpenAi }
  const reservedMs = ctx.config.gatewayTotalSeconds * second + submitMarginMs
  const ms = videoMs + reservedMs
  const options = { kind: 'video', queue: 'media', owner: account, input, price: amount } as const
  const job = await enqueue(ctx, db, { ...options, ms, reservedMs }).catch(toHoldsLimit)
  const maxCost = {
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
  }
  return { job, maxCost }
}

function toHoldsLimit(error: unknown): never {
  throw isApiError(error, 'busy')
    ? new ApiError('holds_limit', { max: openJobsPerOwnerMax, retryAfter: 5 })
    : error
}

/** Calls the candidates until one accepts the video. */
async function submitToUpstream(
  ctx: AppContext,
  { video, candidates, call }: Submission,
): Promise<VideoJobData> {
  const deadlines = new CallDeadlines(call.signal, deadlineSettingsOf(ctx))
  const submit = sending({ path: '/videos', bodyFor: () => video.body }, (received) =>
    readSubmission(received, deadlines),
  )
  try {
    const { candidate, opened, failure, attempt } = await callUpstream(ctx.upstreams, candidates, {
      deadlines,
      attempt: (upstream, candidate) => submit(upstream, candidate, deadlines),
    })
    if (failure) throw uncharged(failure)
    attempt?.end('completed')
    return {
      upstream: candidate.offer.upstream,
      model: candidate.model.id,
      operation: opened.operation,
      price: presentPrice(candidate.price),
    }
  } finally {
    deadlines.end()
  }
}

async function readSubmission(
  received: Received,
  deadlines: CallDeadlines,
): Promise<{ operation: string } | UpstreamFailure> {
  const read = await readJsonObject(received, deadlines)
  if (!('json' in read)) return read
  const { id } = read.json
  const isId = typeof id === 'string' && id !== '' && id.length <= operationCharsMax
  return isId ? { operation: id } : unreadable
}

/** Replaces an error that announces a charge: a failed submission costs nothing (document 2). */
const uncharged = ({ error, charges }: UpstreamFailure): ApiError<GatewayErrorName> =>
  charges === 'hold' ? new ApiError('upstream_failed', {}) : error

/** Returns what hands the job to the runner, inside a transaction, and returns the response. */
const handingOff =
  (ctx: AppContext, job: Job, data: VideoJobData) =>
  async (db: Db): Promise<Success> => {
    const afterMs = ctx.config.videoPollSeconds * second
    await handOff(ctx, db, job, { data, afterMs })
    const { upstream } = data
    const begun = { job: job.id, upstream, usd: toUsd(job.price) }
    afterCommit(db, () => ctx.log.info('video.begun', begun))
    return completed(present(ctx, { ...job, data }))
  }

interface VideoRequest {
  modelIds: string[]
  preferences: Preferences
  /** The body for the upstream, in OpenAI's format. */
  body: Json | FormData
  /** Identifies the same request. */
  fingerprint: unknown
  seconds: number
  hasInputImage: boolean
  size: string
  /** True for OpenAI's form: multipart, or JSON with its fields `seconds` or `size`. */
  isOpenAi: boolean
}

/**
 * Reads the body of POST /v1/videos: document 2's JSON or OpenAI's multipart. Throws `bad_request`,
 * and `too_large` without buffering more.
 */
export async function readVideoRequest(request: Request): Promise<VideoRequest> {
  const form = await readMultipart(request)
  if (!form)
    return parseRequest(recordOf(await readJsonBody(request, { max: gatewayBodyBytesMax })))
  const fields = Object.fromEntries(textFields(form, 'model'))
  const image = form.get('input_reference')
  if (!(image instanceof File)) return { ...parseRequest(fields), isOpenAi: true }
  if (image.size > fileBytesMax) {
    throw new ApiError('too_large', { bytes: image.size, max: fileBytesMax })
  }
  const { body, ...parsed } = parseRequest(fields)
  return {
    ...parsed,
    body: toForm(body, image),
    fingerprint: { ...fields, picture: sha256(await image.bytes()) },
    hasInputImage: true,
    isOpenAi: true,
  }
}

function parseRequest(sent: Json): VideoRequest & { body: Json } {
  const { model, models, provider, aspect_ratio, duration, size, seconds: text, ...params } = sent
  const modelIds = readModels(model, models)
  readString(params, 'prompt', promptCharsMax)
  checkUrls(params)
  rejectUnpricedFields(params, 'video')
  const seconds =
    readSeconds('duration', duration) ?? readSeconds('seconds', text) ?? videoSecondsDefault
  const pixels = readSize(size, aspect_ratio)
  return {
    modelIds,
    preferences: readPreferences(provider),
    seconds,
    size: pixels,
    isOpenAi: isSent(text, size) && !isSent(duration, aspect_ratio),
    body: { ...params, size: pixels, seconds: String(seconds) },
    fingerprint: sent,
    hasInputImage: isRecord(params.input_reference),
  }
}

const isSent = (...values: unknown[]): boolean =>
  values.some((value) => value !== undefined && value !== null)

function toForm(body: Json, image: File): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.set(name, toText(value))
  form.set('input_reference', image, image.name)
  return form
}

/** Reads a length in seconds, as text (document 2) or as a number. */
function readSeconds(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'number' ? String(value) : value
  const isNumber = typeof text === 'string' && /^\d{1,3}(\.\d{1,3})?$/.test(text)
  const seconds = isNumber ? Number(text) : 0
  if (seconds > 0 && seconds <= videoSecondsMax) return seconds
  throw invalidField(
    name,
    `${name} must be seconds as text, more than 0 and at most ${videoSecondsMax}.`,
  )
}

/** Pixels of the shorter side, when only the aspect ratio is given. */
const side = 720

/** Returns WIDTHxHEIGHT: the given size, or the size for the aspect ratio, by default 16:9. */
function readSize(size: unknown, ratio: unknown): string {
  const given = findSize(size)
  if (given !== undefined) return given
  const text = ratio ?? '16:9'
  const parts = typeof text === 'string' ? /^([1-9]\d?):([1-9]\d?)$/.exec(text) : null
  const [width, height] = [Number(parts?.[1]), Number(parts?.[2])]
  if (!parts || Math.max(width / height, height / width) > 4) {
    throw invalidField(
      'aspect_ratio',
      'aspect_ratio must be WIDTH:HEIGHT, such as 16:9, and at most 4:1.',
    )
  }
  const pixels = (one: number, other: number) => Math.round(side * Math.max(1, one / other))
  return `${pixels(width, height)}x${pixels(height, width)}`
}
