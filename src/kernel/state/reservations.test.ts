import { expect, test } from 'bun:test'

import { catchError } from '../../testing/catch-error.ts'
import { type Addition, Reservations, withReservation } from './reservations.ts'

const none = async (): Promise<void> => undefined
const one = { rows: 1, bytes: 10 }

test('the check of an owner does not wait for that of another', async () => {
  const reservations = new Reservations()
  const slow = Promise.withResolvers<void>()
  const first = withReservation(
    reservations.begin('ann', one, () => slow.promise),
    none,
  )
  await withReservation(reservations.begin('ben', one, none), none)
  slow.resolve()
  await first
  expect(reservations.size).toBe(0)
})

test('a check counts the running writes of its owner, and failed ones are forgotten', async () => {
  const reservations = new Reservations()
  const write = Promise.withResolvers<void>()
  const seen: Addition[] = []
  const see = async (others: Addition): Promise<void> => void seen.push(others)
  const running = withReservation(reservations.begin('ann', one, see), () => write.promise)
  const failed = new Error('full')
  const rejectAll = async (others: Addition): Promise<void> => {
    await see(others)
    throw failed
  }
  expect(await catchError(withReservation(reservations.begin('ann', one, rejectAll), none))).toBe(
    failed,
  )
  await withReservation(reservations.begin('ann', one, see), none)
  expect(await catchError(withReservation(reservations.begin('ben', one, rejectAll), none))).toBe(
    failed,
  )
  expect(reservations.size).toBe(1)
  write.resolve()
  await running
  await withReservation(reservations.begin('ann', one, see), none)
  expect(seen).toEqual([
    { rows: 0, bytes: 0 },
    one,
    one,
    { rows: 0, bytes: 0 },
    { rows: 0, bytes: 0 },
  ])
  expect(reservations.size).toBe(0)
})
