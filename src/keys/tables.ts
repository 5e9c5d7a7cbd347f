import { index, nano, table, text, time } from '../db/columns.ts'

/** A key of either API. Only its SHA-256 is kept; `prefix` is shown in lists and in the log. */
export const keys = table(
  'keys',
  {
    prefix: text('prefix').primaryKey(),
    hash: text('hash').notNull().unique(),
    kind: text('kind').$type<'agent' | 'gateway' | 'person'>().notNull(),
    /** The id of the agent, gateway account or person it acts for. */
    owner: text('owner').notNull(),
    name: text('name'),
    dailyCap: nano('daily_cap'),
    created: time('created').notNull(),
    revoked: time('revoked'),
    /** While its owner is suspended it works nowhere. */
    suspended: time('suspended'),
  },
  (t) => [index('keys_owner').on(t.owner, t.created)],
)
