import { afterAll, expect, test } from 'bun:test'

import { testCatalog, testModel } from '../../testing/fixtures/models.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const small = { prompt: '0.0000000375', completion: '0.00000015', cache_read: '0.00000001' }
const catalog = testCatalog(
  testModel(small, { id: 'maker/small:8b', supportsTools: true, inputs: ['text', 'image'] }),
  testModel({ per_image: '0.04' }, { id: 'maker/paint', type: 'image', outputs: ['image'] }),
  testModel(undefined, { id: 'maker/unpriced', type: 'embedding' }),
)
const t = await startTestServer({}, { catalog })
afterAll(() => t.close())

const ids = async (query: string): Promise<unknown> => {
  const { body } = await t.request('GET', `/v1/models${query}`)
  return JSON.stringify(body).match(/"id":"[^"]+"/g)
}

test('lists models without a key in the formats of document 2 and OpenAI', async () => {
  for (const path of ['/v1/models', '/models']) {
    const { status, body } = await t.request('GET', path)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'list',
      data: [
        { id: 'maker/paint', type: 'image', price: { per_image: 0.04 } },
        {
          id: 'maker/small:8b',
          object: 'model',
          name: 'Small',
          type: 'chat',
          created: 0,
          owned_by: 'maker',
          supportsTools: true,
          inputs: ['text', 'image'],
          context_length: 32_768,
          max_output: 4_096,
          price: { prompt: '0.0000000375', completion: '0.00000015', cache_read: '0.00000001' },
          supported_parameters: expect.arrayContaining(['max_tokens', 'tools', 'web_search']),
        },
        { id: 'maker/unpriced', type: 'embedding', price: {} },
      ],
    })
  }
})

test('filters by types and rejects an unknown type', async () => {
  expect(await ids('?type=image')).toEqual(['"id":"maker/paint"'])
  expect(await ids('?type=image,chat')).toHaveLength(2)
  expect(await ids('?type=video')).toBeNull()
  expect(await ids('?type=all')).toHaveLength(3)
  expect(await ids('?other=1')).toHaveLength(3)
  for (const type of ['music', 'chat,', 'chat,music', '__proto__']) {
    const { status, body } = await t.request('GET', `/v1/models?type=${type}`)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { type: 'invalid_request_error', param: 'type' } })
  }
})

test('finds a model by an id with slashes and colons, encoded or not', async () => {
  for (const id of ['maker/small:8b', 'maker%2Fsmall%3A8b', 'maker/small:8b:floor']) {
    const { status, body } = await t.request('GET', `/v1/models/${id}`)
    expect([status, body]).toEqual([200, expect.objectContaining({ id: 'maker/small:8b' })])
  }
  for (const id of ['maker/none', 'maker/small', 'maker/small:8b:sideways', '%zz']) {
    const { status, body } = await t.request('GET', `/models/${id}`)
    expect([id, status]).toEqual([id, 404])
    expect(body).toMatchObject({ error: { type: 'invalid_request_error' } })
  }
  const { code } = await t.request('GET', '/v1/models/nobody/nothing')
  expect(code).toBe('model_not_found')
})
