import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Job } from '../../jobs/handlers.ts'
import type { JobEvent } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { toCredits } from '../../kernel/money.ts'
import {
  IdSchema,
  LinkSchema,
  mediaSchema,
  namedObject,
  nullable,
  oneOf,
  TimeSchema,
} from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { appUrl } from '../kinds.ts'

export const jobKinds = ['build', 'assets'] as const
const jobSteps = ['planning', 'writing', 'checking', 'assets', 'publishing'] as const

/** An item of a job, charged by itself (docs/spec/agent-api-decisions.md, "Assets"). */
export const JobItemSchema = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  price: Type.Number({ description: 'Maximum price in credits.' }),
  state: oneOf(['held', 'made', 'failed']),
  maker: Type.Optional(Type.String({ description: 'Generator: embedded, or a model.' })),
  code: Type.Optional(
    Type.String({ description: 'Error code of a failed item. It was not charged.' }),
  ),
})
export type JobItem = Static<typeof JobItemSchema>

/** Items that a job stores and shows. */
export const JobItemsSchema = Type.Object({ items: Type.Array(JobItemSchema) })

/** A job of an agent (docs/spec/agent-api-decisions.md, "Jobs"). */
export const JobSchema = namedObject('Job', {
  id: IdSchema,
  kind: oneOf(jobKinds),
  app: nullable(IdSchema),
  state: oneOf(['queued', 'running', 'done', 'failed', 'cancelled']),
  step: nullable(oneOf(jobSteps)),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  price: Type.Number({ description: 'Maximum price in credits.' }),
  charged: Type.Number({ description: 'Charge in credits.' }),
  created: TimeSchema,
  started: nullable(TimeSchema),
  ended: nullable(TimeSchema),
  result: nullable(Type.Object({ app: IdSchema, version: Type.Integer(), link: LinkSchema })),
  items: Type.Optional(Type.Array(JobItemSchema)),
  error: nullable(Type.Object({ code: Type.String(), error: Type.String() })),
})
type JobBody = Static<typeof JobSchema>

export const JobResponseSchema = Type.Object({ job: JobSchema })
export const JobListSchema = Type.Object({
  jobs: Type.Array(JobSchema),
  next: nullable(Type.String()),
})

/** Server-sent events (WHATWG HTML, section 9.2). */
export const JobEventsSchema = mediaSchema('text/event-stream', {
  description: 'Each event is a snapshot of the Job; its id goes into Last-Event-ID.',
})

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
