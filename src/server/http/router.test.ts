import { expect, test } from 'bun:test'

import { respondStarting } from './router.ts'

test('during the start, both APIs return their own try_again error', async () => {
  const readText = async (path: string) => {
    const response = await respondStarting(new Request(`http://localhost${path}`), '127.0.0.1')
    expect(response.headers.get('retry-after')).toBe('1')
    expect(response.status).toBe(503)
    return response.text()
  }
  expect(JSON.parse(await readText('/api/me'))).toMatchObject({ code: 'try_again' })
  expect(JSON.parse(await readText('/v1/chat/completions'))).toMatchObject({
    error: { type: 'api_error', code: null },
  })
  expect(await readText('/openai/v1/models')).toBe(await readText('/v1/models'))
  expect(await readText('/healthz')).toBe('Starting.')
})
