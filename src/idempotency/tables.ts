import { integer, primaryKey, table, text, time } from '../db/columns.ts'

/** Responses to requests with a `ref` or an Idempotency-Key. `request` is the fingerprint. */
export const storedResponses = table(
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
