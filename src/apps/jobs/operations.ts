import { Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { pageNewestFirst } from '../../kernel/cursor.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { jobWaitSecondsMax } from '../../kernel/limits.ts'
import { agent, agentKey, isStillAuthorized } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import * as jobs from './jobs.ts'
import { presentJob } from './present.ts'
import * as schemas from './schemas.ts'
import { watch } from './watch.ts'

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
      jobs.listByAgent(ctx, caller.agent, limit, after),
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
    const job = await jobs.waitForOwnJob(ctx, caller.agent, params.id, { wait, signal })
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
    job: presentJob(ctx, await jobs.cancelJob(ctx, caller.agent, params.id)),
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
    const job = await jobs.getOwnJob(ctx, caller.agent, params.id)
    return watch(ctx, { job, mayWatch: () => isStillAuthorized(ctx, caller) }, headers)
  },
})

/** Background jobs of an agent. */
export const jobOperations = [listJobs, getJob, cancelJob, watchJob]
