import { sql } from 'drizzle-orm'

import {
  index,
  integer,
  json,
  nano,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../kernel/db/columns.ts'
import { zero } from '../kernel/money.ts'

export const endStates = ['done', 'failed', 'cancelled'] as const
export type EndState = (typeof endStates)[number]
export type JobState = 'queued' | 'running' | EndState

export const queues = ['builds', 'assets', 'media', 'hooks', 'covers', 'batches'] as const
export type Queue = (typeof queues)[number]

/** Failure of a job: an error code and a message. */
export interface Failure {
  code: string
  error: string
}

export type JobResult = Record<string, string | number | boolean | null>

/** Background jobs. A job without a lease may be claimed once `due` has passed. */
export const jobs = table(
  'jobs',
  {
    id: text('id').primaryKey(),
    kind: text('kind').notNull(),
    queue: text('lane').$type<Queue>().notNull(),
    owner: text('owner').notNull(),
    /** Network of the client, until the job has ended: see Client. Null for the server itself. */
    network: text('network'),
    item: text('item'),
    /** Unique among open jobs. */
    slot: text('slot'),
    state: text('state').$type<JobState>().notNull(),
    step: text('step'),
    /** Percent. */
    progress: integer('progress').notNull().default(0),
    /** Input, and data that a later run resumes from. */
    input: json<unknown>('input').notNull(),
    data: json<unknown>('data'),
    price: nano('price').notNull(),
    charged: nano('charged').notNull().default(zero),
    result: json<JobResult>('result'),
    error: json<Failure>('error'),
    lease: text('lease'),
    leaseUntil: time('lease_until'),
    due: time('due').notNull(),
    /** Time at which the job ends as timed out. */
    deadline: time('deadline').notNull(),
    /** Number of crashes during the job. */
    interruptions: integer('interruptions').notNull().default(0),
    /** Number of the newest event. */
    events: integer('events').notNull().default(1),
    created: time('created').notNull(),
    started: time('started'),
    ended: time('ended'),
  },
  (t) => [
    index('jobs_due')
      .on(t.queue, t.due)
      .where(sql`${t.ended} is null and ${t.lease} is null`),
    index('jobs_leased')
      .on(t.leaseUntil)
      .where(sql`${t.lease} is not null`),
    index('jobs_waiting')
      .on(t.deadline)
      .where(sql`${t.ended} is null and ${t.lease} is null`),
    uniqueIndex('jobs_slot')
      .on(t.slot)
      .where(sql`${t.ended} is null`),
    index('jobs_open')
      .on(t.owner)
      .where(sql`${t.ended} is null`),
    index('jobs_owner').on(t.owner, t.created, t.id),
    index('jobs_ended').on(t.ended),
  ],
)

/** Snapshots of a job for its watchers, numbered from 1. */
export const events = table(
  'jobs_events',
  {
    job: text('job').notNull(),
    number: integer('number').notNull(),
    at: time('at').notNull(),
    state: text('state').$type<JobState>().notNull(),
    step: text('step'),
    progress: integer('progress').notNull(),
  },
  (t) => [primaryKey({ columns: [t.job, t.number] })],
)
