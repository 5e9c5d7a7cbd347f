import type { Job } from '../../jobs/handlers.ts'
import { listEventsAfter } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { Events, nothing, type Special } from '../../kernel/http/outcome.ts'
import { jobWatchMs } from '../../kernel/limits.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import { presentJobAt } from './present.ts'

/** Interval of the permission check and the keep-alive comment. */
const checkMs = 5 * second

const lastSeen = (headers: Headers): number => {
  const value = headers.get('last-event-id') ?? ''
  return /^\d{1,9}$/.test(value) ? Number(value) : 0
}

/** A job and the permission check of its watcher. */
interface WatchedJob {
  job: Job
  mayWatch(): Promise<boolean>
}

/**
 * Streams the events after Last-Event-ID until the job ends, the permission ends, or ten minutes
 * pass. Returns 204 to a client that has the last event, which stops its reconnects (WHATWG HTML,
 * 9.2).
 */
export function watch(ctx: AppContext, target: WatchedJob, headers: Headers): Special {
  const { job } = target
  const after = lastSeen(headers)
  if (job.ended !== null && after >= job.events) return nothing()
  return new Events((ended) => eventsOf(ctx, target, Math.min(after, job.events), ended))
}

async function* eventsOf(
  ctx: AppContext,
  { job: { id }, mayWatch }: WatchedJob,
  after: number,
  ended: AbortSignal,
): AsyncGenerator<string> {
  const until = stopwatch() + jobWatchMs
  let last = after
  for (let isOver = false; !isOver && stopwatch() <= until && !ctx.jobs.isClosed;) {
    const changed = await ctx.jobs.waitFor(id, { seen: last, ms: checkMs, signal: ended })
    const job = (await mayWatch()) ? changed : undefined
    const found = job ? await listEventsAfter(ctx, id, last) : []
    if (ended.aborted) return
    // Events newer than the row are sent with the next read.
    const fresh = found.filter(({ number }) => job && number <= job.events)
    const text = job ? fresh.map((event) => eventText(ctx, job, event)).join('') : ''
    last = fresh.at(-1)?.number ?? last
    isOver = !job || (job.ended !== null && last >= job.events)
    if (text !== '' || !isOver) yield text || ': keep-alive\n\n'
  }
}

const eventText = (ctx: AppContext, job: Job, event: Parameters<typeof presentJobAt>[2]): string =>
  `id: ${event.number}\ndata: ${JSON.stringify(presentJobAt(ctx, job, event))}\n\n`
