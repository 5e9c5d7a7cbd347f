import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '../../context.ts'
import { pageNewestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import { jobWaitSecondsMax } from '../../limits.ts'
import { callerAuth, isStillAuthorized } from '../authentication.ts'
import { agentOperation, writeErrors } from '../operation.ts'
import * as jobs from './jobs.ts'
import { presentJob } from './present.ts'
import * as schemas from './schemas.ts'
import { watch } from './watch.ts'

const JobQuery = Type.Object({
  wait: Type.Optional(t.Numeric({ minimum: 0, maximum: jobWaitSecondsMax })),
})

/** Background jobs of an agent. */
export const jobRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/jobs',
      async ({ caller, query }) => {
        const { page, next } = await pageNewestFirst('job', query, (limit, after) =>
          jobs.listByAgent(ctx, caller.agent, limit, after),
        )
        return { jobs: page.map((job) => presentJob(ctx, job)), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'list_jobs', tag: 'Jobs', summary: 'List your jobs, newest first.' },
          { 200: schemas.JobListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/jobs/:id',
      async ({ caller, params, query, request: { signal } }) => {
        const { wait = 0 } = query
        const job = await jobs.waitForOwnJob(ctx, caller.agent, params.id, { wait, signal })
        return { job: presentJob(ctx, job) }
      },
      {
        query: JobQuery,
        ...agentOperation(
          {
            id: 'get_job',
            tag: 'Jobs',
            mcp: 5,
            summary: 'Read a job.',
            description:
              'With wait it responds when the job changes, or after that many seconds. Failed work ' +
              'is not charged.',
          },
          { 200: schemas.JobResponseSchema },
          ['bad_request', 'not_found', 'job_not_found'],
        ),
      },
    )
    .delete(
      '/jobs/:id',
      async ({ caller, params }) => ({
        job: presentJob(ctx, await jobs.cancelJob(ctx, caller.agent, params.id)),
      }),
      agentOperation(
        { id: 'cancel_job', tag: 'Jobs', summary: 'Cancel a job. Unfinished work is not charged.' },
        { 200: schemas.JobResponseSchema },
        [...writeErrors, 'not_found', 'job_not_found', 'not_cancellable'],
      ),
    )
    .get(
      '/jobs/:id/events',
      async ({ caller, params, request }) => {
        const job = await jobs.getOwnJob(ctx, caller.agent, params.id)
        return watch(ctx, { job, mayWatch: () => isStillAuthorized(ctx, caller) }, request)
      },
      agentOperation(
        { id: 'watch_job', tag: 'Jobs', summary: 'Stream the events of a job.' },
        { 200: schemas.JobEventsSchema, 204: Type.Void() },
        ['not_found', 'job_not_found', 'busy'],
      ),
    )
