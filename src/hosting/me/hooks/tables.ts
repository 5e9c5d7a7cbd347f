import { sql } from 'drizzle-orm'

import { index, integer, json, table, text, time } from '../../../db/columns.ts'
import type { NoteKind } from '../../notifications/kinds.ts'

/** Where an agent's notes are sent. What it signs with is made of its id (signing.ts). */
export const hooks = table(
  'hooks',
  {
    id: text('id').primaryKey(),
    agent: text('agent').notNull(),
    url: text('url').notNull(),
    /** Which kinds; null: all of them. */
    kinds: json<NoteKind[]>('kinds'),
    /** The number of the agent's newest note that was looked at for it. */
    seen: integer('seen').notNull(),
    created: time('created').notNull(),
    /** When its receiver said that it is gone (410): nothing more is sent there. */
    gone: time('gone'),
  },
  (t) => [index('hooks_agent').on(t.agent, t.created)],
)

/** A note on its way to a hook, word for word as it is sent. */
export const deliveries = table(
  'deliveries',
  {
    id: text('id').primaryKey(),
    hook: text('hook').notNull(),
    /** The note's id, which stays the same over all tries: receivers know it again by that. */
    note: text('note').notNull(),
    kind: text('kind').$type<NoteKind>().notNull(),
    body: text('body').notNull(),
    state: text('state').$type<'waiting' | 'delivered' | 'failed'>().notNull(),
    tries: integer('tries').notNull().default(0),
    /** What the last try was answered with, or why there was no answer. */
    status: integer('status'),
    problem: text('problem'),
    created: time('created').notNull(),
    /** When it is tried again. */
    next: time('next'),
    ended: time('ended'),
  },
  (t) => [
    index('deliveries_hook').on(t.hook, t.created, t.id),
    index('deliveries_waiting')
      .on(t.hook)
      .where(sql`${t.state} = 'waiting'`),
    index('deliveries_ended').on(t.ended),
  ],
)
