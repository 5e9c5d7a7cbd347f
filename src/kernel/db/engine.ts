import { AsyncLocalStorage } from 'node:async_hooks'

import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

/** A drizzle database of either engine, seen through drizzle's async SQLite type. */
export type Db = BaseSQLiteDatabase<'async', unknown>

/** A prepared query of either engine. Values are named by `sql.placeholder('name')`. */
export interface Prepared<Rows> {
  execute(values?: Record<string, unknown>): Promise<Rows>
}

/** Texts of at most 8,000 bytes that the processes of a database send each other. */
export interface Channel {
  publish(payloads: string[]): Promise<void>
  /**
   * Listens on a connection of its own, which reconnects. Calls `onListen` after each connection.
   * Returns the function that ends it; undefined where the database is behind a pooler.
   */
  listen(
    onPayload: (payload: string) => void,
    onListen: () => void,
  ): Promise<(() => Promise<void>) | undefined>
}

/** A database as every module sees it: one handle to read from and one way to write. */
export interface Engine {
  readonly kind: 'sqlite' | 'postgres'
  /** Path of the SQLite file; undefined on PostgreSQL. */
  readonly file: string | undefined
  /** Reads committed rows. The engine rejects writes through this handle. */
  readonly read: Db
  /**
   * Runs `work` as one transaction and resolves after a durable commit. PostgreSQL may run `work`
   * again after a deadlock, so `work` must touch nothing but its `db`. Rejects when `work` throws,
   * when any statement failed (even if the error was caught), or after 5 s. Rejects with
   * `DatabaseBusy` when the database cannot take the write in time. A commit that `isSoft` survives
   * the end of the process, but not a loss of power.
   */
  tx<T>(work: (db: Db) => Promise<T>, isSoft?: boolean): Promise<T>
  /** Number of commits by this process; undefined where other processes write too (PostgreSQL). */
  commits(): number | undefined
  /** Reaches the other processes of the database; undefined on SQLite, which has one. */
  readonly channel?: Channel
  /** Resolves when the database responds; rejects otherwise. */
  ping(): Promise<void>
  close(): Promise<void>
}

type Effect = () => void

const effectsByTransaction = new WeakMap<Db, Effect[]>()

/** Runs `effect` once the transaction of `db` is durable. A rollback drops it. */
export function afterCommit(db: Db, effect: Effect): void {
  effectsByTransaction.get(db)?.push(effect)
}

/**
 * Returns `work` with the effects that it registered. An engine runs them after the commit. The
 * work stays in the context of its caller, such as its client, where the engine runs the
 * transactions of several callers.
 */
export function withEffects<T>(work: (db: Db) => Promise<T>) {
  let effects: Effect[] = []
  const inContext = AsyncLocalStorage.snapshot()
  return {
    work: (db: Db): Promise<T> => {
      // The work may run again after a deadlock.
      effects = []
      effectsByTransaction.set(db, effects)
      return inContext(work, db)
    },
    runEffects: (): void => {
      for (const effect of effects) effect()
    },
  }
}
