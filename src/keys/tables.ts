import { index, nano, table, text, time } from '../db/columns.ts'

/** API keys. Only the SHA-256 is stored; `prefix` identifies a key in lists and logs. */
export const keys = table(
  'keys',
  {
    prefix: text('prefix').primaryKey(),
    hash: text('hash').notNull().unique(),
    kind: text('kind').$type<'agent' | 'gateway' | 'person'>().notNull(),
    /** The id of the agent, gateway account or person that it acts for. */
    owner: text('owner').notNull(),
    name: text('name'),
    dailyCap: nano('daily_cap'),
    created: time('created').notNull(),
    revoked: time('revoked'),
    /** Set while its owner is suspended: the key is rejected. */
    suspended: time('suspended'),
  },
  (t) => [index('keys_owner').on(t.owner, t.created)],
)
