import { sql } from 'drizzle-orm'

import { index, table, text, time, uniqueIndex } from '../../kernel/db/columns.ts'

/** Appeals of makers. `against` is the time of the takedown or quarantine. */
export const appeals = table(
  'appeals',
  {
    id: text('id').primaryKey(),
    app: text('app').notNull(),
    maker: text('maker').notNull(),
    against: time('against').notNull(),
    text: text('text').notNull(),
    at: time('at').notNull(),
    state: text('state').$type<'open' | 'granted' | 'denied'>().notNull(),
    answer: text('answer'),
    decided: time('decided'),
  },
  (t) => [
    uniqueIndex('appeals_once').on(t.app, t.against),
    index('appeals_open')
      .on(t.at)
      .where(sql`${t.state} = 'open'`),
  ],
)
