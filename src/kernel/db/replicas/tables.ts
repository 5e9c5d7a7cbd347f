import { integer, table, text, time } from '../columns.ts'

/**
 * The servers that use this PostgreSQL database. A row is deleted when its process stops, or when
 * others have not seen it for `deadMs` (presence.ts). Times are those of the database.
 */
export const replicas = table('replicas', {
  /** The id of the process. */
  id: text('id').primaryKey(),
  /** The id of its data folder. */
  folder: text('folder').notNull(),
  version: text('version').notNull(),
  /** Since when it has been seen without a gap. */
  since: time('since').notNull(),
  seen: time('seen').notNull(),
})

/** Work that one process of the database does at a time. */
export const leases = table('leases', {
  name: text('name').primaryKey(),
  process: text('process').notNull(),
  until: time('until').notNull(),
})

/** Calls in the current and the previous window of a limit: see SharedRateLimit. */
export const limitWindows = table('limit_windows', {
  name: text('name').primaryKey(),
  windowMs: integer('window_ms').notNull(),
  start: time('start').notNull(),
  now: integer('now').notNull(),
  before: integer('before').notNull(),
})

/** Values that all processes of a PostgreSQL database share, such as the secret of signed URLs. */
export const sharedValues = table('shared_values', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
})
