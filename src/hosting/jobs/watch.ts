import type { AppContext } from '../../context.ts'
import { eventStream } from '../../http/event-stream.ts'
import { second, stopwatch } from '../../core/time.ts'
import type { Job } from '../../jobs/handler.ts'
import { listEventsAfter } from '../../jobs/jobs.ts'
import { jobWatchMs } from '../../limits.ts'
import { presentJobAt } from './present.ts'

const encoder = new TextEncoder()
/** Between two looks at whether the watcher of a silent job may go on; each is told. */
const lookMs = 5 * second

/** The number of the last event that a client has, as it says; else 0. */
const lastSeen = (headers: Headers): number => {
  const said = headers.get('last-event-id') ?? ''
  return /^\d{1,9}$/.test(said) ? Number(said) : 0
}

/** A job, and whether its watcher may go on. */
interface Watched {
  job: Job
  mayWatch(): Promise<boolean>
}

/**
 * What happens to a job after Last-Event-ID, as server-sent events, until it has ended or ten
 * minutes have passed; the client comes again with Last-Event-ID. 204 tells one that has the last
 * event to stay away (WHATWG HTML, section 9.2). It ends for who may watch no more.
 */
export function watch(ctx: AppContext, watched: Watched, request: Request): Response {
  const { job } = watched
  const after = lastSeen(request.headers)
  if (job.ended !== null && after >= job.events) return new Response(null, { status: 204 })
  return eventStream(request, () => eventsOf(ctx, watched, Math.min(after, job.events)))
}

function eventsOf(ctx: AppContext, { job: { id }, mayWatch }: Watched, after: number) {
  const gone = new AbortController()
  const until = stopwatch() + jobWatchMs
  let last = after
  return new ReadableStream<Uint8Array>({
    async pull(out) {
      const wait = { seen: last, ms: lookMs, signal: gone.signal }
      const changed = await ctx.jobs.waitFor(id, wait)
      const job = (await mayWatch()) ? changed : undefined
      const found = job ? await listEventsAfter(ctx, id, last) : []
      if (gone.signal.aborted) return
      // What came after the job was read is told with a later reading of it.
      const news = found.filter(({ number }) => job && number <= job.events)
      const said = job ? news.map((event) => eventText(ctx, job, event)).join('') : ''
      last = news.at(-1)?.number ?? last
      const isOver = !job || (job.ended !== null && last >= job.events)
      if (said !== '' || !isOver) out.enqueue(encoder.encode(said || ': keep-alive\n\n'))
      if (isOver || stopwatch() > until || ctx.jobs.isClosed) out.close()
    },
    cancel: () => gone.abort(),
  })
}

const eventText = (ctx: AppContext, job: Job, event: Parameters<typeof presentJobAt>[2]): string =>
  `id: ${event.number}\ndata: ${JSON.stringify(presentJobAt(ctx, job, event))}\n\n`
