import { afterAll, expect, test } from 'bun:test'

import { openAiClient } from '../../testing/clients/openai-client.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
afterAll(() => t.close())

const model = 'demo/moderation'
const send = (body: object) => gus.call('POST', '/v1/moderations', body)

test("OpenAI's client moderates texts, also without a model", async () => {
  const client = openAiClient(t, gus)
  const one = await client.moderations.create({ input: 'I will kill the process' })
  expect(one).toMatchObject({ model, results: [{ flagged: true, categories: { violence: true } }] })
  const two = await client.moderations.create({ model, input: ['Hello', 'You idiot'] })
  expect(two.results.map(({ flagged }) => flagged)).toEqual([false, true])
  const parts = await client.moderations.create({
    input: [
      { type: 'text', text: 'Hello' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ],
  })
  expect(parts.results).toHaveLength(1)
})

test('a moderation has its cost, also without the prefix /v1', async () => {
  const { body, headers } = await gus.call('POST', '/moderations', { model, input: 'Hello' })
  expect(body).toMatchObject({ cost: 2 * 0.000_000_02 })
  expect(headers.get('x-service-cost')).toBe('0.00000004')
})

test('an invalid input gets 400 and costs nothing', async () => {
  const before = await t.snapshot()
  const image = (url: unknown) => [{ type: 'image_url', image_url: { url } }]
  const private_ = image('http://127.0.0.1/a.png')
  for (const input of [undefined, [], 7, [7], [{ type: 'audio' }], image(7)]) {
    const response = await send({ model, input })
    expect([response.status, response.body]).toMatchObject([400, { error: { param: 'input' } }])
  }
  expect((await send({ model, input: private_ })).status).toBe(400)
  expect((await send({ model: 'demo/chat', input: 'x' })).text('error.message')).toContain(
    'POST /v1/chat/completions',
  )
  expect(await t.snapshot()).toEqual(before)
})
