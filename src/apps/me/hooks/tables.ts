import { sql } from 'drizzle-orm'

import { index, integer, json, table, text, time } from '../../../kernel/db/columns.ts'
import type { NoteKind } from '../../../people/notifications/kinds.ts'

/** Webhooks of agents. The signing secret is derived from the id (hooks.ts). */
export const hooks = table(
  'hooks',
  {
    id: text('id').primaryKey(),
    agent: text('agent').notNull(),
    url: text('url').notNull(),
    /** null sends all kinds. */
    kinds: json<NoteKind[]>('kinds'),
    /** The number of the agent's newest note that has been enqueued. */
    seen: integer('seen').notNull(),
    created: time('created').notNull(),
    /** When the receiver answered 410. Nothing more is sent there. */
    gone: time('gone'),
  },
  (t) => [index('hooks_agent').on(t.agent, t.created)],
)

/** A note sent to a hook, with the exact request body. */
export const deliveries = table(
  'deliveries',
  {
    id: text('id').primaryKey(),
    hook: text('hook').notNull(),
    /** The id of the note: the same in all attempts, so receivers can drop duplicates. */
    note: text('note').notNull(),
    kind: text('kind').$type<NoteKind>().notNull(),
    body: text('body').notNull(),
    state: text('state').$type<'waiting' | 'delivered' | 'failed'>().notNull(),
    tries: integer('tries').notNull().default(0),
    /** The status of the last response, or why there was none. */
    status: integer('status'),
    problem: text('problem'),
    created: time('created').notNull(),
    /** When the next attempt starts. */
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
