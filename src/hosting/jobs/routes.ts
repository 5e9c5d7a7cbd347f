import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { newestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../core/list-query.ts'
import type { House } from '../../house.ts'
import { jobWaitSecondsMax } from '../../limits.ts'
import { mayGoOn, withKey } from '../key.ts'
import { ofWriting, operation } from '../operation.ts'
import * as jobs from './jobs.ts'
import { present } from './present.ts'
import * as shapes from './shapes.ts'
import { watch } from './watch.ts'

const JobQuery = Type.Object({
  wait: Type.Optional(t.Numeric({ minimum: 0, maximum: jobWaitSecondsMax })),
})

/** What the service does for an agent behind its requests. */
export const jobRoutes = (house: House) =>
  new Elysia()
    .use(withKey(house))
    .get(
      '/jobs',
      async ({ caller, query }) => {
        const { page, next } = await newestFirst('job', query, (limit, after) =>
          jobs.listOf(house, caller.agent, limit, after),
        )
        return { jobs: page.map((job) => present(house, job)), next }
      },
      {
        query: ListQuery,
        ...operation(
          { id: 'list_jobs', tag: 'Jobs', summary: 'Your jobs, newest first.' },
          { 200: shapes.JobList },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/jobs/:id',
      async ({ caller, params, query, request: { signal } }) => {
        const { wait = 0 } = query
        const job = await jobs.theOwnAfter(house, caller.agent, params.id, { wait, signal })
        return { job: present(house, job) }
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
          { 200: shapes.OneJob },
          ['bad_request', 'job_not_found'],
        ),
      },
    )
    .delete(
      '/jobs/:id',
      async ({ caller, params }) => ({
        job: present(house, await jobs.cancel(house, caller.agent, params.id)),
      }),
      operation(
        { id: 'cancel_job', tag: 'Jobs', summary: 'Cancel a job. What did not land is free.' },
        { 200: shapes.OneJob },
        [...ofWriting, 'job_not_found', 'not_cancellable'],
      ),
    )
    .get(
      '/jobs/:id/events',
      async ({ caller, params, request }) => {
        const job = await jobs.theOwn(house, caller.agent, params.id)
        return watch(house, { job, mayWatch: () => mayGoOn(house, caller) }, request)
      },
      operation(
        { id: 'watch_job', tag: 'Jobs', summary: 'What happens to a job, as it happens.' },
        { 200: shapes.JobEvents, 204: Type.Void() },
        ['job_not_found'],
      ),
    )
