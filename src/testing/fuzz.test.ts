import { expect, setDefaultTimeout, test } from 'bun:test'

import { startTestServer } from './fixtures/test-server.ts'
import { fuzz } from './openapi/fuzz.ts'
import { isThorough, testSeed } from './thorough.ts'

setDefaultTimeout(180_000)

/**
 * One for each operation in CI, because properties.test.ts sends others. Each operation also gets
 * its hostile variations.
 */
const requests = isThorough ? 3_000 : 200

test('generated and hostile requests to all operations get declared responses, and the books stay sound', async () => {
  const server = await startTestServer({ DEMO_MODELS: 'on', RESPONSES_KEPT_DAYS: '1' })
  const { statuses, problems } = await fuzz(server, { seed: testSeed, requests })
  expect(problems).toEqual([])
  expect(statuses['200'] ?? 0).toBeGreaterThan(requests / 8)
  expect(statuses['400'] ?? 0).toBeGreaterThan(requests / 8)
  await server.close()
})
