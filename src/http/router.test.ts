import { expect, test } from 'bun:test'

import { respondStarting } from './router.ts'

test('while the house opens, both APIs say in their own words to come again in a second', async () => {
  const ask = async (path: string) => {
    const answer = await respondStarting(new Request(`http://localhost${path}`), '127.0.0.1')
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.status).toBe(503)
    return answer.text()
  }
  expect(JSON.parse(await ask('/api/me'))).toMatchObject({ code: 'try_again' })
  expect(JSON.parse(await ask('/v1/chat/completions'))).toMatchObject({
    error: { type: 'api_error', code: null },
  })
  expect(await ask('/healthz')).toBe('Starting.')
})
