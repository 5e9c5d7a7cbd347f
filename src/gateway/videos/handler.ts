import type { Handler, Job, JobRun, Outcome } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { mediaLinkMs, videoBytesMax } from '../../kernel/limits.ts'
import { isRecord, type Json, parseRecord } from '../../kernel/schema.ts'
import { minute, second } from '../../kernel/time.ts'
import { listOpenHolds, settleHold } from '../../money/ledger/ledger.ts'
import { detectVideoType } from '../../store/containers.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import { fetchResult } from '../media-files/media-files.ts'
import { chargeOf } from '../models/charge.ts'
import { insertUse, usageCounts } from '../models/history.ts'
import { readPrice } from '../models/price.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { readFile } from '../paid/response-body.ts'
import { failureOfErrorBody } from '../paid/upstream-failure.ts'
import { isTransientStatus } from '../providers/error-body.ts'
import { type Received, UpstreamError } from '../providers/upstream.ts'
import {
  type VideoJobData,
  VideoJobDataSchema,
  type VideoJobInput,
  VideoJobInputSchema,
} from './videos.ts'

/** Polls of a video in a row that may fail, and the longest wait after one: about 20 minutes. */
const videoFailuresMax = 20
const videoRetryMsMax = minute

type VideoRun = JobRun<VideoJobInput, VideoJobData>

/**
 * Creates the handler that polls the upstream of a video every VIDEO_POLL_SECONDS, across restarts,
 * until it is completed, failed or expired, or `videoFailuresMax` polls in a row have failed.
 * Completion charges it once, in the same transaction. A video without a result costs nothing
 * (document 2, section 3).
 */
export const videoHandler = (
  ctx: AppContext,
): Handler<typeof VideoJobInputSchema, typeof VideoJobDataSchema> => ({
  input: VideoJobInputSchema,
  data: VideoJobDataSchema,
  restarts: Infinity,
  run: async (work) => {
    const { data, signal } = work
    // The process ended before it stored the upstream's id, so nothing can poll the video.
    if (!data) return failed('interrupted', 'The server stopped before the provider responded.')
    const deadlines = new CallDeadlines(signal, deadlineSettingsOf(ctx))
    const result = await pollUpstream(ctx, data, deadlines).finally(() => deadlines.end())
    return toOutcome(ctx, work, data, result)
  },
  compensate: (db, job) => recordUse(ctx, db, job, 'failed', createUsage({})),
})

async function toOutcome(
  ctx: AppContext,
  work: VideoRun,
  data: VideoJobData,
  result: PollResult,
): Promise<Outcome> {
  if (result.state === 'completed') return complete(ctx, work, data, result)
  if (result.state === 'failed') {
    const { code, why } = result
    ctx.log.warn('video.failed', { job: work.job.id, upstream: data.upstream, why })
    return failed(code, why)
  }
  const pollMs = ctx.config.videoPollSeconds * second
  const { failures = 0, ...rest } = data
  if (result.state === 'pending') {
    const { progress } = result
    const hasProgressed = progress > work.job.progress && progress < 100
    if (hasProgressed) await work.report({ progress: progress / 100 })
    return { end: 'again', afterMs: pollMs, ...(failures > 0 && { data: rest }) }
  }
  if (failures + 1 >= videoFailuresMax) {
    return failed('upstream_failed', `The provider failed ${videoFailuresMax} polls in a row.`)
  }
  const afterMs = Math.min(pollMs * 2 ** failures, Math.max(pollMs, videoRetryMsMax))
  return { end: 'again', afterMs, data: { ...rest, failures: failures + 1 } }
}

const failed = (code: string, why: string): Outcome => ({
  end: 'failed',
  error: { code, error: `${why} Nothing was charged. Send the request again.` },
})

/** Charges the seconds that the upstream reports, at most those of the request. */
async function complete(
  ctx: AppContext,
  { input }: VideoRun,
  data: VideoJobData,
  { response, bytes, type }: Extract<PollResult, { state: 'completed' }>,
): Promise<Outcome> {
  const price = readPrice(data.price)
  if ('error' in price) throw new Error(price.error)
  const limits = { prompt: 0, completion: 0, seconds: input.seconds }
  const reported = readUsage({ seconds: Number(response.seconds ?? Number.NaN) }, limits)
  const isEstimated = response.seconds !== undefined
  const usage = {
    ...(reported?.seconds
      ? reported
      : createUsage({ seconds: input.seconds, estimated: isEstimated })),
    images: 1,
  }
  const charge = chargeOf(price, usage)
  const file = await mediaFiles.store(ctx, { bytes, type, forMs: mediaLinkMs })
  return {
    end: 'done',
    record: async (db, job) => {
      await mediaFiles.insert(db, [file])
      for (const hold of await listOpenHolds(db, job.id)) {
        await settleHold(ctx, db, hold, charge, (_db, { charged }) =>
          recordUse(ctx, db, { ...job, charged }, 'completed', usage),
        )
      }
      return { made: file.id }
    },
  }
}

/** Inserts the video's row of the history. */
async function recordUse(
  { clock }: AppContext,
  db: Db,
  job: Job,
  status: 'completed' | 'failed',
  usage: Usage,
): Promise<void> {
  const input: VideoJobInput = Object(job.input)
  const data: Partial<VideoJobData> = Object(job.data)
  const price = data.price && readPrice(data.price)
  await insertUse(db, {
    account: job.owner,
    requestId: input.requestId,
    at: clock.now(),
    model: data.model ?? input.model,
    type: 'video',
    source: input.source,
    status,
    error: status === 'failed' ? 'upstream_failed' : null,
    upstream: data.upstream ?? null,
    price: price && 'id' in price ? price.id : null,
    ...usageCounts(usage),
    charged: job.charged,
    held: job.price,
    ms: clock.now() - job.created,
    firstByteMs: null,
  })
}

/** A video that will never be there. */
export interface FailedVideo {
  state: 'failed'
  code: 'upstream_failed' | 'content_policy_violation'
  why: string
}

/** A failure that a later poll may not have, such as of the network. */
interface UnavailableVideo {
  state: 'unavailable'
}

interface Video {
  state: 'completed'
  bytes: Uint8Array
  type: string
}

/** The state of a video at its upstream. `progress` is in percent, and NaN where it is unknown. */
export type PollResult =
  | { state: 'pending'; progress: number }
  | (Video & { response: Json })
  | FailedVideo
  | UnavailableVideo

const completedStatuses = ['completed', 'succeeded']
const failedStatuses = ['failed', 'cancelled', 'canceled', 'expired', 'rejected', 'error']

const unavailable: UnavailableVideo = { state: 'unavailable' }
const failure = (why: string): FailedVideo => ({ state: 'failed', code: 'upstream_failed', why })
const noState = failure('The provider responded with something else than the state of this video.')
const noVideo = failure('The provider completed this video without returning a video.')
const blocked = failure('The video is at an address that cannot be fetched.')

/** Asks the upstream of a video once, and reads the video where it is completed. */
export async function pollUpstream(
  ctx: AppContext,
  { upstream, operation }: VideoJobData,
  deadlines: CallDeadlines,
): Promise<PollResult> {
  const path = `/videos/${encodeURIComponent(operation)}` as const
  const received = await receive(ctx, { upstream, path }, deadlines)
  if ('state' in received) return received
  const response = await readState(received, deadlines)
  if (!response) return unavailable
  const { status, error, progress, url } = response
  if (failedStatuses.includes(String(status))) return toFailure(error)
  if (typeof status !== 'string') return isRecord(error) ? toPollFailure(error) : noState
  if (!completedStatuses.includes(status)) return { state: 'pending', progress: Number(progress) }
  const request = () => readContent(ctx, { upstream, path: `${path}/content` }, deadlines)
  const source = { upstream, url, request }
  const video = await readVideo(ctx, source, deadlines)
  return video.state === 'completed' ? { ...video, response } : video
}

/** Reads the state of a video; undefined for a response that breaks off. */
async function readState(received: Received, deadlines: CallDeadlines): Promise<Json | undefined> {
  if ('json' in received) return received.json
  const bytes = await readFile(received, deadlines)
  return bytes && (parseRecord(new TextDecoder().decode(bytes)) ?? {})
}

interface Poll {
  upstream: string
  path: `/videos/${string}`
}

/** Requests the content of a video by the upstream's API. A response without one is empty. */
async function readContent(
  ctx: AppContext,
  poll: Poll,
  deadlines: CallDeadlines,
): Promise<Uint8Array | FailedVideo | UnavailableVideo> {
  const received = await receive(ctx, poll, deadlines)
  if ('state' in received) return received
  if ('json' in received) return new Uint8Array()
  return (await readFile(received, deadlines, videoBytesMax)) ?? unavailable
}

async function receive(
  { upstreams }: AppContext,
  { upstream, path }: Poll,
  deadlines: CallDeadlines,
): Promise<Received | FailedVideo | UnavailableVideo> {
  try {
    const sent = await upstreams.find(upstream)?.poll({ path, signal: deadlines.signal })
    if (!sent) return unavailable
    if (!('rejected' in sent)) return sent
    const { status } = sent.rejected
    if (isTransientStatus(status)) return unavailable
    if ([404, 410].includes(status)) return failure('The provider no longer has this video.')
    return failure(`The provider rejected a request for this video with the status ${status}.`)
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return error.kind === 'redirect' ? failure('The provider redirects this video.') : unavailable
  }
}

interface VideoSource {
  upstream: string
  /** The URL that the upstream names, if any. */
  url: unknown
  /** Requests the content by the upstream's API. */
  request(): Promise<Uint8Array | FailedVideo | UnavailableVideo>
}

/** Reads a completed video from its URL, else by the upstream's API. */
async function readVideo(
  ctx: AppContext,
  { upstream, url, request }: VideoSource,
  deadlines: CallDeadlines,
): Promise<Video | FailedVideo | UnavailableVideo> {
  const bytesMax = videoBytesMax
  const named =
    typeof url === 'string'
      ? await fetchResult(ctx, { upstream, url, bytesMax }, deadlines)
      : undefined
  const video = toVideo(named)
  if (video) return video
  const body = await request()
  const content = toVideo(body)
  if (content) return content
  if (body instanceof Uint8Array) return named === 'unavailable' ? unavailable : noVideo
  if (body.state === 'unavailable' || named === 'unavailable') return unavailable
  if (named === 'blocked') return blocked
  return named === undefined ? body : noVideo
}

function toVideo(bytes: unknown): Video | undefined {
  const type = bytes instanceof Uint8Array ? detectVideoType(bytes) : undefined
  return bytes instanceof Uint8Array && type ? { state: 'completed', bytes, type } : undefined
}

const toFailure = (error: unknown): FailedVideo =>
  failureOfErrorBody(error).error.errorName === 'content_policy'
    ? {
        state: 'failed',
        code: 'content_policy_violation',
        why: 'The provider declined this under its content rules.',
      }
    : failure('The provider could not create this video.')

/** Returns the failure of a response that has an error and no state. */
const toPollFailure = (error: Json): FailedVideo | UnavailableVideo =>
  isTransientStatus(Number(error.status ?? error.code)) ? unavailable : toFailure(error)
