import type { Handler, Job, JobRun, Outcome } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { mediaLinkMs } from '../../kernel/limits.ts'
import { minute, second } from '../../kernel/time.ts'
import { listOpenHolds, settleHold } from '../../money/ledger/ledger.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import { chargeOf } from '../models/charge.ts'
import { insertUse, usageCounts } from '../models/history.ts'
import { readPrice } from '../models/price.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { type PollResult, pollUpstream } from './poll.ts'
import {
  type VideoJobData,
  VideoJobDataSchema,
  type VideoJobInput,
  VideoJobInputSchema,
} from './schemas.ts'

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
