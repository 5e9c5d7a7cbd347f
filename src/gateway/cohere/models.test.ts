import { afterAll, expect, test } from 'bun:test'

import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
afterAll(() => t.close())

const all = ['builder', 'chat', 'embedding', 'omni', 'rerank', 'small'].map(
  (name) => `demo/${name}`,
)
const sdk = { 'x-fern-sdk-name': 'cohere' }
const list = async (query: string, path = '/v2/models') => {
  const { status, body } = await t.request('GET', path + query)
  return {
    status,
    ...Object(body),
    names: Object(body)
      .models?.map(Object)
      .map(({ name = '' }) => name),
  }
}

test('a model has the fields of Cohere', async () => {
  const expected = {
    name: 'demo/embedding',
    is_deprecated: false,
    endpoints: ['embed'],
    finetuned: false,
    context_length: expect.any(Number),
    tokenizer_url: null,
    default_endpoints: [],
    features: [],
  }
  const own = await t.request('GET', '/v2/models/demo/embedding')
  expect([own.status, own.body]).toEqual([200, expected])
  for (const name of ['cohere', 'cohere-ai']) {
    const headers = { 'x-fern-sdk-name': name }
    const { body } = await t.request('GET', '/v1/models/demo%2Fembedding', { headers })
    expect(body).toEqual(expected)
    const listed = await t.request('GET', '/v1/models', { headers })
    expect(listed.body).toMatchObject({ models: expect.arrayContaining([expected]) })
  }
  const chat = await t.request('GET', '/v2/models/demo/chat')
  expect(chat.body).toMatchObject({
    endpoints: ['chat'],
    features: expect.arrayContaining(['tools']),
  })
  const missing = await t.request('GET', '/v1/models/demo/none', { headers: sdk })
  expect([missing.status, missing.body]).toMatchObject([
    404,
    { code: 'model_not_found', param: 'model' },
  ])
})

test('the list has pages and a filter of endpoints', async () => {
  expect((await list('')).names).toEqual(all)
  const first = await list('?page_size=4')
  expect([first.names, first.next_page_token]).toEqual([all.slice(0, 4), all[3]])
  const rest = await list(`?page_size=4&page_token=${encodeURIComponent(first.next_page_token)}`)
  expect([rest.names, rest.next_page_token]).toEqual([all.slice(4), undefined])
  expect((await list('?endpoint=rerank')).names).toEqual(['demo/rerank'])
  expect((await list('?endpoint=classify')).names).toEqual([])
  for (const [param, query] of [
    ['page_size', 'page_size=0'],
    ['page_size', 'page_size=1001'],
    ['page_token', 'page_token=none'],
    ['default_only', 'default_only=true'],
  ]) {
    expect(await list(`?${query}`)).toMatchObject({
      status: 400,
      param,
      message: expect.any(String),
    })
  }
})
