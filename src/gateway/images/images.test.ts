import { afterAll, beforeEach, describe, expect, test } from 'bun:test'

import { day, hour } from '../../kernel/time.ts'
import { findReferenced } from '../../server/operator/referenced-files.ts'
import { json, scripts } from '../../testing/fakes/chat-scripts.ts'
import { fakeImage, raw } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel, mediaModels } from '../../testing/fixtures/media-models.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { deleteExpired } from '../media-files/media-files.ts'

const tokenPriced = { prompt: '0.000005', completion: '0.00004' }

const demo = await startTestServer({ DEMO_MODELS: 'on' })
const more = ['image-tokens', 'image-ok', 'image-url'].map((name) =>
  mediaModel('image', name, tokenPriced),
)
const faked = await startFakeUpstreamServer({}, [...mediaModels(), ...more])
const gus = await createGatewayUser(demo, '1')
const ned = await faked.gus()
afterAll(async () => {
  await demo.close()
  await faked.close()
})

const generate = (body: object, path = '/v1/images/generations') =>
  gus.call('POST', path, { model: 'demo/image', prompt: 'A boat', ...body })
const fromFake = (script: string, more: object = {}) => {
  const body = { model: `image/${script}`, prompt: 'A boat', ...more }
  return ned.call('POST', '/images/generations', body)
}
const partsOf = (body: unknown): { created: number; data: { url: string }[]; cost: number } =>
  Object(body)
const localOf = (url: string): string => url.replace('http://localhost:3000', '')

test('returns image URLs that are valid without a key for 24 hours', async () => {
  const response = await generate({ n: 2, size: '64x32', negative_prompt: 'rain' })
  const { data, cost, created } = partsOf(response.body)
  expect([response.status, data.length, cost]).toEqual([200, 2, 0.002])
  expect([created, response.headers.get('x-service-cost')]).toEqual([1_777_896_000, '0.002'])
  const url = localOf(data[0]?.url ?? '')
  const seen = await demo.request('GET', url)
  expect([seen.status, seen.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(seen.headers.get('x-content-type-options')).toBe('nosniff')
  const about = await new Bun.Image(new Uint8Array(seen.bytes)).metadata()
  expect([about.width, about.height]).toEqual([64, 32])
  expect((await demo.request('GET', url.replace(/.$/, 'x'))).status).toBe(404)
  expect((await demo.request('GET', url.split('?')[0] ?? '')).status).toBe(404)
  expect((await demo.request('GET', '/v1/images/nonsense?expires=1&signature=x')).status).toBe(404)
})

test('references stored bytes until the URL expires', async () => {
  const response = await generate({ prompt: 'Only once' })
  const url = localOf(partsOf(response.body).data[0]?.url ?? '')
  const { bytes } = await demo.request('GET', url)
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  const isNamed = async () => (await findReferenced(demo.ctx.db.read, [sha256])).has(sha256)
  demo.clock.advance(day - hour)
  await deleteExpired(demo.ctx)
  expect([(await demo.request('GET', url)).status, await isNamed()]).toEqual([200, true])
  demo.clock.advance(hour)
  await deleteExpired(demo.ctx)
  expect([(await demo.request('GET', url)).status, await isNamed()]).toEqual([404, false])
})

test('replays images for the same Idempotency-Key and charges once', async () => {
  const body = { model: 'demo/image', prompt: 'Again' }
  const headers = { 'idempotency-key': 'twice' }
  const first = await gus.call('POST', '/v1/images/generations', body, headers)
  const before = (await gus.call('POST', '/credits/balance')).body
  const second = await gus.call('POST', '/images/generations', body, headers)
  expect([second.body, second.status]).toEqual([first.body, 200])
  expect((await gus.call('POST', '/credits/balance')).body).toEqual(before)
  const other = { ...body, prompt: 'Other' }
  const third = await gus.call('POST', '/v1/images/generations', other, headers)
  expect([third.status, third.code]).toEqual([409, 'idempotency_conflict'])
})

test('rejects invalid fields by name', async () => {
  for (const [param, value] of [
    ['prompt', ''],
    ['prompt', 7],
    ['prompt', 'x'.repeat(32_001)],
    ...['10', '0x5', '5x', '-5x5', '99999x5', '9000x9000', 7, '5X5'].map((size) => ['size', size]),
    ...[0, 11, 1.5, '2'].map((n) => ['n', n]),
    ['negative_prompt', 7],
    ['response_format', 'png'],
    ['model', ''],
    ['stream', 'yes'],
  ]) {
    const response = await generate({ [String(param)]: value })
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
  }
  for (const more of [{ size: 'auto' }, { stream: null }]) {
    expect((await generate(more)).status).toBe(200)
  }
})

test('returns base64 on request', async () => {
  const { body } = await fromFake('image-ok', { response_format: 'b64_json' })
  expect(body).toEqual({ created: 1, data: [{ b64_json: fakeImage }], cost: 0.02 })
})

test('passes the upstream’s image properties on', async () => {
  const reported = { background: 'opaque', output_format: 'png', quality: 'high', size: '64x32' }
  const { body } = await fromFake('image-told')
  const [shown] = partsOf(body).data
  const data = [{ url: shown?.url, revised_prompt: 'A small boat' }]
  expect(body).toEqual({ created: 1, ...reported, data, cost: 0.02 })
})

test('charges the returned images, at most the requested number', async () => {
  const fewer = await fromFake('image-ok', { n: 3 })
  expect([partsOf(fewer.body).data.length, partsOf(fewer.body).cost]).toEqual([1, 0.02])
  const more = await fromFake('image-two')
  expect([partsOf(more.body).data.length, partsOf(more.body).cost]).toEqual([1, 0.02])
  const { use } = await faked.lastUse(ned)
  expect(use).toMatchObject({ type: 'image', output: 1, status: 'completed', estimated: false })
})

describe('images that an upstream names by a URL', () => {
  const usage = { input_tokens: 11, output_tokens: 1_000, total_tokens: 1_011 }
  const nameUrls = (...urls: string[]) =>
    faked.fake.script('fake/image-url', json(200, { data: urls.map((url) => ({ url })), usage }))
  const chargeOf = async () => Number((await faked.lastUse(ned)).use?.charged)
  const bytes = new Uint8Array(Buffer.from(fakeImage, 'base64'))
  const ownUrl = () => `${faked.fake.baseUrl}/files/a.png`
  beforeEach(() => faked.fake.script('/files/a.png', raw(bytes, 'image/png')))

  test('are fetched with its key and served here for 24 hours', async () => {
    for (const url of [ownUrl(), 'files/a.png', '/v1/files/a.png']) {
      nameUrls(url)
      const { status, body } = await fromFake('image-url')
      const shown = partsOf(body).data[0]?.url ?? ''
      expect([status, partsOf(body).cost]).toEqual([200, 0.02])
      expect(shown).toStartWith('http://localhost:3000/v1/images/')
      expect((await faked.request('GET', localOf(shown))).bytes).toEqual(bytes)
      const { path, headers } = faked.fake.received.at(-1) ?? {}
      expect([path, headers?.authorization]).toEqual(['/v1/files/a.png', 'Bearer sk-fake'])
    }
    const inBytes = await fromFake('image-url', { response_format: 'b64_json' })
    expect(inBytes.body).toMatchObject({ data: [{ b64_json: fakeImage }], cost: 0.02 })
  })

  test('are free with 502 where they cannot be fetched', async () => {
    const missing = `${faked.fake.baseUrl}/files/none.png`
    const page = new TextEncoder().encode('<html>')
    faked.fake.script('/files/none.png', json(404, {}))
    faked.fake.script('/files/page.png', raw(page, 'image/png'))
    faked.fake.script('/files/moved.png', scripts.redirect?.plain ?? [])
    const port = Number(new URL(faked.fake.baseUrl).port)
    for (const url of [
      'CANARY',
      missing,
      'files/page.png',
      'files/moved.png',
      `http://localhost:${port}/v1/files/a.png`,
      `https://127.0.0.1:${port}/v1/files/a.png`,
      'file:///etc/hostname',
      'http://[',
    ]) {
      nameUrls(url)
      const { status, body } = await fromFake('image-url')
      const message = expect.stringContaining('Nothing was charged.')
      expect({ url, status, body }).toMatchObject({
        url,
        status: 502,
        body: { error: { message } },
      })
      expect(await chargeOf()).toBe(0)
    }
    expect(faked.fake.canaryTouched()).toBe(0)
    expect(await faked.findProblems(ned)).toEqual([])
  })

  test('are fetched in two attempts', async () => {
    faked.fake.script('/files/late.png', json(404, {}), raw(bytes, 'image/png'))
    nameUrls('files/late.png')
    expect((await fromFake('image-url')).status).toBe(200)
  })

  test('are charged as far as they could be fetched', async () => {
    nameUrls(ownUrl(), 'CANARY')
    const some = await fromFake('image-url', { n: 2 })
    expect([partsOf(some.body).data.length, partsOf(some.body).cost]).toEqual([1, 0.02])
    const priced = await fromFake('image-url-priced', { n: 2 })
    expect(partsOf(priced.body).cost).toBe(11 * 0.000005 + 500 * 0.00004)
  })
})

test('charges reported tokens, else the maximum', async () => {
  const reported = await fromFake('image-tokens-priced')
  expect(partsOf(reported.body).cost).toBe(11 * 0.000005 + 1_000 * 0.00004)
  const untold = await fromFake('image-ok-priced')
  expect(partsOf(untold.body).cost).toBeGreaterThanOrEqual(2_000 * 0.00004)
  const { use } = await faked.lastUse(ned)
  expect([use?.estimated, (use?.charged ?? 0n) <= (use?.held ?? 0n)]).toEqual([true, true])
})

test('charges nothing without an image and the hold for an invalid response', async () => {
  const empty = await fromFake('image-empty')
  const { use } = await faked.lastUse(ned)
  expect([empty.status, Number(use?.charged)]).toEqual([502, 0])
  const none = await fromFake('image-no-picture')
  expect([none.status, none.code]).toEqual([502, 'unreadable_response'])
  const last = await faked.lastUse(ned)
  expect(Number(last.use?.charged)).toBe(20_000_000)
  expect(await faked.findProblems(ned)).toEqual([])
})

test('accepts a quality only for models charged per token', async () => {
  const sentTo = async (model: string, quality: string) => {
    expect((await fromFake(model, { quality, style: 'vivid' })).status).toBe(200)
    return faked.fake.received.at(-1)?.body
  }
  expect(await sentTo('image-ok-priced', 'high')).toMatchObject({
    quality: 'high',
    style: 'vivid',
  })
  const plain = await sentTo('image-ok', 'auto')
  expect(plain).toMatchObject({ prompt: 'A boat', style: 'vivid' })
  expect(plain).not.toHaveProperty('quality')
  const rejected = await fromFake('image-ok', { quality: 'high' })
  expect([rejected.status, rejected.body]).toMatchObject([400, { error: { param: 'quality' } }])
})
