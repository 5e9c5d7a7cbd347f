import { afterAll, describe, expect, test } from 'bun:test'

import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { testModel } from '../../testing/fixtures/models.ts'

const priced = { prompt: '0.000001', completion: '0.000004' }
const offersAt = (...names: string[]) =>
  names.map((upstream) => ({
    upstream,
    model: `fake/${upstream}`,
    price: testModel(priced).price,
  }))

const model = (id: string, more: object) => ({ ...fakeModel('ok', more), id: `fake/${id}` })
const faked = await startFakeUpstreamServer({}, [
  model('sees', { inputs: ['text', 'image'] }),
  model('watches', { inputs: ['text', 'image', 'file', 'audio', 'video'] }),
  testModel({ per_image: '0.01' }, { id: 'fake/image', type: 'image' }),
  testModel(priced, { id: 'fake/nowhere', offers: offersAt('gone') }),
  testModel(priced, { id: 'fake/fallback', offers: offersAt('500', 'gone', 'ok', '503') }),
  testModel(priced, { id: 'fake/refused', offers: offersAt('400', 'ok') }),
])
const gus = await faked.gus()
afterAll(() => faked.close())

const path = '/chat/completions'
const user = (content: unknown) => [{ role: 'user', content }]
const part = (type: string, more: object = {}) =>
  user([
    { type: 'text', text: 'See.' },
    { type, ...more },
  ])
const image = part('image_url', { image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } })
const video = part('video_url', { video_url: { url: 'https://films.example/a.mp4' } })
const sound = part('input_audio', { input_audio: { data: 'AAAA', format: 'mp3' } })
const pdf = {
  type: 'file',
  file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' },
}
const calling = { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function' }] }

interface Row {
  /** The body; the default model is fake/ok. */
  send: object
  is: [status: number, type: string, param: string | null, code?: string]
}
const invalid = 'invalid_request_error'
const bad = (param: string, code?: string): Row['is'] =>
  code === undefined ? [400, invalid, param] : [400, invalid, param, code]

/** Errors beyond errors.test.ts: other forms of the same errors, and bad_request. */
const rows: Record<string, Row> = {
  'no messages': { send: {}, is: bad('messages') },
  'messages that are not a list': { send: { messages: 'hi' }, is: bad('messages') },
  'no role': { send: { messages: ['x'] }, is: bad('messages') },
  developer: { send: { messages: [{ role: 'developer', content: 'x' }] }, is: bad('messages') },
  'tool without a call': {
    send: { messages: [...user('x'), { role: 'tool', tool_call_id: 'c1', content: 'y' }] },
    is: bad('messages'),
  },
  'tool before its call': {
    send: { messages: [{ role: 'tool', tool_call_id: 'c1', content: 'y' }, calling] },
    is: bad('messages'),
  },
  'none usable in parts': {
    send: { messages: user([{ type: 'text', text: '' }]) },
    is: bad('messages'),
  },
  'content that is a number': { send: { messages: user(5) }, is: bad('messages') },
  'an unknown suffix': {
    send: { model: 'fake/ok:turbo', messages: user('x') },
    is: [404, invalid, 'model', 'model_not_found'],
  },
  'a model of another type': {
    send: { model: 'fake/image', messages: user('x') },
    is: bad('model'),
  },
  'no model': { send: { model: undefined, messages: user('x') }, is: bad('model') },
  'a model that is a number': { send: { model: 5, messages: user('x') }, is: bad('model') },
  'search_off, W206': {
    send: { web_search: true, messages: user('x') },
    is: bad('web_search', 'W206'),
  },
  'W206 by its options': {
    send: { web_search_options: {}, messages: user('x') },
    is: bad('web_search_options', 'W206'),
  },
  'W206 by a plugin': {
    send: { plugins: [{ id: 'web' }], messages: user('x') },
    is: bad('plugins', 'W206'),
  },
  'W206 by suffix': {
    send: { model: 'fake/ok:online', messages: user('x') },
    is: bad('model', 'W206'),
  },
  'inline audio': { send: { messages: sound }, is: bad('messages') },
  'an inline video': { send: { messages: video }, is: bad('messages') },
  'a part that is a text': { send: { messages: user(['x']) }, is: bad('messages') },
  'max_tokens as text': { send: { max_tokens: '5', messages: user('x') }, is: bad('max_tokens') },
  'negative max_tokens': { send: { max_tokens: -1, messages: user('x') }, is: bad('max_tokens') },
  'absurd max_completion_tokens': {
    send: { max_completion_tokens: 1e300, messages: user('x') },
    is: bad('max_completion_tokens'),
  },
  'n of zero': { send: { n: 0, messages: user('x') }, is: bad('n') },
  'stream as text': { send: { stream: 'yes', messages: user('x') }, is: bad('stream') },
  'preferences that exclude every upstream': {
    send: { provider: { only: ['nobody'] }, messages: user('x') },
    is: bad('provider'),
  },
  'a maximum price below all offers': {
    send: { provider: { max_price: { prompt: 0.5 } }, messages: user('x') },
    is: bad('provider'),
  },
}

describe('errors before the model runs, without a charge', () => {
  test.each(Object.entries(rows))('%s', async (_name, { send, is }) => {
    const before = [await faked.snapshot(), faked.fake.received.length]
    const response = await gus.call('POST', path, { model: 'fake/ok', ...send })
    const [status, type, param, code = null] = is
    expect({ status: response.status, body: response.body }).toEqual({
      status,
      body: { error: { message: expect.any(String), type, param, code } },
    })
    expect([await faked.snapshot(), faked.fake.received.length]).toEqual(before)
  })

  test('a missing key and a wrong key are 401 with any body', async () => {
    for (const key of [undefined, `gk_${'x'.repeat(40)}`]) {
      const response = await faked.request('POST', `/v1${path}`, { key, body: '{' })
      expect(response.status).toBe(401)
      expect(response.body).toMatchObject({ error: { type: 'authentication_error', param: null } })
    }
  })

  test('an open circuit breaker and a missing upstream are 503', async () => {
    const model = { model: 'fake/nowhere', messages: user('x') }
    const gone = await gus.call('POST', path, model)
    expect([gone.status, gone.headers.get('retry-after')]).toEqual([503, '1'])
    const failing = { model: 'fake/503', messages: user('x') }
    const seen = []
    for (let at = 0; at < 7; at += 1) seen.push((await gus.call('POST', path, failing)).status)
    expect(seen).toEqual([502, 502, 502, 502, 502, 503, 503])
    expect(await faked.findProblems(gus)).toEqual([])
  })
})

describe('accepted requests', () => {
  const served = async (body: object) => {
    const response = await gus.call('POST', path, {
      model: 'fake/ok',
      messages: user('x'),
      ...body,
    })
    expect(response.status).toBe(200)
    return faked.fake.received.at(-1)?.body ?? {}
  }

  test('a tool result after its call, and null content beside calls', async () => {
    const messages = [...user('x'), calling, { role: 'tool', tool_call_id: 'c1', content: 'y' }]
    expect(await served({ messages })).toMatchObject({ messages })
  })

  test('media for models with that input', async () => {
    await served({ model: 'fake/sees', messages: image })
    for (const messages of [video, sound, user([pdf])]) {
      await served({ model: 'fake/watches', messages })
    }
  })

  test('free fields are forwarded unchanged, fields of the gateway are not', async () => {
    const more = { temperature: 0.3, stop: ['.'], logprobs: true, seed: 7, metadata: { a: [null] } }
    const sent = await served({ ...more, provider: {}, models: [], web_search: false, plugins: [] })
    expect(sent).toMatchObject(more)
    expect(Object.keys(sent).toSorted()).toEqual(
      ['messages', 'model', ...Object.keys(more)].toSorted(),
    )
  })

  test('a developer message where the operator configures it as system', async () => {
    const open = await startFakeUpstreamServer({ GATEWAY_DEVELOPER_ROLE: 'system' })
    const one = await open.gus()
    const messages = [{ role: 'developer', content: 'Be short.' }]
    await one.call('POST', path, { model: 'fake/ok', messages })
    expect(open.fake.received.at(-1)?.body).toMatchObject({
      messages: [{ role: 'system', content: 'Be short.' }],
    })
    await open.close()
    const rejected = await gus.call('POST', path, { model: 'fake/ok', messages })
    const message = expect.stringContaining('GATEWAY_DEVELOPER_ROLE=system')
    expect([rejected.status, rejected.body]).toMatchObject([400, { error: { message } }])
  })
})

describe('fallbacks, before the first byte', () => {
  const call = async (body: object) => {
    const start = faked.fake.received.length
    const response = await gus.call('POST', path, { messages: user('x'), ...body })
    const requests = faked.fake.received.slice(start).map(({ body: { model } }) => String(model))
    const { use } = await faked.lastUse(gus)
    return { status: response.status, requests: requests, by: [use?.model, use?.upstream] }
  }

  test('the next upstream serves after a failure and is charged', async () => {
    expect(await call({ model: 'fake/fallback' })).toEqual({
      status: 200,
      requests: ['fake/500', 'fake/ok'],
      by: ['fake/fallback', 'ok'],
    })
    // A busy upstream cools down, so each call has its own.
    for (const [stream, model] of [
      [true, 'fake/429'],
      [false, 'fake/403'],
    ] as const) {
      expect(await call({ model, models: ['fake/401', 'fake/ok'], stream })).toEqual({
        status: 200,
        requests: [model, 'fake/401', 'fake/ok'],
        by: ['fake/ok', 'ok'],
      })
    }
  })

  test('a rejected or billed request is not sent to another upstream', async () => {
    expect(await call({ model: 'fake/refused' })).toMatchObject({
      status: 400,
      requests: ['fake/400'],
    })
    const models = ['fake/ok']
    for (const model of ['fake/content-filter', 'fake/bad-json', 'fake/no-content']) {
      expect((await call({ model, models })).requests).toEqual([model])
    }
  })

  test('the provider preferences of the caller apply', async () => {
    const model = 'fake/fallback'
    const requests = async (provider: object) => (await call({ model, provider })).requests
    expect(await requests({ order: ['ok'] })).toEqual(['fake/ok'])
    expect(await requests({ only: ['500'] })).toEqual(['fake/500'])
    expect(await requests({ ignore: ['500'] })).toEqual(['fake/ok'])
    expect(await requests({ allow_fallbacks: false })).toEqual(['fake/500'])
    expect(await requests({ order: ['500'], allow_fallbacks: false })).toEqual(['fake/500'])
  })
})
