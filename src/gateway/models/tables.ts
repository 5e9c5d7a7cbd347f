import {
  flag,
  index,
  integer,
  nano,
  primaryKey,
  table,
  text,
  time,
  uniqueIndex,
} from '../../kernel/db/columns.ts'
import { zero } from '../../kernel/money.ts'

/**
 * The usage history: one row per request that reached a model, without its bodies. `number` counts
 * from 1 per account, `modelNumber` per account and model, both without gaps. `at` never decreases
 * within an account.
 */
export const uses = table(
  'uses',
  {
    account: text('account').notNull(),
    number: integer('number').notNull(),
    model: text('model').notNull(),
    modelNumber: integer('model_number').notNull(),
    id: text('id').notNull(),
    requestId: text('request_id').notNull(),
    at: time('at').notNull(),
    type: text('type').notNull(),
    source: text('source').$type<'api' | 'web' | 'build'>().notNull(),
    status: text('status').notNull(),
    /** The error of a failed call; null for others and for older rows. */
    error: text('error'),
    upstream: text('upstream'),
    /** The prefix of the key that made the call; null for the web and for older rows. */
    key: text('key'),
    price: text('price'),
    input: integer('input').notNull(),
    cached: integer('cached').notNull(),
    output: integer('output').notNull(),
    reasoning: integer('reasoning').notNull(),
    searches: integer('searches').notNull(),
    estimated: flag('estimated').notNull(),
    charged: nano('charged').notNull(),
    held: nano('held').notNull(),
    ms: integer('ms').notNull(),
    firstByteMs: integer('first_byte_ms'),
  },
  (t) => [
    primaryKey({ columns: [t.account, t.number] }),
    uniqueIndex('uses_model').on(t.account, t.model, t.modelNumber),
  ],
)

/**
 * Totals per account (`model` and `day` are ''), per model, and per model and UTC day. The counts
 * of the first two number the history.
 */
export const useCounts = table(
  'use_counts',
  {
    account: text('account').notNull(),
    day: text('day').notNull().default(''),
    model: text('model').notNull(),
    count: integer('count').notNull(),
    charged: nano('charged').notNull().default(zero),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.account, t.day, t.model] }), index('use_counts_day').on(t.day)],
)
