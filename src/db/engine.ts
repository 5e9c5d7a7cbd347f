import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

/** A drizzle database of either engine, seen through drizzle's async SQLite type. */
export type Db = BaseSQLiteDatabase<'async', unknown>

/** What both engines' prepared queries can do. Values are named by `sql.placeholder('name')`. */
export interface Prepared<Rows> {
  execute(values?: Record<string, unknown>): Promise<Rows>
}

/** What the rooms know of a database: a place to read, and one way to write. */
export interface Engine {
  readonly kind: 'sqlite' | 'postgres'
  /** The file of a SQLite database. */
  readonly file: string | undefined
  /** Reads what is committed. Writing through it is refused by the engine. */
  readonly read: Db
  /**
   * Runs `work` as one unit: all of it is kept, durably, before the promise answers, or none of it.
   * On PostgreSQL it may be run again after a deadlock, so `work` touches nothing but its `db`.
   * It fails when `work` throws, when any of its statements failed (even if that was caught), or
   * when it takes longer than 5 s. Rejects with Busy (fault.ts) when the database has no time.
   */
  tx<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** How often this process has committed; undefined where others write to the database too. */
  commits(): number | undefined
  /** Answers when the database does; throws otherwise. */
  ping(): Promise<void>
  close(): Promise<void>
}
