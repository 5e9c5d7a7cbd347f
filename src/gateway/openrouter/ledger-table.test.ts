import { afterAll, describe, expect, test } from 'bun:test'

import { fakeText, fakeUsage } from '../../testing/fakes/chat-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'

const messages = [{ role: 'user', content: 'Say hello.' }]
const table = await ChargeTable.open('/api/v1/chat/completions', (model, stream) => ({
  model,
  messages,
  stream,
  max_tokens: 50,
  ...(stream && { stream_options: { include_usage: true } }),
}))
afterAll(() => table.close())

/** All cells run in parallel. */
const waitMs = 30_000
const text = fakeText.join('')

function expectError(body: unknown, { status, code }: Cell): void {
  expect(body).toMatchObject({ error: { code: status, message: expect.any(String) } })
  if (code) expect(body).toMatchObject({ error: { metadata: { error_code: code } } })
}

describe('charges of a chat', () => {
  test.concurrent.each(plain)(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, false, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      expect(response.body).toMatchObject({
        id: expect.stringMatching(/^gen-/),
        provider: name,
        choices: [{ message: { content: text } }],
      })
    },
    waitMs,
  )
})

describe('charges of a stream', () => {
  test.concurrent.each(streamed)(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, true, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      const frames = String(response.body).split('\n\n')
      const data = frames.flatMap((frame) => {
        const [, json] = /^data: ?(\{.*)$/s.exec(frame) ?? []
        return json === undefined ? [] : [JSON.parse(json)]
      })
      expect(new Set(data.map(({ id }) => id)).size).toBe(1)
      if (!cell.event) return expect(String(response.body)).toContain('[DONE]')
      const status = cell.event === 'content_policy_violation' ? 403 : 502
      expect(data.at(-1)).toMatchObject({
        error: { code: status, metadata: { error_code: cell.event } },
      })
      expect(String(response.body)).not.toContain('[DONE]')
    },
    waitMs,
  )
})

test('a generation, the key and the credits have the tokens and the cost of a chat', async () => {
  const { gus: createUser, lastUse } = table.patient
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
