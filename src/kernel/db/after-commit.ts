import { AsyncLocalStorage } from 'node:async_hooks'

import type { Db } from './engine.ts'

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
