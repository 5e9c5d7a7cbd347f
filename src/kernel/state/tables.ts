import { flag, index, integer, json, primaryKey, table, text, time } from '../db/columns.ts'
import type { LatencyWindow } from '../latencies.ts'

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

/** Conditions that hold now, or whose end was not sent yet, one row each. */
export const alerts = table('alerts', {
  name: text('name').primaryKey(),
  text: text('text').notNull(),
  since: time('since').notNull(),
  /** The last time that a process saw the condition. */
  seen: time('seen').notNull(),
  resolved: time('resolved'),
  /** Its beginning was sent; with `resolved`, its end. */
  isSent: flag('is_sent').notNull(),
  tries: integer('tries').notNull(),
  problem: text('problem'),
})

/**
 * Measurements of the processes of the last day, which the console adds up, by process and window
 * of time.
 */
export const observedWindows = table(
  'observed_windows',
  {
    process: text('process').notNull(),
    /** The name of the measurements: see observations.ts and metrics-history.ts. */
    name: text('name').notNull(),
    /** The beginning of the window. */
    at: time('at').notNull(),
    counts: json<LatencyWindow['counts']>('counts').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.process, t.name, t.at] }),
    index('observed_windows_at').on(t.name, t.at),
  ],
)

/** Measurements of all servers together, by hour, for 90 days. */
export const observedHours = table('observed_hours', {
  /** The beginning of the hour. */
  at: time('at').primaryKey(),
  /** Requests by part of the server, as in a window. */
  traffic: json<LatencyWindow['counts']>('traffic').notNull(),
  /** The other measurements: see metrics-history.ts. */
  totals: json<LatencyWindow['counts']>('totals').notNull(),
})
