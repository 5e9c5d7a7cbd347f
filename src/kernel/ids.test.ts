import { expect, test } from 'bun:test'

import { newOrderedId } from './ids.ts'

test('ordered ids sort by creation, within a millisecond and across', () => {
  const at = Date.UTC(2026, 10, 22)
  const ids = Array.from({ length: 20_000 }, (_, n) => newOrderedId(at + Math.floor(n / 5_000)))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
  expect(ids.every((id) => /^[A-Za-z0-9]{12}$/.test(id))).toBe(true)
})
