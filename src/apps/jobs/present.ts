import { Value } from '@sinclair/typebox/value'

import type { Job } from '../../jobs/handlers.ts'
import type { JobEvent } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { toCredits } from '../../kernel/money.ts'
import { iso } from '../../kernel/time.ts'
import { appUrl } from '../app-url.ts'
import { type JobBody, type JobItem, JobItemsSchema, jobKinds, jobSteps } from './schemas.ts'

const findIn = <T extends string>(values: readonly T[], value: string | null): T | undefined =>
  values.find((known) => known === value)

/** Returns the Job record. The result of a handler is `{ version }` of the app of the job. */
export function presentJob(ctx: AppContext, job: Job): JobBody {
  const { id, item, state, result, error, started, ended } = job
  const kind = findIn(jobKinds, job.kind)
  if (!kind) throw new Error(`Jobs of kind ${job.kind} do not belong to agents.`)
  const version = Number(result?.version ?? 0)
  return {
    id,
    kind,
    app: item,
    state,
    step: findIn(jobSteps, job.step) ?? null,
    progress: job.progress / 100,
    price: toCredits(job.price),
    charged: toCredits(job.charged),
    created: iso(job.created),
    started: started === null ? null : iso(started),
    ended: ended === null ? null : iso(ended),
    result: item !== null && version ? { app: item, version, link: appUrl(ctx, item) } : null,
    ...(Value.Check(JobItemsSchema, job.data) && { items: itemsOf(job, job.data.items) }),
    error,
  }
}

/** Marks the unfinished items of an ended job as failed; their holds are released. */
function itemsOf({ state, error, ended }: Job, items: JobItem[]): JobItem[] {
  if (ended === null) return items
  const code = error?.code ?? state
  return items.map((item) => (item.state === 'held' ? { ...item, state: 'failed', code } : item))
}

export function presentJobAt(ctx: AppContext, job: Job, event: JobEvent): JobBody {
  const { state, step, progress } = event
  const now = presentJob(ctx, job)
  if (event.number === job.events && job.ended !== null) return now
  return {
    ...now,
    state,
    step: findIn(jobSteps, step) ?? null,
    progress: progress / 100,
    started: state === 'queued' ? null : now.started,
    charged: 0,
    ended: null,
    result: null,
    error: null,
  }
}
