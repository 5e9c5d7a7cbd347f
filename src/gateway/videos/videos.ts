import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { Job } from '../../jobs/handlers.ts'
import * as jobs from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { wholeQuery } from '../../kernel/http/list-query.ts'
import type { Content } from '../../kernel/http/outcome.ts'
import { idPattern } from '../../kernel/ids.ts'
import {
  mediaLinkMs,
  promptCharsMax,
  videoPageMax,
  videoSecondsDefault,
  videoSecondsMax,
} from '../../kernel/limits.ts'
import { toUsd } from '../../kernel/money.ts'
import { anyObject, lenientObject, namedObject, nullable, oneOf } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import { isSignedPath, type LinkSignature, signPath } from '../../store/signed-url.ts'
import type { Spender } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import { listSchema, toList, unknownAfter } from '../list.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { PriceTexts } from '../models/price.ts'
import { modelSchema, sizeSchema } from '../request-schemas.ts'

const seconds: OpenAPIV3.SchemaObject = {
  type: 'string',
  pattern: `^(?:(?:[1-9]|[1-5]\\d)(?:\\.\\d{1,3})?|${videoSecondsMax}|0\\.(?:[1-9]\\d{0,2}|0[1-9]\\d?|00[1-9]))$`,
  description: `Seconds, more than 0 and at most ${videoSecondsMax}; by default ${videoSecondsDefault}.`,
}
const fields: Record<string, OpenAPIV3.SchemaObject> = {
  model: modelSchema('The id of a video model.'),
  prompt: { type: 'string', minLength: 1, maxLength: promptCharsMax },
}

/** The JSON body of a video request, which readVideoRequest parses. */
export const videoRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'prompt'],
  properties: {
    ...fields,
    aspect_ratio: {
      type: 'string',
      pattern: '^[1-9]\\d?:[1-9]\\d?$',
      default: '16:9',
      description: 'For example 16:9 or 9:16, at most 4:1.',
    },
    duration: seconds,
  },
}

/** The multipart body of OpenAI's clients. */
export const videoFormSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  required: ['model', 'prompt'],
  properties: {
    ...fields,
    size: sizeSchema,
    seconds,
    input_reference: { type: 'string', format: 'binary', description: 'The first frame.' },
  },
}

/** A video (document 2, section 2) with OpenAI's fields. */
export const VideoSchema = namedObject('Video', {
  id: Type.String(),
  object: Type.Literal('video'),
  status: oneOf(['pending', 'queued', 'in_progress', 'completed', 'failed']),
  model: Type.String(),
  created_at: Type.Integer({ description: 'Seconds since 1970.' }),
  estimated_cost: Type.Number({ description: 'USD; the maximum cost.' }),
  progress: Type.Integer({ description: 'Percent.' }),
  seconds: Type.String(),
  url: Type.Optional(Type.String({ description: 'Valid for 24 hours without a key.' })),
  cost: Type.Optional(Type.Number({ description: 'USD; 0 for a failed video.' })),
  error: Type.Optional(nullable(Type.Object({ code: Type.String(), message: Type.String() }))),
  expires_at: Type.Optional(nullable(Type.Integer({ description: 'Seconds since 1970.' }))),
  completed_at: Type.Optional(
    nullable(Type.Integer({ description: "Seconds since 1970. In OpenAI's form." })),
  ),
  size: Type.Optional(Type.String({ description: "WIDTHxHEIGHT. In OpenAI's form." })),
  prompt: Type.Optional(nullable(Type.String({ description: 'Not stored: null.' }))),
  remixed_from_video_id: Type.Optional(nullable(Type.String({ description: "In OpenAI's form." }))),
})
export type VideoResponse = Static<typeof VideoSchema>

export const VideoListSchema = listSchema(VideoSchema)
export const VideoListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(videoPageMax, `1 to ${videoPageMax}. Default 20.`)),
  after: Type.Optional(Type.String({ description: 'Last id of the previous page.' })),
  order: Type.Optional(oneOf(['asc', 'desc'])),
})
export type VideoListQuery = Static<typeof VideoListQuerySchema>

export const DeletedVideoSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('video.deleted'),
  deleted: Type.Literal(true),
})

export const VideoJobInputSchema = Type.Object({
  model: Type.String(),
  seconds: Type.Number(),
  requestId: Type.String(),
  source: oneOf(['api', 'web']),
  size: Type.Optional(Type.String()),
  /** Created in OpenAI's form (docs/spec/gateway-decisions.md, "Responses"). */
  isOpenAi: Type.Optional(Type.Boolean()),
})
export type VideoJobInput = Static<typeof VideoJobInputSchema>

/** The upstream and model that accepted the video, with its id and price there. */
export const VideoJobDataSchema = Type.Object({
  upstream: Type.String(),
  model: Type.String(),
  operation: Type.String(),
  price: Type.Unsafe<PriceTexts>(lenientObject({})),
  /** Polls in a row that failed. */
  failures: Type.Optional(Type.Integer()),
})
export type VideoJobData = Static<typeof VideoJobDataSchema>

/** Returns the job of a video of the spender's account. Throws `not_found`. */
export async function getVideo(ctx: AppContext, { account }: Spender, id: string): Promise<Job> {
  const job = idPattern.test(id) ? await jobs.findJob(ctx, id) : undefined
  if (job?.kind === 'video' && job.owner === account) return job
  throw new ApiError('not_found', { what: 'video' })
}

/**
 * Lists the videos of the spender's account in OpenAI's pages, by default newest first. Those that
 * no upstream accepted are not listed. Throws `bad_request`, also when `after` is not in the list.
 */
export async function list(
  ctx: AppContext,
  spender: Spender,
  { limit = 20, after, order }: VideoListQuery,
  headers: Headers,
) {
  const size = requireWhole('limit', limit, videoPageMax)
  const last = after === undefined ? undefined : await findAfter(ctx, spender, after)
  const found = await jobs.listJobs(ctx, spender.account, {
    kinds: ['video'],
    limit: size + 1,
    after: last,
    isOldestFirst: order === 'asc',
    isCanceledHidden: true,
  })
  const data = found.slice(0, size).map((job) => present(ctx, job, headers))
  return toList(data, found.length > size)
}

const findAfter = (ctx: AppContext, spender: Spender, after: string): Promise<Job> =>
  getVideo(ctx, spender, after).catch(() => {
    throw unknownAfter()
  })

/** Deletes a completed or failed video with its file. Throws `not_found` and `bad_request`. */
export async function remove(ctx: AppContext, spender: Spender, id: string): Promise<void> {
  const { ended, result } = await getVideo(ctx, spender, id)
  if (ended === null) {
    throw invalidField(
      'id',
      'The video is being created. Delete it when it is completed or failed.',
    )
  }
  await ctx.db.tx(async (db) => {
    if (typeof result?.made === 'string') await mediaFiles.remove(db, result.made)
    await jobs.deleteJobs(db, [id])
  })
}

const pathOf = (id: string): string => `/v1/videos/${id}/content`

/** Returns the expiry of a finished video's URL (document 2, section 8). */
const expiryOf = ({ ended }: Job): number => (ended ?? 0) + mediaLinkMs

const signedUrlOf = ({ urls, secret }: AppContext, job: Job): string =>
  urls.gateway + signPath(secret, pathOf(job.id), expiryOf(job))

/** Returns whether a client is an SDK of OpenAI or is generated like them. */
export const isOpenAiClient = (headers: Headers): boolean =>
  headers.has('x-stainless-lang') || /^(Async)?OpenAI\//.test(headers.get('user-agent') ?? '')

/**
 * Converts a job to the video of document 2, section 2, or of OpenAI for its clients and for videos
 * that were created in its form.
 */
export function present(ctx: AppContext, job: Job, headers?: Headers): VideoResponse {
  const video = presentDocument(ctx, job)
  const { isOpenAi = false, size }: Partial<VideoJobInput> = Object(job.input)
  if (!isOpenAi && !(headers && isOpenAiClient(headers))) return video
  const { status, error = null, expires_at = null, ...fields } = video
  const isBegun = job.started !== null
  return {
    ...fields,
    status: status !== 'pending' ? status : isBegun ? 'in_progress' : 'queued',
    error,
    expires_at,
    completed_at: status === 'completed' && job.ended ? unixSeconds(job.ended) : null,
    ...(size !== undefined && { size }),
    prompt: null,
    remixed_from_video_id: null,
  }
}

function presentDocument(ctx: AppContext, job: Job): VideoResponse {
  const { id, input, data, state, price, charged, error, progress } = job
  const { model, seconds } = { ...Object(input), ...Object(data) }
  const video = {
    id,
    object: 'video' as const,
    model: String(model),
    created_at: unixSeconds(job.created),
    estimated_cost: toUsd(price),
    progress,
    seconds: String(seconds),
  }
  if (state === 'queued' || state === 'running') return { ...video, status: 'pending' }
  if (state === 'done') {
    const cost = toUsd(charged)
    const expires_at = unixSeconds(expiryOf(job))
    return { ...video, status: 'completed', url: signedUrlOf(ctx, job), cost, expires_at }
  }
  const { code, error: message } = error ?? { code: 'cancelled', error: 'The video was canceled.' }
  return { ...video, status: 'failed', cost: 0, error: { code, message } }
}

/**
 * Responds with a finished video. Requires a signed URL or the account's key. Throws `not_found`,
 * `no_key`, `bad_key`.
 */
export async function getContent(
  ctx: AppContext,
  id: string,
  signature: LinkSignature,
  authenticate: () => Promise<Spender>,
): Promise<Content> {
  const job =
    signature.signature === undefined
      ? await getVideo(ctx, await authenticate(), id)
      : await findSigned(ctx, id, signature)
  const { made: fileId } = job?.result ?? {}
  const content = typeof fileId === 'string' ? await mediaFiles.find(ctx, fileId) : undefined
  if (content) return mediaFiles.present(content)
  const isUnfinished = job !== undefined && !job.result
  throw new ApiError('not_found', {
    what: isUnfinished ? 'content' : 'video',
    see: isUnfinished
      ? `The video is pending or failed. See GET /v1/videos/${id}.`
      : 'Its URL is valid for 24 hours. Create the video again.',
  })
}

async function findSigned(
  ctx: AppContext,
  id: string,
  signature: LinkSignature,
): Promise<Job | undefined> {
  const isValid =
    idPattern.test(id) && isSignedPath(ctx.secret, pathOf(id), signature, ctx.clock.now())
  return isValid ? jobs.findJob(ctx, id) : undefined
}
