import { expect, test } from 'bun:test'

import { readVectors } from './operations.ts'

test('vectors are ordered by their index', () => {
  const reported = [
    { index: 1, embedding: [0.5] },
    { index: 0, embedding: [0.25] },
  ]
  const expected = [
    { object: 'embedding', index: 0, embedding: [0.25] },
    { object: 'embedding', index: 1, embedding: [0.5] },
  ]
  expect(readVectors(reported, 2, 'float')).toMatchObject(expected)
  const untold = [{ embedding: [0.25] }, { embedding: [0.5] }]
  expect(readVectors(untold, 2, 'float')).toMatchObject(expected)
})
