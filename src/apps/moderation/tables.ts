import { sql } from 'drizzle-orm'

import { index, table, text, time } from '../../kernel/db/columns.ts'
import type { ReportReason } from './reasons.ts'

/** Reports to the operator. `from` is a keyed hash of the address. */
export const reports = table(
  'reports',
  {
    id: text('id').primaryKey(),
    /** '' for a report about a person. */
    app: text('app').notNull(),
    /** The person whose page it is about. */
    person: text('person'),
    reason: text('reason').$type<ReportReason>().notNull(),
    text: text('text').notNull(),
    /** Contact of the reporter, as entered. */
    contact: text('contact'),
    from: text('sender').notNull(),
    at: time('at').notNull(),
    /** Time of the decision about the app; its own time for a repeat of an open report. */
    handled: time('handled'),
  },
  (t) => [
    index('reports_sender').on(t.from, t.at),
    index('reports_at').on(t.at),
    index('reports_waiting')
      .on(t.at, t.id)
      .where(sql`${t.handled} is null`),
    index('reports_open')
      .on(t.app, t.at)
      .where(sql`${t.handled} is null`),
  ],
)
