import {
  flag,
  index,
  integer,
  json,
  primaryKey,
  table,
  text,
  time,
} from '../../kernel/db/columns.ts'
import type { AccountId } from '../../money/ledger/tables.ts'

export const batchStatuses = [
  'validating',
  'in_progress',
  'cancelling',
  'completed',
  'failed',
  'expired',
  'cancelled',
] as const
export type BatchStatus = (typeof batchStatuses)[number]

/** A problem of the input file. */
export interface BatchError {
  code: string
  message: string
  param: string | null
  line: number | null
}

/** Batches of requests from an uploaded file (OpenAI's POST /v1/batches). A job runs each. */
export const batches = table(
  'gateway_batches',
  {
    id: text('id').primaryKey(),
    account: text('account').$type<AccountId>().notNull(),
    /** The key that pays: its owner, and its prefix. */
    owner: text('owner').notNull(),
    key: text('key').notNull(),
    endpoint: text('endpoint').notNull(),
    inputFile: text('input_file').notNull(),
    metadata: json<Record<string, string>>('metadata'),
    status: text('status').$type<BatchStatus>().notNull(),
    total: integer('total').notNull().default(0),
    completed: integer('completed').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    errors: json<BatchError[]>('errors'),
    outputFile: text('output_file'),
    errorFile: text('error_file'),
    created: time('created').notNull(),
    started: time('started'),
    cancelling: time('cancelling'),
    ended: time('ended'),
    expires: time('expires').notNull(),
  },
  (t) => [
    index('gateway_batches_account').on(t.account, t.created, t.id),
    index('gateway_batches_ended').on(t.ended),
  ],
)

/** Results of the lines of a running batch. They move to files when it ends. */
export const batchResults = table(
  'gateway_batch_results',
  {
    batch: text('batch').notNull(),
    line: integer('line').notNull(),
    isError: flag('is_error').notNull(),
    bytes: integer('bytes').notNull(),
    /** The line of the output or error file. */
    result: text('result').notNull(),
  },
  (t) => [primaryKey({ columns: [t.batch, t.line] })],
)
