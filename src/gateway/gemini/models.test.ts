import { afterAll, expect, test } from 'bun:test'

import { GoogleGenAI } from '@google/genai'

import { startClientServer } from '../../testing/clients/server.ts'

const gateway = await startClientServer()
const origin = gateway.baseUrls[1] ?? ''
afterAll(() => gateway.stop())

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(origin + path, { headers })
  return { status: response.status, body: Object(await response.json()) }
}
const all = ['builder', 'chat', 'embedding', 'omni', 'small'].map((name) => `models/demo/${name}`)
const google = { 'x-goog-api-client': 'google-genai-sdk/3.6.1 gl-python/3.11' }

test('Google’s SDK lists the models and gets one, below v1beta, v1 and v1alpha', async () => {
  for (const apiVersion of ['v1beta', 'v1', 'v1alpha']) {
    const httpOptions = { baseUrl: origin }
    const { models } = new GoogleGenAI({ apiKey: gateway.key, apiVersion, httpOptions })
    for (const pageSize of [undefined, 2]) {
      const config = pageSize ? { pageSize } : {}
      const listed = await Array.fromAsync(await models.list({ config }))
      expect(listed.map(({ name }) => name)).toEqual(all)
    }
    expect(await models.get({ model: 'demo/chat' })).toMatchObject({
      name: 'models/demo/chat',
      displayName: expect.any(String),
      inputTokenLimit: expect.any(Number),
      outputTokenLimit: expect.any(Number),
      supportedActions: ['generateContent', 'countTokens'],
    })
  }
})

test('pages follow pageSize and pageToken', async () => {
  const first = await get('/v1/models?pageSize=2', { 'x-goog-api-key': gateway.key })
  expect(first.body).toMatchObject({ models: [{ name: all[0] }, { name: all[1] }] })
  const token = encodeURIComponent(first.body.nextPageToken)
  const last = await get(`/v1/models?pageSize=1000000&pageToken=${token}`, google)
  expect(last.body.models.map(({ name }: { name: string }) => name)).toEqual(all.slice(2))
  expect(last.body).not.toHaveProperty('nextPageToken')
  expect((await get('/v1beta/models?pageSize=0')).body.models).toHaveLength(all.length)
})

test('errors have the envelope of Google, and other clients the list of OpenAI', async () => {
  for (const [path, status, name] of [
    ['/v1/models/demo/none', 404, 'NOT_FOUND'],
    ['/v1/models?pageToken=none', 400, 'INVALID_ARGUMENT'],
    ['/v1/models?pageSize=-1', 400, 'INVALID_ARGUMENT'],
  ] as const) {
    const error = { code: status, status: name }
    expect(await get(path, google)).toMatchObject({ status, body: { error } })
  }
  expect((await get('/v1/models')).body).toMatchObject({ object: 'list' })
})
