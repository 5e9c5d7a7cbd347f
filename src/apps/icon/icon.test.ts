import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'

import { fromCredits } from '../../kernel/money.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
import { countRetries } from '../../testing/count-retries.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { pauseMethod } from '../../testing/pause-method.ts'
import { quarantine, takeDown } from '../moderation/moderation.ts'

setDefaultTimeout(60_000)
let t: TestServer
let ann: TestAgent
let app: string
async function open(settings: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  t = await startTestServer(settings)
  ann = await t.agent('ann')
  app = await ann.publish()
}
beforeEach(() => open())
afterEach(() => t.close())

const path = () => `/apps/${app}/icon`
const put = (body: unknown) => ann.call('PUT', path(), body)
const dataUrl = (bytes: Uint8Array, type = 'image/png') =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`

const drawn = new Map<string, Uint8Array>()

/** Returns an image of any size, which is drawn once for all tests. */
async function img(width = 800, height = 500): Promise<Uint8Array> {
  const size = `${width}x${height}`
  const request = { kind: 'picture', what: 'snowy mountains', seed: '1', width, height } as const
  const bytes = drawn.get(size) ?? (await t.ctx.generators.generate(request)).bytes
  drawn.set(size, bytes)
  return bytes
}

async function creditsOf(person: TestAgent) {
  const key = await t.ctx.keys.find(person.key)
  const { balance, held } = await balanceOf(t.ctx, { kind: 'agent', owner: key?.owner ?? '' })
  return { balance, held }
}

test('an image of any size becomes a square icon of 512 pixels', async () => {
  const bytes = await img()
  for (const [type, image] of [
    ['image/png', bytes],
    ['image/jpeg', await new Bun.Image(bytes).jpeg().bytes()],
    ['image/webp', await new Bun.Image(bytes).webp().bytes()],
  ] as const) {
    const { status, body, text } = await put({ image: dataUrl(image, type) })
    expect([status, body]).toEqual([200, { icon: expect.stringContaining(`/icons/${app}-`) }])
    const shown = await t.request('GET', new URL(text('icon')).pathname)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
    const { width, height, format } = await new Bun.Image(shown.bytes).metadata()
    expect({ width, height, format }).toEqual({ width: 512, height: 512, format: 'png' })
    expect((await ann.call('GET', `/apps/${app}`)).text('app.icon')).toBe(text('icon'))
  }
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(400), held: fromCredits(0) })
})

test('accepts low-contrast images and detects the type by content', async () => {
  const fade = await new Bun.Image(await new Bun.Image(await img()).resize(2, 1).png().bytes())
    .resize(64, 64)
    .png()
    .bytes()
  for (const type of ['image/png', 'image/jpg', 'image/png;charset=utf-8', 'image/gif']) {
    expect((await put({ image: dataUrl(fade, type) })).status).toBe(200)
  }
})

test('a removed icon is replaced by the shelf glyph', async () => {
  const icon = (await put({ image: dataUrl(await img()) })).text('icon')
  expect((await ann.call('DELETE', path())).body).toEqual({ icon: null })
  expect((await ann.call('GET', `/apps/${app}`)).body).toMatchObject({ app: { icon: null } })
  expect((await t.request('GET', new URL(icon).pathname)).status).toBe(404)
})

test('a generated icon is charged; the first of a listed app is free', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '5' })
  const first = await put({ make: true, prompt: 'a cat' })
  expect([first.status, first.body]).toMatchObject([200, { credits: 5, free: false }])
  await ann.call('PATCH', `/apps/${app}`, { store: true })
  expect((await put({ make: true })).body).toMatchObject({ credits: 0, free: true })
  expect((await put({ make: true })).body).toMatchObject({ credits: 5, free: false })
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(390), held: fromCredits(0) })
})

test('a price above maxCredits generates and charges nothing', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '5' })
  await expectError(t, 402, 'price_above_max', () => put({ make: true, maxCredits: 4.5 }))
  expect((await put({ make: true, maxCredits: 5 })).body).toMatchObject({ credits: 5 })
  await ann.call('PATCH', path().replace('/icon', ''), { store: true })
  expect((await put({ make: true, maxCredits: 0 })).body).toMatchObject({ credits: 0, free: true })
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(395), held: fromCredits(0) })
})

test('busy: concurrent requests generate one icon', async () => {
  await ann.call('PATCH', `/apps/${app}`, { store: true })
  const { begun, go } = pauseMethod(t.ctx.generators, 'generate')
  const first = put({ make: true })
  await begun
  const problem = 'Another icon of this app is still running. Try again when it has finished.'
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { body } = await expectError(t, 409, 'busy', () => put({ make: true }))
    expect(body).toMatchObject({ error: problem })
  }
  go()
  expect((await first).body).toMatchObject({ free: true })
  expect((await put({ make: true })).body).toMatchObject({ free: false })
})

test('the same Idempotency-Key generates and charges once', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '5' })
  const headers = { 'idempotency-key': 'monday-0001' }
  const make = (prompt: string) => ann.call('PUT', path(), { make: true, prompt }, headers)
  const [first, again] = [await make('a cat'), await make('a cat')]
  expect([first.status, first.body]).toEqual([again.status, again.body])
  expect(first.body).toMatchObject({ credits: 5, free: false })
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(395), held: fromCredits(0) })
  await expectError(t, 409, 'ref_conflict', () => make('a dog'))
  const both = { 'idempotency-key': 'monday-0002' }
  const { begun, go } = pauseMethod(t.ctx.generators, 'generate')
  const twin = ann.call('PUT', path(), { make: true }, both)
  await begun
  await expectError(t, 409, 'busy', () => ann.call('PUT', path(), { make: true }, both))
  go()
  expect((await twin).status).toBe(200)
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(390), held: fromCredits(0) })
})

test('deleting the app during generation charges nothing', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '5' })
  const { begun, go } = pauseMethod(t.ctx.generators, 'generate')
  const making = put({ make: true })
  await begun
  await ann.call('DELETE', `/apps/${app}`)
  go()
  expect((await making).code).toBe('not_found')
  expect(await creditsOf(ann)).toEqual({ balance: fromCredits(400), held: fromCredits(0) })
})

test('rejects invalid, oversized, decompression-bomb and blank images', async () => {
  const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>')
  const whole = await img()
  for (const body of [
    {},
    { make: false },
    { make: true, image: dataUrl(whole) },
    { image: dataUrl(whole), prompt: 'x' },
    { image: dataUrl(whole), maxCredits: 5 },
    { make: true, prompt: 'x'.repeat(301) },
    { make: true, colour: 'red' },
    { image: 'https://example.com/a.png' },
    { image: dataUrl(svg, 'image/svg+xml') },
    { image: dataUrl(svg) },
    { image: dataUrl(new TextEncoder().encode('GIF89a...'), 'image/gif') },
    { image: 'data:image/png;base64,***' },
    { image: dataUrl(whole.subarray(0, 40)) },
  ])
    await expectError(t, 400, 'bad_request', () => put(body))
  const heavy = dataUrl(new Uint8Array(6 * 1_048_576 + 1))
  await expectError(t, 413, 'too_big', () => put({ image: heavy }))
  for (const bad of [bomb(), await blank(), await img(900, 100)])
    await expectError(t, 422, 'bad_picture', () => put({ image: dataUrl(bad) }))
})

/** Header of a PNG of 30,000 x 30,000 pixels without data. */
function bomb(): Uint8Array {
  const png = Buffer.alloc(45)
  png.write('\x89PNG\r\n\x1a\n', 'latin1')
  png.writeUInt32BE(13, 8)
  png.write('IHDR', 12)
  png.writeUInt32BE(30_000, 16)
  png.writeUInt32BE(30_000, 20)
  png.set([8, 2, 0, 0, 0], 24)
  png.writeUInt32BE(Bun.hash.crc32(png.subarray(12, 29)), 29)
  png.write('IEND', 37)
  return png
}

const blank = async (): Promise<Uint8Array> => {
  const { bytes } = await t.ctx.generators.generate({
    kind: 'painted',
    bytes: onePixel,
    width: 600,
    height: 600,
    key: false,
  })
  return bytes
}
const onePixel = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
    'base64',
  ),
)

test('no_icon_model, no key, someone else’s app, one that was taken down, no credits', async () => {
  const ben = await t.agent('ben')
  for (const [method, body] of [
    ['PUT', { make: true }],
    ['DELETE', undefined],
  ] as const) {
    await expectError(t, 401, 'no_key', () => t.call(method, path(), { body }))
    await expectError(t, 404, 'not_found', () => ben.call(method, path(), body))
  }
  const icon = (await put({ make: true })).text('icon')
  await quarantine(t.ctx, app, 'reported', 'operator')
  expect((await t.request('GET', new URL(icon).pathname)).status).toBe(404)
  await takeDown(t.ctx, app, 'phishing', 'operator')
  await expectError(t, 410, 'taken_down', () => put({ make: true }))
  await expectError(t, 410, 'taken_down', () => ann.call('DELETE', path()))
  expect((await t.request('GET', new URL(icon).pathname)).status).toBe(410)
  await t.close()
  await open({ EMBEDDED_MAKERS: 'off' })
  await expectError(t, 503, 'no_picture', () => put({ make: true }))
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '500' })
  await expectError(t, 402, 'not_enough_credits', () => put({ make: true }))
})

test('paying for an icon and buying the app take locks in the same order', async () => {
  await t.close()
  await open({ EMBEDDED_ASSET_CREDITS: '2' })
  const terms = { store: true, remix: 'price', priceRemix: 1 }
  await ann.call('PATCH', `/apps/${app}`, terms)
  await put({ make: true })
  const again = countRetries(t.ctx)
  for (const name of ['ben', 'cyd', 'dan', 'eve']) {
    const buyer = await t.agent(name)
    let painting = true
    const painted = put({ make: true }).finally(() => (painting = false))
    while (painting) {
      const bought = [1, 2].map(() => buyer.call('POST', `/apps/${app}/remix`))
      for (const { status } of await Promise.all(bought)) expect(status).toBe(201)
    }
    expect((await painted).body).toMatchObject({ credits: 2 })
  }
  expect(again()).toBe(0)
})
