import { afterAll, expect, test } from 'bun:test'

import { minute } from '../../kernel/time.ts'
import { chunked } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'

const faked = await startFakeUpstreamServer()
const gus = await faked.gus('50')
afterAll(() => faked.close())

/** Calls a model, and returns the response and the number of upstream requests. */
async function chat(content: string, more: object = {}, by = gus, server = faked) {
  const before = server.fake.received.length
  const body = { model: 'fake/ok', messages: [{ role: 'user', content }], max_tokens: 50, ...more }
  const response = await by.call('POST', '/v1/chat/completions', body)
  return { response, calls: server.fake.received.length - before }
}
const cache = { ttl: 60 }

test.each([[false], [true]])(
  'stream %p: the same request is answered once and free later',
  async (stream) => {
    const options = { cache, stream, stream_options: stream ? { include_usage: true } : undefined }
    const first = await chat(`Hello ${stream}.`, options)
    expect([first.calls, first.response.headers.get('x-cache')]).toEqual([1, null])
    const { total } = await faked.lastUse(gus)
    const before = await faked.snapshot()
    const second = await chat(`Hello ${stream}.`, options)
    expect([second.calls, second.response.headers.get('x-cache')]).toEqual([0, 'hit'])
    const withoutCost = (body: unknown) => JSON.stringify(body).replaceAll(/cost\\?":[\d.e-]+/g, '')
    expect(withoutCost(second.response.body)).toBe(withoutCost(first.response.body))
    expect(JSON.stringify(second.response.body)).toMatch(/cost\\?":0[,}]/)
    expect(await faked.snapshot()).toEqual(before)
    expect((await faked.lastUse(gus)).total).toBe(total)
    // Without the field, with another field, and for another account, the model runs.
    expect((await chat(`Hello ${stream}.`, { stream })).calls).toBe(1)
    expect((await chat(`Hello ${stream}.`, { ...options, temperature: 0.1 })).calls).toBe(1)
    expect((await chat(`Hello ${stream}.`, options, await faked.gus('5'))).calls).toBe(1)
    faked.clock.advance(2 * minute)
    expect((await chat(`Hello ${stream}.`, options)).calls).toBe(1)
  },
)

test.each([[false], [true]])(
  'stream %p: a client of another API gets it in its own form',
  async (stream) => {
    const body = {
      model: 'fake/ok',
      messages: [{ role: 'user', content: `For both ${stream}.` }],
      max_tokens: 50,
      cache,
      stream,
    }
    const first = await gus.call('POST', '/v1/chat/completions', body)
    const second = await gus.call('POST', '/api/v1/chat/completions', body)
    expect(second.headers.get('x-cache')).toBe('hit')
    const idsIn = (sent: unknown): unknown[] =>
      [...JSON.stringify(sent).matchAll(/id\\?":\\?"([\w-]+)/g)].map(([, id]) => id)
    expect(idsIn(first.body).some((id) => String(id).startsWith('gen-'))).toBe(false)
    expect(idsIn(second.body).every((id) => String(id).startsWith('gen-'))).toBe(true)
    const words = (sent: unknown): unknown[] =>
      [...JSON.stringify(sent).matchAll(/content\\?":\\?"([^"\\]+)/g)].map(([, text]) => text)
    expect(words(second.body)).toEqual(words(first.body))
    const mistral = { 'user-agent': 'mistral-client-typescript/2.7.0' }
    const third = await gus.call('POST', '/v1/chat/completions', body, mistral)
    expect(third.headers.get('x-cache')).toBe('hit')
    // Only Mistral's clients get the usage of a stream that did not ask for it.
    expect(JSON.stringify(third.body)).toMatch(/cost\\?":0[,}]/)
  },
)

test('failures and cut streams are not kept', async () => {
  for (const model of ['fake/500', 'fake/reset-middle']) {
    const options = { cache, model, stream: true }
    expect((await chat('Broken.', options)).calls).toBe(1)
    expect((await chat('Broken.', options)).calls).toBe(1)
  }
})

test('a stream counts with all the memory that it takes', async () => {
  const small = await startFakeUpstreamServer({ RESPONSE_CACHE_MB: '1' })
  const words = Array.from({ length: 400 }, (_, at) => ({
    choices: [{ index: 0, delta: { content: ` ${at}` }, finish_reason: null }],
  }))
  const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const events = [...words, last].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  const stream = [...events, 'data: [DONE]\n\n']
  // Their bytes alone would fit into the tenth of the cache that one response may take.
  expect(stream.join('').length).toBeLessThan(50_000)
  small.fake.script('fake/ok', chunked(stream))
  const by = await small.gus('5')
  expect((await chat('Count.', { cache, stream: true }, by, small)).calls).toBe(1)
  expect((await chat('Count.', { cache, stream: true }, by, small)).calls).toBe(1)
  await small.close()
})

test('a key that may not use a model gets no cached response of it', async () => {
  expect((await chat('Shared.', { cache })).calls).toBe(1)
  const made = await gus.call('POST', '/v1/accounts/keys', { models: ['other/*'] })
  const body = {
    model: 'fake/ok',
    messages: [{ role: 'user', content: 'Shared.' }],
    max_tokens: 50,
    cache,
  }
  const rejected = await faked.request('POST', '/v1/chat/completions', {
    key: made.text('api_key'),
    body,
  })
  expect([rejected.status, rejected.code]).toEqual([403, 'model_not_allowed'])
})

test.each([[{ ttl: 0 }], [{ ttl: 1.5 }], [{ ttl: 86_401 }], [{}], [true], ['60']])(
  'cache %j is rejected by name',
  async (invalid) => {
    const { response, calls } = await chat('Hello.', { cache: invalid })
    expect([response.status, Object(response.body).error.param, calls]).toEqual([400, 'cache', 0])
  },
)

test('a server without the cache names the setting', async () => {
  const off = await startFakeUpstreamServer({ RESPONSE_CACHE_MB: '0' })
  const { response } = await chat('Hello.', { cache }, await off.gus('5'), off)
  expect(Object(response.body).error.message).toContain('RESPONSE_CACHE_MB')
  await off.close()
})
