import type { AppContext } from '../server/context.ts'

/** Counts how often a transaction runs again. PostgreSQL asks for a retry after a deadlock. */
export function countRetries({ db }: AppContext): () => number {
  const { tx } = db
  let again = 0
  const counted: typeof tx = (work) => {
    let runs = 0
    return tx((inside) => {
      again += runs === 0 ? 0 : 1
      runs += 1
      return work(inside)
    })
  }
  Object.assign(db, { tx: counted })
  return () => again
}
