import { expect, test } from 'bun:test'

import { startTestServer } from '../../testing/fixtures/test-server.ts'

test.each([
  ['REQUESTS_PER_MINUTE', '/api/on'],
  ['GATEWAY_REQUESTS_PER_MINUTE', '/v1/models'],
] as const)('%s is reported by the headers of the IETF draft', async (setting, path) => {
  const ctx = await startTestServer({ [setting]: '3' })
  for (const left of [2, 1, 0, 0]) {
    const { headers } = await ctx.request('GET', path)
    expect(headers.get('ratelimit-policy')).toBe('"address";q=3;w=60')
    expect(headers.get('ratelimit')).toMatch(new RegExp(`^"address";r=${left};t=\\d+$`))
  }
  await ctx.close()
  const unlimited = await startTestServer()
  expect((await unlimited.request('GET', path)).headers.has('ratelimit')).toBe(false)
  await unlimited.close()
})
