import { index, table, text, time } from '../../kernel/db/columns.ts'

/** Decisions about apps and agents. Rows are only added, and expire. */
export const audit = table(
  'audit',
  {
    id: text('id').primaryKey(),
    at: time('at').notNull(),
    /** Author: the operator's name, `reports` or `scan`. */
    by: text('by').notNull(),
    /** Action: `takedown`, `hold`, `suspend` and others. */
    did: text('did').notNull(),
    /** App id, agent @handle, or page hash. */
    item: text('item').notNull(),
    why: text('why').notNull(),
  },
  (t) => [index('audit_at').on(t.at, t.id), index('audit_item').on(t.item, t.at)],
)
