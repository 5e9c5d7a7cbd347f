import { afterAll, describe, expect, test } from 'bun:test'

import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
const faked = await startFakeUpstreamServer({}, [
  mediaModel('rerank', 'rerank-ok'),
  mediaModel('rerank', 'rerank-unknown'),
  mediaModel('rerank', 'rerank-tokens', { prompt: '0.000001' }),
])
const ned = await faked.gus()
afterAll(async () => {
  await t.close()
  await faked.close()
})

const documents = ['the tide at the cape', 'a recipe for soup', { text: 'the cape' }]
const query = 'cape'
const send = (more: object) =>
  gus.call('POST', '/v1/rerank', { model: 'demo/rerank', query, documents, ...more })

test('documents are sorted by relevance, the best first', async () => {
  const { status, body } = await send({ return_documents: true, top_n: 2 })
  expect([status, body]).toMatchObject([
    200,
    {
      id: expect.stringMatching(/^rerank-/),
      results: [
        { index: 2, document: { text: 'the cape' } },
        { index: 0, document: { text: 'the tide at the cape' } },
      ],
      usage: { search_units: 1, cost: 0.0001 },
    },
  ])
})

describe('charges', () => {
  const documents = ['Hello there', 'Goodbye']
  const from = (script: string, more: object = {}) =>
    ned.call('POST', '/v1/rerank', { model: `rerank/${script}`, query, documents, ...more })

  test('the search units that the upstream reports', async () => {
    const { body } = await from('rerank-ok')
    expect(body).toMatchObject({
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.2 },
      ],
      usage: { search_units: 1, cost: 0.002 },
    })
    expect(faked.fake.received.at(-1)?.body).toEqual({
      model: 'fake/rerank-ok',
      query,
      documents,
      top_n: 2,
    })
    const { use } = await faked.lastUse(ned)
    expect(use).toMatchObject({ type: 'rerank', searches: 1, estimated: false })
  })

  test('tokens where the price has them', async () => {
    const { body } = await from('rerank-tokens-priced', { top_n: 1 })
    expect(body).toMatchObject({
      results: [{ index: 1 }],
      usage: { total_tokens: 11, cost: 0.000011 },
    })
  })

  test('the hold where a result names no document of the request', async () => {
    const response = await from('rerank-unknown')
    expect([response.status, response.code]).toEqual([502, 'unreadable_response'])
    const { use } = await faked.lastUse(ned)
    expect([use?.charged, use?.status]).toEqual([use?.held, 'failed'])
    expect(await faked.findProblems(ned)).toEqual([])
  })
})

test('an invalid request is a 400 that names the field and costs nothing', async () => {
  const before = await t.snapshot()
  for (const more of [
    { query: '' },
    { documents: [] },
    { documents: ['a', 7] },
    { documents: [{ image: 'x' }] },
    { top_n: 0 },
    { return_documents: 'yes' },
    { model: 'demo/embedding' },
  ]) {
    const [param] = Object.keys(more)
    const { status, body } = await send(more)
    expect([status, body]).toMatchObject([400, { error: { param } }])
  }
  expect(await t.snapshot()).toEqual(before)
})
