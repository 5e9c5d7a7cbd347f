import { expect, test } from 'bun:test'

import { readVectors } from './vectors.ts'

test('a vector belongs to the input that its index names, whatever comes first', () => {
  const told = [
    { index: 1, embedding: [0.5] },
    { index: 0, embedding: [0.25] },
  ]
  const wanted = [
    { object: 'embedding', index: 0, embedding: [0.25] },
    { object: 'embedding', index: 1, embedding: [0.5] },
  ]
  expect(readVectors(told, 2, 'float')).toMatchObject(wanted)
  const untold = [{ embedding: [0.25] }, { embedding: [0.5] }]
  expect(readVectors(untold, 2, 'float')).toMatchObject(wanted)
})
