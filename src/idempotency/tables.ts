import { integer, primaryKey, table, text, time } from '../db/columns.ts'

/** The first answer to a request that carried a `ref` or an Idempotency-Key. */
export const answers = table(
  'answers',
  {
    owner: text('owner').notNull(),
    ref: text('ref').notNull(),
    request: text('request').notNull(),
    status: integer('status').notNull(),
    body: text('body').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.owner, t.ref] })],
)
