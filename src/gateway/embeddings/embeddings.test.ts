import { afterAll, expect, test } from 'bun:test'

import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel, mediaModels } from '../../testing/fixtures/media-models.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const demo = await startTestServer({ DEMO_MODELS: 'on' })
const unseen = { id: 'embedding/unseen', contextLength: 0 }
const faked = await startFakeUpstreamServer({}, [
  ...mediaModels(),
  { ...mediaModel('embedding', 'embedding-ok'), ...unseen },
])
const gus = await createGatewayUser(demo, '1')
const ned = await faked.gus()
afterAll(async () => {
  await demo.close()
  await faked.close()
})

const model = 'demo/embedding'
const embed = (body: object, path = '/v1/embeddings') => gus.call('POST', path, { model, ...body })
const dataOf = (body: unknown): { embedding: unknown }[] => Object(body).data

test('texts and token ids become vectors, charged by their tokens', async () => {
  for (const input of ['two words', ['two', 'words'], [5, 9], [[5], [9]]]) {
    const response = await embed({ input, dimensions: 8 })
    const count = Array.isArray(input) && typeof input[0] !== 'number' ? 2 : 1
    expect(response.status).toBe(200)
    expect(dataOf(response.body).map(({ embedding }) => Object(embedding).length)).toEqual(
      Array.from({ length: count }, () => 8),
    )
    const { usage } = Object(response.body)
    expect(usage.cost).toBe(usage.prompt_tokens * 0.000_000_02)
    expect(Number(response.headers.get('x-service-cost'))).toBe(usage.cost)
  }
  const alone = await embed({ input: 'two words' }, '/embeddings')
  expect(Object(alone.body)).toMatchObject({
    id: expect.stringMatching(/^embd-/),
    object: 'list',
    model,
  })
})

test('base64 has the same numbers, also from an upstream that returns only numbers', async () => {
  const plain = await embed({ input: 'two words', dimensions: 4 })
  const packed = await embed({ input: 'two words', dimensions: 4, encoding_format: 'base64' })
  const floats = (text: unknown) => [
    ...new Float32Array(Uint8Array.fromBase64(String(text)).buffer),
  ]
  expect(floats(dataOf(packed.body)[0]?.embedding)).toEqual(
    Object(dataOf(plain.body)[0]?.embedding),
  )
  const body = { model: 'embedding/embedding-ok', input: 'x', encoding_format: 'base64' }
  const other = await ned.call('POST', '/embeddings', body)
  expect(floats(dataOf(other.body)[0]?.embedding)).toEqual([0.6, 0.8].map(Math.fround))
})

test('an unknown window does not limit the hold', async () => {
  const body = { model: 'embedding/unseen', input: 'word '.repeat(40_000) }
  expect((await ned.call('POST', '/embeddings', body)).status).toBe(200)
  expect((await faked.lastUse(ned)).use?.held).toBeGreaterThan(200_000n * 1_000n)
})

test('invalid inputs and fields are rejected by name', async () => {
  const many = Array.from({ length: 2_049 }, () => 'x')
  for (const input of [undefined, '', [], [''], ['x', 3], [1.5], [-1], {}, 7, [[]], many]) {
    expect((await embed({ input })).body).toMatchObject({ error: { param: 'input' } })
  }
  for (const [param, value] of [
    ['encoding_format', 'hex'],
    ['dimensions', 0],
    ['model', 7],
    ['provider', 'x'],
  ] as const) {
    const response = await embed({ input: 'x', [param]: value })
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
  }
})

test('fewer vectors than inputs are unreadable and charge the hold', async () => {
  const body = { model: 'embedding/embedding-ok', input: ['a', 'b'] }
  const response = await ned.call('POST', '/embeddings', body)
  expect([response.status, response.code]).toEqual([502, 'unreadable_response'])
  const { use } = await faked.lastUse(ned)
  expect([use?.charged, use?.status]).toEqual([use?.held, 'failed'])
})

test('a repeated request gets the error of a charged failure, in the form of each API', async () => {
  const broken = 'embedding/bad-json'
  const calls: [path: string, body: object][] = [
    ['/v1/embeddings', { model: broken, input: 'x' }],
    [`/v1beta/models/${broken}:embedContent`, { content: { parts: [{ text: 'x' }] } }],
    ['/v2/embed', { model: broken, texts: ['x'], input_type: 'search_document' }],
  ]
  for (const [path, body] of calls) {
    const send = () => ned.call('POST', path, body, { 'idempotency-key': path })
    const first = await send()
    expect([path, first.status, first.headers.get('x-should-retry')]).toEqual([path, 502, 'false'])
    const before = (await faked.lastUse(ned)).total
    const again = await send()
    // Cohere's errors have the id of their request.
    const { id: _, ...error } = Object(first.body)
    expect([again.status, again.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(again.body).toMatchObject(error)
    expect((await faked.lastUse(ned)).total).toBe(before)
  }
})
