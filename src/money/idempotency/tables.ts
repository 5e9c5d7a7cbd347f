import { integer, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/**
 * Responses to requests with a `ref` or an Idempotency-Key. `request` is the fingerprint. On
 * PostgreSQL a row with the status 0 is a claim: its `process` runs the request now.
 */
export const storedResponses = table(
  'answers',
  {
    owner: text('owner').notNull(),
    ref: text('ref').notNull(),
    request: text('request').notNull(),
    status: integer('status').notNull(),
    body: text('body').notNull(),
    at: time('at').notNull(),
    process: text('process'),
  },
  (t) => [primaryKey({ columns: [t.owner, t.ref] })],
)
