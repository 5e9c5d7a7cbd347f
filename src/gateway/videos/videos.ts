import type { AppContext } from '../../context.ts'
import { idPattern } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import { unixSeconds } from '../../core/time.ts'
import { ApiError } from '../../errors.ts'
import type { Job } from '../../jobs/handler.ts'
import * as jobs from '../../jobs/jobs.ts'
import { mediaLinkMs } from '../../limits.ts'
import { isSignedPath, type LinkSignature, signPath } from '../../storage/signed-url.ts'
import type { Spender } from '../authentication.ts'
import * as made from '../media-files/media-files.ts'
import type { VideoResponse } from './schemas.ts'

/** A film of the spender's account. Refuses not_found. */
export async function getVideo(ctx: AppContext, { account }: Spender, id: string): Promise<Job> {
  const job = idPattern.test(id) ? await jobs.findJob(ctx, id) : undefined
  if (job?.kind === 'video' && job.owner === account) return job
  throw new ApiError('not_found', { what: 'video' })
}

const pathOf = (id: string): string => `/v1/videos/${id}/content`

/** When the address of a finished film stops (document 2, section 8, as for pictures). */
const expiryOf = ({ ended }: Job): number => (ended ?? 0) + mediaLinkMs

/** Where a film is seen: at its upstream's address, or at ours, without a key for 24 hours. */
function urlOf({ urls, secret }: AppContext, job: Job): string {
  const url = job.result?.url
  if (typeof url === 'string') return url
  return urls.gateway + signPath(secret, pathOf(job.id), expiryOf(job))
}

/** The video job of document 2, section 2. */
export function present(ctx: AppContext, job: Job): VideoResponse {
  const { id, input, data, state, price, charged, error, progress } = job
  const { model, seconds: asked } = { ...Object(input), ...Object(data) }
  const own = {
    id,
    object: 'video' as const,
    model: String(model),
    created_at: unixSeconds(job.created),
    estimated_cost: toUsd(price),
    progress,
    seconds: String(asked),
  }
  if (state === 'queued' || state === 'running') return { ...own, status: 'pending' }
  if (state === 'done') {
    const cost = toUsd(charged)
    const expires_at = unixSeconds(expiryOf(job))
    return { ...own, status: 'completed', url: urlOf(ctx, job), cost, expires_at }
  }
  const { code, error: message } = error ?? { code: 'cancelled', error: 'It was never begun.' }
  return { ...own, status: 'failed', cost: 0, error: { code, message } }
}

/**
 * A finished film, for whoever holds its signed address, or else for the account's key: its bytes,
 * or the way to them. Refuses not_found, no_key, bad_key.
 */
export async function getContent(
  ctx: AppContext,
  id: string,
  marks: LinkSignature,
  spender: () => Promise<Spender>,
): Promise<Response> {
  const isSigned = marks.signature !== undefined
  const job = isSigned ? await linked(ctx, id, marks) : await getVideo(ctx, await spender(), id)
  const { url, made: kept } = job?.result ?? {}
  if (typeof url === 'string') return Response.redirect(url, 302)
  const found = typeof kept === 'string' ? await made.find(ctx, kept) : undefined
  const early = `it is not there yet, or failed: GET /v1/videos/${id} says which`
  const why = job && !job.result ? early : 'its address works for 24 hours'
  if (!found) throw new ApiError('not_found', { what: `film: ${why}` })
  return made.toResponse(found)
}

async function linked(ctx: AppContext, id: string, marks: LinkSignature): Promise<Job | undefined> {
  const { secret, clock } = ctx
  if (!idPattern.test(id) || !isSignedPath(secret, pathOf(id), marks, clock.now())) return undefined
  return jobs.findJob(ctx, id)
}
