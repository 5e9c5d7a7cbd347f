import type { Db } from './engine.ts'

type Effect = () => void

const effectsByTransaction = new WeakMap<Db, Effect[]>()

/** Runs `effect` once the transaction of `db` is durable. A rollback drops it. */
export function afterCommit(db: Db, effect: Effect): void {
  effectsByTransaction.get(db)?.push(effect)
}

/** Returns `work` with the effects that it registered. An engine runs them after the commit. */
export function withEffects<T>(work: (db: Db) => Promise<T>) {
  let effects: Effect[] = []
  return {
    work: (db: Db): Promise<T> => {
      // The work may run again after a deadlock.
      effects = []
      effectsByTransaction.set(db, effects)
      return work(db)
    },
    runEffects: (): void => {
      for (const effect of effects) effect()
    },
  }
}
