import { index, table, text, time } from '../../db/columns.ts'

/** A gateway account (document 2, section 2): `id` is its credit_id. */
export const gatewayAccounts = table(
  'gateway_accounts',
  {
    id: text('id').primaryKey(),
    /** A keyed hash of the address it was made from: new accounts are counted by it. */
    madeFrom: text('made_from').notNull(),
    created: time('created').notNull(),
  },
  (t) => [index('gateway_accounts_made_from').on(t.madeFrom, t.created)],
)
