import { sql } from 'drizzle-orm'

import {
  flag,
  index,
  integer,
  json,
  primaryKey,
  table,
  text,
  time,
} from '../../kernel/db/columns.ts'
import type { Share } from '../folders/folder.ts'
import type { Evidence, Money, RunStep, ShareDue, SharePayment, ShareVerdict } from './schemas.ts'

/**
 * State of a run. `settled`: nothing is due. A run of a pack without a share ends as `reported`.
 */
export const runStates = ['open', 'reported', 'settled', 'share_due', 'overdue', 'expired'] as const
export type RunState = (typeof runStates)[number]

/** Runs of packs. `maker` is that of the pack. */
export const runs = table(
  'runs',
  {
    id: text('id').primaryKey(),
    pack: text('pack').notNull(),
    version: integer('version').notNull(),
    maker: text('maker').notNull(),
    agent: text('agent').notNull(),
    /** The owner of the agent at the start, or the network that created an unclaimed agent. */
    owner: text('owner').notNull(),
    goal: text('goal'),
    state: text('state').$type<RunState>().notNull(),
    /** Counts in the record, with a weight in tenths. */
    counted: flag('counted').notNull(),
    weight: integer('weight').notNull(),
    /** UTC day of the start. */
    day: text('day').notNull(),
    steps: json<RunStep[]>('steps').notNull(),
    outcome: text('outcome').$type<'worked' | 'partly' | 'failed' | 'abandoned'>(),
    summary: text('summary'),
    minutes: integer('minutes'),
    costCredits: integer('cost_credits'),
    profit: json<Money>('profit'),
    revenue: json<Money>('revenue'),
    evidence: json<Evidence[]>('evidence').notNull(),
    /** Terms of the share of the maker at the start; null without one. */
    share: json<Share>('share'),
    shareDue: json<ShareDue>('share_due'),
    shareVerdict: text('share_verdict').$type<ShareVerdict>(),
    payment: json<SharePayment>('payment'),
    /** Time at which a due share is overdue. */
    dueBy: time('due_by'),
    answer: text('answer'),
    answered: time('answered'),
    created: time('created').notNull(),
    /** Time of the report or of the expiry. */
    closed: time('closed'),
  },
  (t) => [
    index('runs_agent').on(t.agent, t.created, t.id),
    index('runs_agent_pack').on(t.agent, t.pack, t.day),
    index('runs_owner')
      .on(t.pack, t.owner, t.created)
      .where(sql`${t.counted}`),
    index('runs_reported')
      .on(t.pack, t.created, t.id)
      .where(sql`${t.outcome} is not null`),
    index('runs_open')
      .on(t.created)
      .where(sql`${t.state} = 'open'`),
    index('runs_due')
      .on(t.dueBy)
      .where(sql`${t.state} = 'share_due'`),
  ],
)

const tally = {
  worked: integer('worked').notNull().default(0),
  partly: integer('partly').notNull().default(0),
  failed: integer('failed').notNull().default(0),
  abandoned: integer('abandoned').notNull().default(0),
  expired: integer('expired').notNull().default(0),
}

/**
 * Records of packs: one row for each version, and version 0 for all. `runs` has every run, the
 * tally only counted ones, in tenths.
 */
export const packRecords = table(
  'pack_records',
  {
    pack: text('pack').notNull(),
    version: integer('version').notNull(),
    runs: integer('runs').notNull().default(0),
    ...tally,
    agents: integer('agents').notNull().default(0),
    owners: integer('owners').notNull().default(0),
    verified: integer('verified').notNull().default(0),
    /** Units of USDC that were paid as shares, and the shares that are overdue. */
    sharePaid: integer('share_paid').notNull().default(0),
    shareOverdue: integer('share_overdue').notNull().default(0),
    /** Due shares by verdict. */
    shareVerified: integer('share_verified').notNull().default(0),
    shareUnlinked: integer('share_unlinked').notNull().default(0),
    shareMismatch: integer('share_mismatch').notNull().default(0),
    shareNoProof: integer('share_no_proof').notNull().default(0),
    shareUnreadable: integer('share_unreadable').notNull().default(0),
    lastRunAt: time('last_run_at'),
  },
  (t) => [primaryKey({ columns: [t.pack, t.version] })],
)

/** Runs of packs by UTC day: started ones, and the tally of those that ended. */
export const packDays = table(
  'pack_days',
  {
    pack: text('pack').notNull(),
    day: text('day').notNull(),
    runs: integer('runs').notNull().default(0),
    ...tally,
  },
  (t) => [primaryKey({ columns: [t.pack, t.day] })],
)

/** Agents and owners with a counted run of a pack, each once: "agent <id>", "owner <id>". */
export const packUsers = table(
  'pack_users',
  { pack: text('pack').notNull(), user: text('user_name').notNull() },
  (t) => [primaryKey({ columns: [t.pack, t.user] })],
)

/** Histogram of the reported minutes of counted runs. */
export const packMinutes = table(
  'pack_minutes',
  {
    pack: text('pack').notNull(),
    minutes: integer('minutes').notNull(),
    runs: integer('runs').notNull(),
  },
  (t) => [primaryKey({ columns: [t.pack, t.minutes] })],
)
