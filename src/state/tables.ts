import { table, text, time } from '../db/columns.ts'

/**
 * The last change of each setting in the console. The environment and berth.toml win. A value that
 * is null is the default.
 */
export const changedSettings = table('changed_settings', {
  /** The name of the environment variable. */
  name: text('name').primaryKey(),
  value: text('value'),
  /** The value before, for Undo. */
  before: text('before'),
  /** Author: the operator's name. */
  by: text('by').notNull(),
  at: time('at').notNull(),
})
