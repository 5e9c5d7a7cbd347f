import { index, table, text, time } from '../../kernel/db/columns.ts'

/** Gateway accounts (document 2, section 2). `id` is the credit_id. */
export const gatewayAccounts = table(
  'gateway_accounts',
  {
    id: text('id').primaryKey(),
    /** Keyed hash of the creator's address, to limit new accounts per address. */
    addressHash: text('made_from').notNull(),
    created: time('created').notNull(),
  },
  (t) => [index('gateway_accounts_made_from').on(t.addressHash, t.created)],
)
