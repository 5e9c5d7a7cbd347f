import type { Job } from '../../jobs/handler.ts'
import * as jobs from '../../jobs/jobs.ts'
import { ApiError } from '../../kernel/errors.ts'
import { idPattern } from '../../kernel/ids.ts'
import { mediaLinkMs } from '../../kernel/limits.ts'
import { toUsd } from '../../kernel/money.ts'
import { unixSeconds } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
import { isSignedPath, type LinkSignature, signPath } from '../../store/signed-url.ts'
import type { Spender } from '../authentication.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { VideoResponse } from './schemas.ts'

/** Returns the job of a video of the spender's account. Throws `not_found`. */
export async function getVideo(ctx: AppContext, { account }: Spender, id: string): Promise<Job> {
  const job = idPattern.test(id) ? await jobs.findJob(ctx, id) : undefined
  if (job?.kind === 'video' && job.owner === account) return job
  throw new ApiError('not_found', { what: 'video' })
}

const pathOf = (id: string): string => `/v1/videos/${id}/content`

/** Returns the expiry of a finished video's URL (document 2, section 8). */
const expiryOf = ({ ended }: Job): number => (ended ?? 0) + mediaLinkMs

const signedUrlOf = ({ urls, secret }: AppContext, job: Job): string =>
  urls.gateway + signPath(secret, pathOf(job.id), expiryOf(job))

/** Converts a job to the video of document 2, section 2. */
export function present(ctx: AppContext, job: Job): VideoResponse {
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
): Promise<Response> {
  const job =
    signature.signature === undefined
      ? await getVideo(ctx, await authenticate(), id)
      : await findSigned(ctx, id, signature)
  const { made: fileId } = job?.result ?? {}
  const content = typeof fileId === 'string' ? await mediaFiles.find(ctx, fileId) : undefined
  if (content) return mediaFiles.toResponse(content)
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
