import type { House } from '../house.ts'

const last = new WeakMap<House, Promise<unknown>>()

/**
 * Runs work on the stored files when the work before it has ended: no sweep removes a file that a
 * backup is about to copy.
 */
export function inTurn<T>(house: House, work: () => Promise<T>): Promise<T> {
  const turn = (last.get(house) ?? Promise.resolve()).then(work)
  last.set(
    house,
    turn.catch(() => undefined),
  )
  return turn
}
