import { afterAll, expect, test } from 'bun:test'

import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
afterAll(() => t.close())

const texts = ['the tide is low', 'the tide is high']
const request = { model: 'demo/embedding', texts, input_type: 'search_document' }
const embed = async (more: object = {}, path = '/v2/embed') => {
  const { status, body, headers } = await gus.call('POST', path, { ...request, ...more })
  return { status, body: Object(body), headers }
}

test('texts become vectors, charged as embeddings', async () => {
  const { body: plain } = await gus.call('POST', '/v1/embeddings', {
    model: request.model,
    input: texts,
    dimensions: 16,
  })
  const float = Object(plain)
    .data.map(Object)
    .map((item: { embedding: unknown }) => item.embedding)
  const { status, body, headers } = await embed({ output_dimension: 16, truncate: 'END' })
  expect([status, body]).toEqual([
    200,
    {
      id: expect.stringMatching(/^embd-/),
      response_type: 'embeddings_by_type',
      embeddings: { float },
      texts,
      meta: {
        api_version: { version: '2' },
        billed_units: { input_tokens: Object(plain).usage.prompt_tokens },
        cost: Object(plain).usage.cost,
      },
    },
  ])
  expect(Number(headers.get('x-service-cost'))).toBe(Object(plain).usage.cost)
  const inputs = texts.map((text) => ({ content: [{ type: 'text', text }] }))
  expect((await embed({ texts: undefined, inputs, output_dimension: 16 })).body).toMatchObject({
    embeddings: { float },
    texts,
  })
})

test('the first version returns plain lists without embedding_types', async () => {
  const first = await embed({ output_dimension: 8 }, '/v1/embed')
  const second = await embed({ output_dimension: 8 })
  expect(first.body).toMatchObject({
    response_type: 'embeddings_floats',
    embeddings: second.body.embeddings.float,
    meta: { api_version: { version: '1' } },
  })
  const typed = await embed({ output_dimension: 8, embedding_types: ['float'] }, '/v1/embed')
  expect(typed.body).toMatchObject({
    response_type: 'embeddings_by_type',
    embeddings: second.body.embeddings,
  })
})

test('vectors have every type of Cohere', async () => {
  const embedding_types = ['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64']
  const { body } = await embed({ texts: ['tide'], output_dimension: 12, embedding_types })
  const { float, int8, uint8, binary, ubinary, base64 } = body.embeddings
  const [vector] = float
  const bytes = Buffer.from(base64[0], 'base64')
  expect(vector.map((_: number, at: number) => bytes.readFloatLE(at * 4))).toEqual(vector)
  const largest = Math.max(...vector.map(Math.abs))
  expect(int8).toEqual([vector.map((value: number) => Math.round((value / largest) * 127))])
  expect(uint8).toEqual([int8[0].map((value: number) => value + 128)])
  const bits = vector.map((value: number) => (value > 0 ? '1' : '0')).join('')
  const packed = [bits.slice(0, 8), bits.slice(8).padEnd(8, '0')].map((byte) => parseInt(byte, 2))
  expect(ubinary).toEqual([packed])
  expect(binary).toEqual([packed.map((value) => value - 128)])
})

test('an invalid request names the field in the envelope of Cohere and costs nothing', async () => {
  const before = await t.snapshot()
  for (const [param, more] of [
    ['texts', { texts: undefined }],
    ['texts', { texts: [] }],
    ['texts', { texts: ['a', 7] }],
    ['images', { images: ['data:image/png;base64,AA'] }],
    ['inputs', { inputs: [{ content: [{ type: 'image_url', image_url: {} }] }] }],
    ['input_type', { input_type: 'image' }],
    ['embedding_types', { embedding_types: ['int4'] }],
    ['output_dimension', { output_dimension: 0 }],
    ['truncate', { truncate: 'MIDDLE' }],
    ['max_tokens', { max_tokens: 9 }],
    ['model', { model: 'demo/none' }],
  ] as const) {
    for (const path of ['/v2/embed', '/v1/embed']) {
      const { status, body } = await embed(more, path)
      expect([param, path, status, body]).toMatchObject([
        param,
        path,
        param === 'model' ? 404 : 400,
        { param, message: expect.any(String) },
      ])
      expect(body).not.toHaveProperty('error')
    }
  }
  expect(await t.snapshot()).toEqual(before)
})
