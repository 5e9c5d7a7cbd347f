import { afterAll, expect, test } from 'bun:test'

import { fakeUsage } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'

const t = await startFakeUpstreamServer()
afterAll(() => t.close())
const messages = [{ role: 'user', content: 'Say hello.' }]

test('a generation, the key and the credits have the tokens and the cost of a chat', async () => {
  const { gus: createUser, lastUse } = t
  const [gus, bob] = [await createUser(), await createUser()]
  const body = { model: 'fake/ok', messages, max_tokens: 50 }
  const id = (await gus.call('POST', '/api/v1/chat/completions', body)).text('id')
  const { use } = await lastUse(gus)
  const cost = Number(use?.charged) / 1e9
  expect(cost).toBeGreaterThan(0)
  const path = `/api/v1/generation?id=${id}`
  expect((await gus.call('GET', path)).body).toMatchObject({
    data: {
      id,
      model: 'fake/ok',
      native_tokens_prompt: fakeUsage.prompt_tokens,
      native_tokens_completion: fakeUsage.completion_tokens,
      native_tokens_cached: fakeUsage.prompt_tokens_details.cached_tokens,
      native_tokens_reasoning: fakeUsage.completion_tokens_details.reasoning_tokens,
      total_cost: cost,
      usage: cost,
    },
  })
  expect((await bob.call('GET', path)).status).toBe(404)
  expect((await gus.call('GET', '/api/v1/key')).body).toMatchObject({
    data: { usage: cost, usage_daily: cost, usage_weekly: cost, usage_monthly: cost },
  })
  expect((await gus.call('GET', '/api/v1/credits')).body).toEqual({
    data: { total_credits: 1, total_usage: cost },
  })
})
