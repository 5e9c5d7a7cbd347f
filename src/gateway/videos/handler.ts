import type { AppContext } from '../../context.ts'
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
import * as made from '../media-files/media-files.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { readBoundedBytes, readRawObject } from '../paid/response-body.ts'
import { failureOfErrorBody } from '../paid/upstream-failure.ts'
import { VideoJobData, VideoJobInput } from './schemas.ts'

type Film = JobRun<VideoJobInput, VideoJobData>
type Answer = Record<string, unknown>

const done = ['completed', 'succeeded']
const dead = ['failed', 'cancelled', 'canceled', 'expired', 'rejected', 'error']

/**
 * Looks after a film that an upstream makes: asks how it stands every VIDEO_POLL_SECONDS, whatever
 * becomes of this process, until it is there, has failed, or its time is up. It is charged with its
 * landing, once; a film that fails or never comes costs nothing (document 2, section 3).
 */
export const videoHandler = (
  ctx: AppContext,
): Handler<typeof VideoJobInput, typeof VideoJobData> => ({
  queue: 'media',
  input: VideoJobInput,
  data: VideoJobData,
  restarts: Infinity,
  run: async (work) => {
    const { data, signal } = work
    // Its process died before the upstream's answer was kept: nobody can ask for it any more.
    if (!data) return failed('interrupted', 'The server stopped before the provider had answered.')
    const watch = new CallDeadlines(signal, deadlineSettingsOf(ctx.config))
    try {
      return await look(ctx, work, data, watch)
    } catch (error) {
      if (error instanceof UpstreamError && !signal.aborted) return later(ctx)
      throw error
    } finally {
      watch.end()
    }
  },
  compensate: (db, job) => noteUse(ctx, db, job, 'failed', createUsage({})),
})

const later = ({ config }: AppContext): Outcome => ({
  end: 'again',
  afterMs: config.videoPollSeconds * second,
})

const failed = (code: string, why: string): Outcome => ({
  end: 'failed',
  error: { code, error: `${why} Nothing was charged.` },
})

/** What cannot be had or read now may be later: only the upstream's own word ends it before. */
async function look(
  ctx: AppContext,
  work: Film,
  data: VideoJobData,
  watch: CallDeadlines,
): Promise<Outcome> {
  const upstream = ctx.upstreams.find(data.upstream)
  if (!upstream) return later(ctx)
  const path = `/videos/${encodeURIComponent(data.operation)}` as const
  const response = await upstream.poll({ path, signal: watch.signal })
  if ([404, 410].includes(response.status)) {
    return failed('upstream_failed', 'The provider has lost this film.')
  }
  if (!response.ok) return later(ctx)
  const read = await readRawObject(response, watch)
  if (!('answer' in read)) return later(ctx)
  const { status, error, progress } = read.answer
  if (typeof status === 'string' && dead.includes(status)) return failureOf(error)
  if (typeof status !== 'string' || !done.includes(status)) {
    const percent = Number(progress)
    const isNews = percent > work.job.progress && percent < 100
    if (isNews) await work.report({ progress: percent / 100 })
    return later(ctx)
  }
  const content = { path: `${path}/content`, signal: watch.signal } as const
  const film = await filmIn(ctx, read.answer, () => upstream.poll(content), watch)
  return film ? landing(ctx, work, { data, answer: read.answer, film }) : later(ctx)
}

function failureOf(error: unknown): Outcome {
  const { errorName: refusal } = failureOfErrorBody(error).error
  return refusal === 'content_policy'
    ? failed('content_policy_violation', 'The provider declined this under its content rules.')
    : failed('upstream_failed', 'The provider could not make this film.')
}

/** A film as it is kept: where it stands elsewhere, or a row of our own. */
type Kept = { url: string } | { row: made.MediaFile }

async function filmIn(
  ctx: AppContext,
  { url }: Answer,
  content: () => Promise<Response>,
  watch: CallDeadlines,
): Promise<Kept | undefined> {
  if (typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url)) return { url }
  const answer = await content()
  const bytes = answer.ok ? await readBoundedBytes(answer, watch, videoBytesMax) : undefined
  const type = bytes && detectVideoType(bytes)
  if (!type) return undefined
  return { row: await made.store(ctx, { bytes, type, forMs: mediaLinkMs }) }
}

/** Paid by the seconds that the upstream says it made, at most those that were asked for. */
function landing(
  ctx: AppContext,
  { input }: Film,
  { data, answer, film }: { data: VideoJobData; answer: Answer; film: Kept },
): Outcome {
  const price = readPrice(data.price)
  if ('error' in price) throw new Error(price.error)
  const limits = { prompt: 0, completion: 0, seconds: input.seconds }
  const told = readUsage({ seconds: Number(answer.seconds ?? Number.NaN) }, limits)
  const isTold = told !== undefined && told.seconds > 0
  const seconds = isTold ? told.seconds : input.seconds
  const estimated = isTold ? told.estimated : answer.seconds !== undefined
  const usage = createUsage({ seconds, images: 1, estimated })
  const charge = chargeOf(price, usage)
  return {
    end: 'done',
    record: async (db, job) => {
      if ('row' in film) await made.insert(db, [film.row])
      for (const hold of await listOpenHolds(db, job.id)) {
        await settleHold(ctx, db, hold, charge, (_db, { charged }) =>
          noteUse(ctx, db, { ...job, charged }, 'completed', usage),
        )
      }
      return 'url' in film ? film : { made: film.row.id }
    },
  }
}

/** The film's row of the history. */
async function noteUse(
  { clock }: AppContext,
  db: Db,
  job: Job,
  status: 'completed' | 'failed',
  usage: Usage,
): Promise<void> {
  const { model: wanted, requestId, source }: VideoJobInput = Object(job.input)
  const making: Partial<VideoJobData> = Object(job.data)
  const { model = wanted } = making
  const price = making.price && readPrice(making.price)
  await insertUse(db, {
    account: job.owner,
    requestId,
    at: clock.now(),
    model,
    type: 'video',
    source,
    status,
    upstream: making.upstream ?? null,
    price: price && 'id' in price ? price.id : null,
    ...usageCounts(usage),
    charged: job.charged,
    held: job.price,
    ms: clock.now() - job.created,
    firstByteMs: null,
  })
}
