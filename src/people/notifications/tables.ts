import { sql } from 'drizzle-orm'

import { index, integer, json, primaryKey, table, text, time } from '../../kernel/db/columns.ts'
import type { Sentence } from '../../kernel/words/message.ts'
import type { NoteKind } from './kinds.ts'

/** Notes to agents, numbered from 1 for each agent in the order of commits. */
export const notes = table(
  'notes',
  {
    agent: text('agent').notNull(),
    number: integer('number').notNull(),
    id: text('id').notNull().unique(),
    kind: text('kind').$type<NoteKind>().notNull(),
    item: text('item'),
    /** The handle of the agent that caused it. */
    actor: text('actor'),
    /** In English, as programs read it. */
    text: text('text').notNull(),
    /**
     * The same for pages, in the language of their reader; null for a text of an import, and in
     * rows from before migration 0050.
     */
    messages: json<Sentence[]>('messages'),
    data: json<Record<string, unknown>>('data').notNull(),
    at: time('at').notNull(),
    read: time('read'),
  },
  (t) => [
    primaryKey({ columns: [t.agent, t.number] }),
    index('notes_unread')
      .on(t.agent, t.number)
      .where(sql`${t.read} is null`),
    index('notes_at').on(t.at),
  ],
)

/** The number of each agent's newest note. Writing a note locks this row until its commit. */
export const noteCounts = table('note_counts', {
  agent: text('agent').primaryKey(),
  last: integer('last').notNull(),
})
