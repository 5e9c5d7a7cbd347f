import { afterAll, beforeEach, describe, expect, test } from 'bun:test'

import { fakeText, json } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { readPrice } from '../models/price.ts'

let gus: GatewayUser

const rate = (prompt: string, completion: string) => {
  const price = readPrice({ prompt, completion })
  if ('error' in price) throw new Error(price.error)
  return price
}
/** Three upstreams: the most expensive first, the cheapest last. */
const places = [
  { upstream: 'ok', model: 'fake/ok', price: rate('0.000009', '0.00001') },
  { upstream: 'ok-crlf', model: 'fake/ok-crlf', price: rate('0.000002', '0.000005') },
  { upstream: 'ok-comments', model: 'fake/ok-comments', price: rate('0.000001', '0.000002') },
]
const unseen = [{ upstream: 'ok', model: 'fake/unseen', price: rate('0.000001', '0.000004') }]

const model = (id: string, more: object) => ({ ...fakeModel('ok', more), id: `fake/${id}` })
/** Routing of requests, upstream bodies and holds. */
const faked = await startFakeUpstreamServer({}, [
  { ...model('many', {}), offers: places },
  model('llama3.2:3b', {}),
  model('odd:floor', {}),
  model('capped', { maxOutput: 300 }),
  model('open', { maxOutput: 0, contextLength: 100_000 }),
  model('narrow', { maxOutput: 0, contextLength: 20_000 }),
  model('unknown', { maxOutput: 0, contextLength: 0 }),
  { ...model('unseen', { inputs: ['text', 'video'], contextLength: 0 }), offers: unseen },
  model('sees', { inputs: ['text', 'image'], contextLength: 200_000, imageTokens: 700 }),
])
beforeEach(async () => {
  gus = await faked.gus('50')
})
afterAll(() => faked.close())

const path = '/v1/chat/completions'
const chatOf = (content: unknown) => ({ messages: [{ role: 'user', content }] })

/** Returns a call, its upstream body and its history row. */
async function run(body: Record<string, unknown>) {
  const response = await gus.call('POST', path, { ...chatOf('Hello.'), ...body })
  const { use } = await faked.lastUse(gus)
  expect(await faked.findProblems(gus)).toEqual([])
  return { status: response.status, sent: faked.fake.received.at(-1)?.body ?? {}, use }
}
const placeOf = async (body: Record<string, unknown>) => {
  const { status, use } = await run({ model: 'fake/many', ...body })
  return [status, use?.upstream]
}

describe('suffixes', () => {
  test('without a suffix the order of the offers applies; :floor selects the cheapest', async () => {
    expect(await placeOf({})).toEqual([200, 'ok'])
    expect(await placeOf({ model: 'fake/many:floor' })).toEqual([200, 'ok-comments'])
    const { use } = await run({ model: 'fake/many:floor' })
    // 11 in, 7 out at the cheapest.
    expect(use).toMatchObject({ model: 'fake/many', charged: 11n * 1_000n + 7n * 2_000n })
  })

  test(':nitro selects the fastest by measurement', async () => {
    const { measurements } = faked.ctx.upstreams
    for (let measures = 50; measures > 0; measures -= 1) {
      const place = { upstream: 'ok-crlf', model: 'fake/ok-crlf' }
      measurements.begin(place).end('completed', 1_000_000_000)
    }
    expect(await placeOf({ model: 'fake/many:nitro' })).toEqual([200, 'ok-crlf'])
    expect(await placeOf({ provider: { sort: 'throughput' } })).toEqual([200, 'ok-crlf'])
  })

  test('an exact id takes precedence over a suffix; anything else is no_model', async () => {
    expect((await run({ model: 'fake/llama3.2:3b' })).use?.model).toBe('fake/llama3.2:3b')
    expect((await run({ model: 'fake/llama3.2:3b:floor' })).use?.model).toBe('fake/llama3.2:3b')
    expect((await run({ model: 'fake/odd:floor' })).use?.model).toBe('fake/odd:floor')
    for (const model of ['fake/many:turbo', 'fake/many:floor:floor', 'fake/many:', ':floor']) {
      const response = await gus.call('POST', path, { ...chatOf('x'), model })
      expect([model, response.status, response.code]).toEqual([model, 404, 'model_not_found'])
    }
  })
})

describe('preferences', () => {
  test('sort, order, only, ignore and max_price choose among the offers', async () => {
    const by = async (provider: object) => (await placeOf({ provider }))[1]
    expect(await by({ sort: 'price' })).toBe('ok-comments')
    expect(await by({ order: ['ok-crlf'], sort: 'price' })).toBe('ok-crlf')
    expect(await by({ only: ['ok-crlf', 'ok'] })).toBe('ok')
    expect(await by({ ignore: ['ok'] })).toBe('ok-crlf')
    expect(await by({ max_price: { prompt: 2, completion: '4' } })).toBe('ok-comments')
  })

  test('an invalid preference is rejected by name', async () => {
    for (const provider of [
      'ok',
      { sort: 'fast' },
      { only: 'ok' },
      { max_price: { prompt: -1 } },
    ]) {
      const { status, body } = await gus.call('POST', path, {
        ...chatOf('x'),
        model: 'fake/many',
        provider,
      })
      expect([status, body]).toMatchObject([400, { error: { param: 'provider' } }])
    }
  })
})

describe('fallbacks', () => {
  const url = `data:image/png;base64,${'A'.repeat(100)}`
  const shown = chatOf([{ type: 'image_url', image_url: { url } }])

  test('a fallback without the needed input is skipped and not part of the hold', async () => {
    const alone = await run({ model: 'fake/sees', max_tokens: 10, ...shown })
    const models = ['fake/many', 'fake/narrow']
    const both = await run({ model: 'fake/sees', models, max_tokens: 10, ...shown })
    expect([both.status, both.use?.model]).toEqual([200, 'fake/sees'])
    expect(both.use?.held).toBe(alone.use?.held)
    const long = chatOf('word '.repeat(30_000))
    const { use } = await run({ model: 'fake/unknown', models: ['fake/narrow'], ...long })
    expect(use?.model).toBe('fake/unknown')
  })

  test('the requested model must take the content, whatever its fallbacks take', async () => {
    const requests = { model: 'fake/many', models: ['fake/sees'], ...shown }
    const { status, body } = await gus.call('POST', path, requests)
    const message = 'fake/many does not accept images. Use a model with the input "image".'
    expect([status, body]).toMatchObject([400, { error: { message } }])
  })
})

describe('the hold', () => {
  const hold = async (body: Record<string, unknown>) => (await run(body)).use?.held ?? 0n

  test('covers the most expensive candidate', async () => {
    const all = await hold({ model: 'fake/many', max_tokens: 100 })
    const cheap = { only: ['ok-comments'] }
    const one = await hold({ model: 'fake/many', max_tokens: 100, provider: cheap })
    expect(all).toBeGreaterThan(100n * 10_000n)
    expect(one).toBeLessThan(all / 4n)
  })

  test('counts an image as one image, whatever its size', async () => {
    const image = (bytes: number) => ({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` },
    })
    const seen = (bytes: number) =>
      hold({ model: 'fake/sees', max_tokens: 10, ...chatOf([image(bytes)]) })
    const [small, large] = [await seen(100), await seen(1_000_000)]
    expect(large).toBe(small)
    const two = await hold({
      model: 'fake/sees',
      max_tokens: 10,
      ...chatOf([image(100), image(100)]),
    })
    expect(two - small).toBe(700n * 1_000n)
  })

  test('an unknown window does not limit text, and counts as a default for unbounded media', async () => {
    const usage = { prompt_tokens: 150_000, completion_tokens: 7 }
    const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }]
    faked.fake.script('fake/unseen', json(200, { choices, usage }))
    const { use } = await run({ model: 'fake/unseen', ...chatOf('word '.repeat(150_000)) })
    expect([use?.input, Number(use?.charged)]).toEqual([150_000, 150_028_000])
    const video = { type: 'video_url', video_url: { url: 'https://films.example/a.mp4' } }
    const held = await hold({ model: 'fake/unseen', max_tokens: 10, ...chatOf([video]) })
    expect(held).toBeGreaterThan(131_072n * 1_000n)
    expect(held).toBeLessThan(134_000n * 1_000n)
  })
})

describe('the output limit that an upstream receives', () => {
  test.each([
    // A model with a known cap stops there by itself.
    ['capped', {}, undefined],
    ['capped', { max_tokens: 200 }, 200],
    ['capped', { max_tokens: 9_000 }, 300],
    // Without a known cap, the held number is sent as the limit.
    ['open', {}, 32_768],
    ['open', { max_tokens: 50_000 }, 50_000],
    ['unknown', {}, 32_768],
    // The window is the limit, and the hold covers it.
    ['narrow', {}, undefined],
  ])('%s asked for %j: %p', async (model, requests, reported) => {
    for (const stream of [false, true]) {
      const { sent, use, status } = await run({ model: `fake/${model}`, stream, ...requests })
      expect([status, sent.max_tokens]).toEqual([200, reported])
      const output = BigInt(reported ?? (model === 'narrow' ? 20_000 : 300)) * 4_000n
      expect(use?.held).toBeGreaterThan(output)
      expect(use?.held).toBeLessThan(output + 2_000n * 1_000n)
    }
  })
})

describe('a circuit breaker', () => {
  test('that is open is skipped, and the operator is warned once', async () => {
    const offers = (...names: string[]) =>
      names.map((name) => ({ upstream: name, model: `fake/${name}`, price: rate('0', '0.000001') }))
    const open = await startFakeUpstreamServer({}, [
      { ...fakeModel('500'), id: 'fake/two', offers: offers('500', 'ok') },
    ])
    const one = await open.gus()
    const requests = async () => {
      const before = open.fake.received.length
      const body = { model: 'fake/two', ...chatOf('x') }
      const { status, body: received } = await one.call('POST', path, body)
      expect(status).toBe(200)
      expect(JSON.stringify(received)).toContain(fakeText.join(''))
      return open.fake.received.slice(before).map(({ body: { model } }) => model)
    }
    for (let failures = 0; failures < 5; failures += 1) {
      expect(await requests()).toEqual(['fake/500', 'fake/ok'])
    }
    expect(await requests()).toEqual(['fake/ok'])
    const reported = open.warnings.map(({ event }) => event)
    expect(reported).toEqual([...Array(5).fill('upstream.failed'), 'upstream.open'])
    await open.close()
  })

  test('a stream that has started is not retried elsewhere', async () => {
    const before = faked.fake.received.length
    const models = ['fake/ok']
    const response = await gus.call('POST', path, {
      model: 'fake/reset-middle',
      models,
      stream: true,
      ...chatOf('x'),
    })
    expect(String(response.body)).toContain('upstream_stream_error')
    expect(faked.fake.received.slice(before).map(({ body }) => body.model)).toEqual([
      'fake/reset-middle',
    ])
  })
})
