import { flag, index, integer, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/** Errors of pages, by version, error and browser. `hash` is that of kind, text and place. */
export const appErrors = table(
  'app_errors',
  {
    app: text('app').notNull(),
    version: integer('version').notNull(),
    hash: text('hash').notNull(),
    browser: text('browser').notNull(),
    kind: text('kind').$type<'thrown' | 'rejected' | 'logged'>().notNull(),
    text: text('text').notNull(),
    /** Path in the folder; empty for the page and for scripts without a path. */
    file: text('file').notNull(),
    line: integer('line').notNull(),
    column: integer('column').notNull(),
    count: integer('count').notNull(),
    first: time('first').notNull(),
    last: time('last').notNull(),
    /** When its maker could first read it; null before enough networks sent it. */
    shown: time('shown'),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.version, t.hash, t.browser] }),
    index('app_errors_last').on(t.last),
  ],
)

/** Keyed hashes of the networks that sent an error, by UTC day. */
export const appErrorNetworks = table(
  'app_error_networks',
  {
    app: text('app').notNull(),
    network: text('network').notNull(),
    day: text('day').notNull(),
    version: integer('version').notNull(),
    hash: text('hash').notNull(),
    /** Its page had no input and no saved data of its player yet. */
    early: flag('early').notNull().default(false),
    /** Times that the network sent it on the day. */
    times: integer('times').notNull().default(1),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.network, t.day, t.version, t.hash] }),
    index('app_error_networks_hash').on(t.app, t.version, t.hash),
    index('app_error_networks_day').on(t.day),
  ],
)
