import { expect, test } from 'bun:test'

import { openTestHouse } from './testing/house.ts'
import { greet } from './welcome.ts'

test('a new house that may make nothing says why, in the words of both APIs', async () => {
  const h = await openTestHouse({ KEYS_OPEN: 'invite', DEMO_MODELS: 'on' })
  await greet(h.house, async (request) => h.door(request, '127.0.0.1'))
  const faults = h.lines.flatMap(({ level, error }) => (level === 'fault' ? String(error) : []))
  expect(faults).toEqual([
    expect.stringMatching(/POST \/keys answered \d+: \w[^\n]+/),
    expect.stringMatching(/POST \/accounts\/create answered \d+: \w[^\n]+/),
  ])
  await h.close()
})
