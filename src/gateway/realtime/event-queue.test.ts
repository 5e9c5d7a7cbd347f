import { expect, test } from 'bun:test'

import { EventQueue } from './session.ts'

test('a queue pauses its source while too much waits, and keeps the order', async () => {
  const calls: string[] = []
  const written = Promise.withResolvers<void>()
  const { promise: reader, resolve: read } = Promise.withResolvers<void>()
  const source = { pause: () => void calls.push('pause'), resume: () => void calls.push('resume') }
  const queue = new EventQueue(source, async (text) => {
    await reader
    if (calls.push(text.slice(0, 1)) === 5) written.resolve()
  })
  for (const letter of ['a', 'b', 'c']) queue.push(letter.repeat(600_000))
  expect(calls).toEqual(['pause'])
  read()
  await written.promise
  expect(calls).toEqual(['pause', 'a', 'resume', 'b', 'c'])
})
