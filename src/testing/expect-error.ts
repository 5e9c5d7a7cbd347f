import { expect } from 'bun:test'

import type { TestResponse, TestServer } from './fixtures/test-server.ts'

/**
 * Makes a call and checks that it fails with this error in the API's envelope. Every row and every
 * stored byte stays as it was.
 */
export async function expectError(
  { snapshot }: TestServer,
  status: number,
  code: string,
  call: () => Promise<TestResponse>,
): Promise<TestResponse> {
  const before = await snapshot()
  const response = await call()
  expect([response.status, response.code]).toEqual([status, code])
  expect(response.headers.get('content-type')).toStartWith('application/json')
  expect(response.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9]{12}$/)
  expect(response.text('error')).toMatch(/\S.{9,}/)
  const wait = Number(response.headers.get('retry-after'))
  if (status === 429 || response.code === 'try_again') expect(wait).toBeGreaterThan(0)
  else expect(wait).toBe(0)
  expect(await snapshot()).toEqual(before)
  return response
}
