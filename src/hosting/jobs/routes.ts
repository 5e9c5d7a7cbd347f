import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '../../context.ts'
import { newestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../core/list-query.ts'
import { jobWaitSecondsMax } from '../../limits.ts'
import { mayGoOn, withKey } from '../key.ts'
import { ofWriting, operation } from '../operation.ts'
import * as jobs from './jobs.ts'
import { present } from './present.ts'
import * as schemas from './schemas.ts'
import { watch } from './watch.ts'

const JobQuery = Type.Object({
  wait: Type.Optional(t.Numeric({ minimum: 0, maximum: jobWaitSecondsMax })),
})

/** What the service does for an agent behind its requests. */
export const jobRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .get(
      '/jobs',
      async ({ caller, query }) => {
        const { page, next } = await newestFirst('job', query, (limit, after) =>
          jobs.listOf(ctx, caller.agent, limit, after),
        )
        return { jobs: page.map((job) => present(ctx, job)), next }
      },
      {
        query: ListQuery,
        ...operation(
          { id: 'list_jobs', tag: 'Jobs', summary: 'Your jobs, newest first.' },
          { 200: schemas.JobList },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/jobs/:id',
      async ({ caller, params, query, request: { signal } }) => {
        const { wait = 0 } = query
        const job = await jobs.theOwnAfter(ctx, caller.agent, params.id, { wait, signal })
        return { job: present(ctx, job) }
      },
      {
        query: JobQuery,
        ...operation(
          {
            id: 'get_job',
            tag: 'Jobs',
            summary: 'How a job stands.',
            more:
              'With wait it answers as soon as the job changes, or after so many seconds. Nothing ' +
              'that failed is charged.',
          },
          { 200: schemas.OneJob },
          ['bad_request', 'job_not_found'],
        ),
      },
    )
    .delete(
      '/jobs/:id',
      async ({ caller, params }) => ({
        job: present(ctx, await jobs.cancel(ctx, caller.agent, params.id)),
      }),
      operation(
        { id: 'cancel_job', tag: 'Jobs', summary: 'Cancel a job. What did not land is free.' },
        { 200: schemas.OneJob },
        [...ofWriting, 'job_not_found', 'not_cancellable'],
      ),
    )
    .get(
      '/jobs/:id/events',
      async ({ caller, params, request }) => {
        const job = await jobs.theOwn(ctx, caller.agent, params.id)
        return watch(ctx, { job, mayWatch: () => mayGoOn(ctx, caller) }, request)
      },
      operation(
        { id: 'watch_job', tag: 'Jobs', summary: 'What happens to a job, as it happens.' },
        { 200: schemas.JobEvents, 204: Type.Void() },
        ['job_not_found'],
      ),
    )
