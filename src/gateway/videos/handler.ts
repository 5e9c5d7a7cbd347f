import type { AppContext } from '../../context.ts'
import type { Json } from '../../core/schema.ts'
import { second } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import type { Handler, Job, JobRun, Outcome } from '../../jobs/handler.ts'
import { listOpenHolds } from '../../ledger/job-holds.ts'
import { settleHold } from '../../ledger/ledger.ts'
import { mediaLinkMs, videoBytesMax } from '../../limits.ts'
import { chargeOf } from '../../models/charge.ts'
import { insertUse, usageCounts } from '../../models/history.ts'
import { readPrice } from '../../models/price.ts'
import { createUsage, readUsage, type Usage } from '../../models/usage.ts'
import { UpstreamError } from '../../providers/upstream.ts'
import { detectVideoType } from '../../storage/videos.ts'
import { fetchResult } from '../media-files/fetch-result.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { readBoundedBytes, readRawObject } from '../paid/response-body.ts'
import { failureOfErrorBody } from '../paid/upstream-failure.ts'
import {
  type VideoJobData,
  VideoJobDataSchema,
  type VideoJobInput,
  VideoJobInputSchema,
} from './schemas.ts'

type VideoRun = JobRun<VideoJobInput, VideoJobData>

const completedStatuses = ['completed', 'succeeded']
const failedStatuses = ['failed', 'cancelled', 'canceled', 'expired', 'rejected', 'error']

/**
 * Creates the handler that polls the upstream of a video every VIDEO_POLL_SECONDS, across restarts,
 * until it is completed, failed or expired. Completion charges it once, in the same transaction. A
 * video without a result costs nothing (document 2, section 3).
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
    try {
      return await poll(ctx, work, data, deadlines)
    } catch (error) {
      if (error instanceof UpstreamError && !signal.aborted) return retry(ctx)
      throw error
    } finally {
      deadlines.end()
    }
  },
  compensate: (db, job) => recordUse(ctx, db, job, 'failed', createUsage({})),
})

const retry = ({ config }: AppContext): Outcome => ({
  end: 'again',
  afterMs: config.videoPollSeconds * second,
})

const failed = (code: string, why: string): Outcome => ({
  end: 'failed',
  error: { code, error: `${why} Nothing was charged.` },
})

/** Polls once. Only a status of the upstream ends the job; any other problem may be temporary. */
async function poll(
  ctx: AppContext,
  work: VideoRun,
  data: VideoJobData,
  deadlines: CallDeadlines,
): Promise<Outcome> {
  const upstream = ctx.upstreams.find(data.upstream)
  if (!upstream) return retry(ctx)
  const { signal } = deadlines
  const path = `/videos/${encodeURIComponent(data.operation)}` as const
  const response = await upstream.poll({ path, signal })
  if ([404, 410].includes(response.status)) {
    return failed('upstream_failed', 'The provider no longer has this video.')
  }
  if (!response.ok) return retry(ctx)
  const read = await readRawObject(response, deadlines)
  if (!('json' in read)) return retry(ctx)
  const { status, error, progress } = read.json
  if (failedStatuses.includes(String(status))) return toFailure(error)
  if (!completedStatuses.includes(String(status))) {
    const percent = Number(progress)
    const hasProgressed = percent > work.job.progress && percent < 100
    if (hasProgressed) await work.report({ progress: percent / 100 })
    return retry(ctx)
  }
  const download = () => upstream.poll({ path: `${path}/content`, signal })
  const file = await storeContent(ctx, { ...data, url: read.json.url, download }, deadlines)
  if (file === 'blocked') {
    return failed('upstream_failed', 'The video is at an address that cannot be fetched.')
  }
  return file ? complete(ctx, work, { data, response: read.json, file }) : retry(ctx)
}

interface VideoSource {
  upstream: string
  /** The URL that the upstream names, if any. */
  url: unknown
  /** Downloads the content by the upstream's API. */
  download(): Promise<Response>
}

/**
 * Stores a completed video, from its URL or by the upstream's API. Returns `blocked` when there is
 * only a URL that must not be fetched, and undefined when a later attempt may succeed.
 */
async function storeContent(
  ctx: AppContext,
  { upstream, url, download }: VideoSource,
  deadlines: CallDeadlines,
): Promise<mediaFiles.MediaFile | 'blocked' | undefined> {
  const bytesMax = videoBytesMax
  const named =
    typeof url === 'string'
      ? await fetchResult(ctx, { upstream, url, bytesMax }, deadlines)
      : undefined
  let bytes = named instanceof Uint8Array && detectVideoType(named) ? named : undefined
  if (!bytes) {
    const response = await download()
    bytes = response.ok ? await readBoundedBytes(response, deadlines, bytesMax) : undefined
  }
  const type = bytes && detectVideoType(bytes)
  if (bytes && type) return mediaFiles.store(ctx, { bytes, type, forMs: mediaLinkMs })
  return named === 'blocked' ? named : undefined
}

const toFailure = (error: unknown): Outcome =>
  failureOfErrorBody(error).error.errorName === 'content_policy'
    ? failed('content_policy_violation', 'The provider declined this under its content rules.')
    : failed('upstream_failed', 'The provider could not create this video.')

/** Charges the seconds that the upstream reports, at most those of the request. */
function complete(
  ctx: AppContext,
  { input }: VideoRun,
  { data, response, file }: { data: VideoJobData; response: Json; file: mediaFiles.MediaFile },
): Outcome {
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
