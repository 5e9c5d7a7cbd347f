import { expect, test } from 'bun:test'

import { openTestHouse } from '../testing/test-server.ts'
import { greet } from './first-run.ts'

test('a new house that may make no sample says why, in the words of the API', async () => {
  const h = await openTestHouse({ BYTES_PER_AGENT: '5', DEMO_MODELS: 'on' })
  await greet(h.ctx, async (request) => h.door(request, '127.0.0.1'))
  const faults = h.lines.flatMap(({ level, error }) => (level === 'fault' ? String(error) : []))
  expect(faults).toEqual([expect.stringMatching(/POST \/apps answered \d+: \w[^\n]+/)])
  await h.close()
})

test('where keys need an invitation a new house makes nothing, which is no fault', async () => {
  const h = await openTestHouse({ KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'x'.repeat(32) })
  const asked: string[] = []
  const greeting = await greet(h.ctx, async (request) => {
    asked.push(request.url)
    return h.door(request, '127.0.0.1')
  })
  expect(asked).toEqual([])
  expect(h.lines.filter(({ level }) => level === 'fault')).toEqual([])
  expect(greeting).not.toContain('apiKey')
  await h.close()
})

test('a house whose first start was killed is still new, and one that is not shows its sample', async () => {
  const h = await openTestHouse({ DEMO_MODELS: 'on' })
  const send = async (request: Request) => h.door(request, '127.0.0.1')
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  // What was under way when a process died never answers.
  void greet(h.ctx, (request) => {
    if (!request.url.endsWith('/assets/island.png')) return send(request)
    reach()
    return new Promise<never>(() => {})
  })
  await reached
  const second = await greet(h.ctx, send)
  const [link] = /http\S+\/a\/\w{12}/.exec(second) ?? []
  expect(second).toContain(`play         ${link}`)
  expect(second).toMatch(/apiKey: 'gk_/)
  const third = await greet(h.ctx, send)
  expect(third).toContain(`play         ${link}`)
  expect(third).not.toContain('apiKey')
  await h.close()
})
