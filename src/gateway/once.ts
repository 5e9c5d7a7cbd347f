import type { House } from '../house.ts'
import type { Answer, Work } from '../idempotency/idempotency.ts'
import { endExpired } from './usage/expired.ts'

const ended = new WeakMap<House, Promise<unknown>>()

/**
 * Does paid work once under its Idempotency-Key, `ref`. What the process before this one died over
 * is ended first: who comes again at once must find that it was charged.
 */
export async function once(
  house: House,
  owner: string,
  ref: string | undefined,
  request: unknown,
  work: Work,
): Promise<Answer> {
  if (ref !== undefined) await endTheDead(house)
  return house.idempotency.once(owner, ref, request, work)
}

async function endTheDead(house: House): Promise<void> {
  const ending = ended.get(house) ?? endExpired(house)
  ended.set(house, ending)
  try {
    await ending
  } catch (error) {
    ended.delete(house)
    throw error
  }
}
