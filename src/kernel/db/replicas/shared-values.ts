import { eq, inArray, lt, sql } from 'drizzle-orm'

import { day } from '../../time.ts'
import type { Db, Engine } from '../engine.ts'
import { limitWindows, sharedValues } from './tables.ts'

/** Returns a value that all processes of a PostgreSQL database share. */
export async function readSharedValue(db: Db, name: string): Promise<string | undefined> {
  const [row] = await db
    .select({ value: sharedValues.value })
    .from(sharedValues)
    .where(eq(sharedValues.name, name))
  return row?.value
}

/** Stores a value unless there is one. Returns the stored value, the same for all processes. */
export async function shareFirst(db: Engine, name: string, value: string): Promise<string> {
  if (db.kind === 'sqlite') return value
  const known = await readSharedValue(db.read, name)
  if (known !== undefined) return known
  await db.tx((tx) => tx.insert(sharedValues).values({ name, value }).onConflictDoNothing())
  return (await readSharedValue(db.read, name)) ?? value
}

/** Replaces a value. Processes that read it at their start keep the old one. */
export async function setSharedValue(db: Engine, name: string, value: string): Promise<void> {
  const row = { name, value }
  await db.tx((tx) =>
    tx.insert(sharedValues).values(row).onConflictDoUpdate({ target: sharedValues.name, set: row }),
  )
}

/** Calls to add to the window of a name. `at` is the time of the caller. */
export interface Calls {
  name: string
  calls: number
  windowMs: number
  at: number
}

export type LimitWindow = typeof limitWindows.$inferSelect

/** Adds calls to their windows, and moves windows that have passed. Returns the windows. */
export async function addCalls(db: Db, added: Calls[]): Promise<LimitWindow[]> {
  // Locked in one order, so that two processes cannot deadlock.
  const rows = added.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const windowMs = sql.raw('excluded.window_ms')
  const age = sql`excluded.start - ${limitWindows.start}`
  const isCurrent = sql`${age} < ${windowMs}`
  const isNext = sql`${age} < 2 * ${windowMs}`
  const windows = await db
    .insert(limitWindows)
    .values(
      rows.map(({ name, calls, windowMs: ms, at }) => ({
        name,
        windowMs: ms,
        start: at,
        now: calls,
        before: 0,
      })),
    )
    .onConflictDoUpdate({
      target: limitWindows.name,
      set: {
        start: sql`case when ${isCurrent} then ${limitWindows.start}
          when ${isNext} then ${limitWindows.start} + ${windowMs} else excluded.start end`,
        now: sql`greatest(0, case when ${isCurrent} then ${limitWindows.now} else 0 end
          + excluded.now)`,
        before: sql`case when ${isCurrent} then ${limitWindows.before}
          when ${isNext} then ${limitWindows.now} else 0 end`,
      },
    })
    .returning()
  // A new or moved window to which calls are given back. `excluded.now` has to keep its sign above.
  const negative = windows.flatMap(({ name, now }) => (now < 0 ? [name] : []))
  if (negative.length > 0) {
    await db.update(limitWindows).set({ now: 0 }).where(inArray(limitWindows.name, negative))
  }
  return windows.map((window) => ({ ...window, now: Math.max(0, window.now) }))
}

/** Returns the windows of some names, which may have passed. */
export const findWindows = (db: Db, names: string[]): Promise<LimitWindow[]> =>
  db.select().from(limitWindows).where(inArray(limitWindows.name, names))

/** Deletes windows that passed: the longest is a day. */
export const deleteOldWindows = (db: Db, now: number) =>
  db.delete(limitWindows).where(lt(limitWindows.start, now - 3 * day))
