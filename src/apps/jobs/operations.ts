import { Type } from '@sinclair/typebox'
import { t } from 'elysia'

import type { Job } from '../../jobs/handlers.ts'
import * as jobs from '../../jobs/jobs.ts'
import { listEventsAfter } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { pageNewestFirst, type PagePosition } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { Events, nothing, type Special } from '../../kernel/http/outcome.ts'
import { idPattern } from '../../kernel/ids.ts'
import { jobWaitSecondsMax, jobWatchMs } from '../../kernel/limits.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { agent, agentKey, isStillAuthorized } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import * as schemas from './schemas.ts'
import { jobKinds, presentJob, presentJobAt } from './schemas.ts'

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

const operation = operationsOf('Jobs')

const JobQuery = Type.Object({
  wait: Type.Optional(t.Numeric({ minimum: 0, maximum: jobWaitSecondsMax })),
})

const listJobs = operation({
  id: 'list_jobs',
  route: 'GET /jobs',
  summary: 'List your jobs, newest first.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: schemas.JobListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller, query }) {
    const { page, next } = await pageNewestFirst('job', query, (limit, after) =>
      listByAgent(ctx, caller.agent, limit, after),
    )
    return { jobs: page.map((job) => presentJob(ctx, job)), next }
  },
})

const getJob = operation({
  id: 'get_job',
  route: 'GET /jobs/:id',
  mcp: 5,
  summary: 'Read a job.',
  description:
    'With wait it responds when the job changes, or after that many seconds. Failed work ' +
    'is not charged.',
  access: agent,
  input: { query: JobQuery },
  output: { 200: schemas.JobResponseSchema },
  errors: ['bad_request', 'not_found', 'job_not_found'],
  async run(ctx, { caller, params, query: { wait = 0 }, signal }) {
    const job = await waitForOwnJob(ctx, caller.agent, params.id, { wait, signal })
    return { job: presentJob(ctx, job) }
  },
})

export const cancelJob = operation({
  id: 'cancel_job',
  route: 'DELETE /jobs/:id',
  summary: 'Cancel a job. Unfinished work is not charged.',
  access: agent,
  output: { 200: schemas.JobResponseSchema },
  errors: [...writeErrors, 'not_found', 'job_not_found', 'not_cancellable'],
  run: async (ctx, { caller, params }) => ({
    job: presentJob(ctx, await cancelOwnJob(ctx, caller.agent, params.id)),
  }),
})

const watchJob = operation({
  id: 'watch_job',
  route: 'GET /jobs/:id/events',
  summary: 'Stream the events of a job.',
  access: agentKey,
  output: { 200: schemas.JobEventsSchema, 204: Type.Void() },
  errors: ['not_found', 'job_not_found', 'busy'],
  async run(ctx, { caller, params, headers }) {
    const job = await getOwnJob(ctx, caller.agent, params.id)
    return watch(ctx, { job, mayWatch: () => isStillAuthorized(ctx, caller) }, headers)
  },
})

/** Background jobs of an agent. */
export const jobOperations = [listJobs, getJob, cancelJob, watchJob]

const kinds: string[] = [...jobKinds]

/** Returns a job of this agent. Throws `job_not_found`. */
async function getOwnJob(ctx: AppContext, agent: Agent, id: string): Promise<Job> {
  const job = idPattern.test(id) ? await jobs.findJob(ctx, id) : undefined
  if (job && job.owner === agentAccount(agent.id) && kinds.includes(job.kind)) return job
  throw new ApiError('job_not_found')
}

/** Returns a job when it changes, or after `wait` seconds. Throws `job_not_found`. */
async function waitForOwnJob(
  ctx: AppContext,
  agent: Agent,
  id: string,
  { wait, signal }: { wait: number; signal: AbortSignal },
): Promise<Job> {
  const job = await getOwnJob(ctx, agent, id)
  if (wait === 0) return job
  const { events: seen } = job
  return (await ctx.jobs.waitFor(id, { seen, ms: wait * second, signal })) ?? job
}

/** Returns an agent's jobs after a cursor, newest first. */
const listByAgent = (
  ctx: AppContext,
  agent: Agent,
  limit: number,
  after?: PagePosition,
): Promise<Job[]> => jobs.listJobs(ctx, agentAccount(agent.id), { kinds, limit, after })

/** Cancels an open job without charge. Throws `job_not_found` and `not_cancellable`. */
async function cancelOwnJob(ctx: AppContext, agent: Agent, id: string): Promise<Job> {
  await getOwnJob(ctx, agent, id)
  const job = await ctx.jobs.cancel(id)
  if (job) return job
  throw new ApiError('not_cancellable')
}
