import type { AppContext } from '../context.ts'

const last = new WeakMap<AppContext, Promise<unknown>>()

/**
 * Runs work on the stored files when the work before it has ended: no sweep removes a file that a
 * backup is about to copy.
 */
export function inTurn<T>(ctx: AppContext, work: () => Promise<T>): Promise<T> {
  const turn = (last.get(ctx) ?? Promise.resolve()).then(work)
  last.set(
    ctx,
    turn.catch(() => undefined),
  )
  return turn
}
