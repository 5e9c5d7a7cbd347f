import { sql } from 'drizzle-orm'

import { zero } from '../core/money.ts'
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
} from '../db/columns.ts'

export const endStates = ['done', 'failed', 'cancelled'] as const
export type EndState = (typeof endStates)[number]
export type JobState = 'queued' | 'running' | EndState

export const queues = ['builds', 'assets', 'media', 'hooks'] as const
export type Queue = (typeof queues)[number]

/** Why a job failed: a code for branching, and a sentence. */
export interface Failure {
  code: string
  error: string
}

export type JobResult = Record<string, string | number | boolean | null>

/**
 * Work that outlives its request. A job without a lease whose `due` has come may be claimed; one
 * with a lease is being worked on. What is ended stays as it ended.
 */
export const jobs = table(
  'jobs',
  {
    id: text('id').primaryKey(),
    kind: text('kind').notNull(),
    queue: text('lane').$type<Queue>().notNull(),
    /** Whose it is: an account's id, "agent:<id>". */
    owner: text('owner').notNull(),
    /** What it is about: an app. */
    item: text('item'),
    /** Of the open jobs only one may have a slot. */
    slot: text('slot'),
    state: text('state').$type<JobState>().notNull(),
    step: text('step'),
    /** Percent. */
    progress: integer('progress').notNull().default(0),
    /** What is to be done, and what was kept on the way. */
    input: json<unknown>('input').notNull(),
    data: json<unknown>('data'),
    price: nano('price').notNull(),
    charged: nano('charged').notNull().default(zero),
    result: json<JobResult>('result'),
    error: json<Failure>('error'),
    lease: text('lease'),
    leaseUntil: time('lease_until'),
    due: time('due').notNull(),
    /** When it is given up, wherever it stands. */
    deadline: time('deadline').notNull(),
    /** How often a process died over it. */
    interruptions: integer('interruptions').notNull().default(0),
    /** The number of its newest event. */
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

/** What a job's watcher is told, numbered from 1: each is how it stood then. */
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
