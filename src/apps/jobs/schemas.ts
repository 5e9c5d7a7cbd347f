import { type Static, Type } from '@sinclair/typebox'

import {
  IdSchema,
  LinkSchema,
  mediaSchema,
  namedObject,
  nullable,
  oneOf,
  TimeSchema,
} from '../../kernel/schema.ts'

export const jobKinds = ['build', 'assets'] as const
export const jobSteps = ['planning', 'writing', 'checking', 'assets', 'publishing'] as const

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
export type JobBody = Static<typeof JobSchema>

export const JobResponseSchema = Type.Object({ job: JobSchema })
export const JobListSchema = Type.Object({
  jobs: Type.Array(JobSchema),
  next: nullable(Type.String()),
})

/** Server-sent events (WHATWG HTML, section 9.2). */
export const JobEventsSchema = mediaSchema('text/event-stream', {
  description: 'Each event is a snapshot of the Job; its id goes into Last-Event-ID.',
})
