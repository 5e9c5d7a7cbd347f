import { index, integer, json, primaryKey, table, text, time } from '../../kernel/db/columns.ts'
import type { Json } from '../../kernel/schema.ts'
import type { AccountId } from '../../money/ledger/tables.ts'

/** On PostgreSQL: items of the last hour that clients send back by id, to any server. */
export const sharedItems = table(
  'response_items',
  {
    account: text('account').$type<AccountId>().notNull(),
    id: text('id').notNull(),
    item: json<Json>('item').notNull(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.account, t.id] }), index('response_items_at').on(t.at)],
)

/**
 * Responses that clients continue or read again (`store`). A row has the items of its own request;
 * `previous` names the response with the conversation before them.
 */
export const storedResponses = table(
  'gateway_responses',
  {
    account: text('account').$type<AccountId>().notNull(),
    id: text('id').notNull(),
    created: time('created').notNull(),
    /** Last use: of the response itself, or of one that continues it. */
    used: time('used').notNull(),
    bytes: integer('bytes').notNull(),
    previous: text('previous'),
    /** The items of the request, each with an id. */
    input: json<Json[]>('input').notNull(),
    response: json<Json>('response').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.account, t.id] }),
    index('gateway_responses_account').on(t.account, t.used, t.id, t.bytes),
    index('gateway_responses_used').on(t.used),
  ],
)
