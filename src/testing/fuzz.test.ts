import { expect, setDefaultTimeout, test } from 'bun:test'

import { startTestServer } from './fixtures/test-server.ts'
import { fuzz } from './openapi/fuzz.ts'

setDefaultTimeout(180_000)

test('generated and hostile requests to all operations get declared responses, and the books stay sound', async () => {
  const server = await startTestServer({ DEMO_MODELS: 'on', RESPONSES_KEPT_DAYS: '1' })
  const { statuses, problems } = await fuzz(server, { seed: 22, requests: 1_500 })
  expect(problems).toEqual([])
  expect(statuses['200'] ?? 0).toBeGreaterThan(200)
  expect(statuses['400'] ?? 0).toBeGreaterThan(200)
  await server.close()
})
