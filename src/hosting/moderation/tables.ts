import { sql } from 'drizzle-orm'

import { index, table, text, time, uniqueIndex } from '../../db/columns.ts'
import type { ReportReason } from '../reports/reasons.ts'

/** What people told the operator about an app; `from` is a keyed hash of their address. */
export const reports = table(
  'reports',
  {
    id: text('id').primaryKey(),
    app: text('app').notNull(),
    reason: text('reason').$type<ReportReason>().notNull(),
    text: text('text').notNull(),
    /** Where the reporter may be asked, in the reporter's own words. */
    contact: text('contact'),
    from: text('sender').notNull(),
    at: time('at').notNull(),
    /** When the operator decided about the app. */
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

/** A maker's word against a takedown or a hold; one for each, whose moment is `against`. */
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

/** What was decided about apps and agents, by whom and why. Rows are only added, and expire. */
export const audit = table(
  'audit',
  {
    id: text('id').primaryKey(),
    at: time('at').notNull(),
    /** Who: the operator's name, "reports" or "scan". */
    by: text('by').notNull(),
    /** What: "takedown", "hold", "suspend" ... */
    did: text('did').notNull(),
    /** An app's id, an agent's @handle, or the hash of a page. */
    item: text('item').notNull(),
    why: text('why').notNull(),
  },
  (t) => [index('audit_at').on(t.at, t.id), index('audit_item').on(t.item, t.at)],
)
