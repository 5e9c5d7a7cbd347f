import { afterAll, describe, expect, test } from 'bun:test'

import { toFile } from 'openai'

import { openAiClient } from '../../testing/clients/openai-client.ts'
import { fakeImage } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { makeRecording } from '../../testing/fixtures/recordings.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
const byTokens = { prompt: '0.000005', completion: '0.00004' }
const faked = await startFakeUpstreamServer({}, [
  mediaModel('edit', 'image-ok'),
  mediaModel('edit', 'image-tokens', byTokens),
  mediaModel('image', 'image-ok'),
])
const ned = await faked.gus()
afterAll(async () => {
  await t.close()
  await faked.close()
})

const png = () => new File([Buffer.from(fakeImage, 'base64')], 'a.png', { type: 'image/png' })

async function send(who: GatewayUser, path: string, fields: [string, string | File][]) {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  const sent = new Response(form)
  const type = sent.headers.get('content-type') ?? ''
  return who.call('POST', path, await sent.bytes(), { 'content-type': type })
}

test("OpenAI's client edits images and creates variations", async () => {
  const client = openAiClient(t, gus)
  const image = await toFile(Buffer.from(fakeImage, 'base64'), 'a.png', { type: 'image/png' })
  const edit = { model: 'demo/image', prompt: 'A red boat', size: '256x256' } as const
  const one = await client.images.edit({ ...edit, image })
  const two = await client.images.edit({ ...edit, image: [image, image], mask: image, n: 2 })
  expect([one.data?.length, two.data?.length]).toEqual([1, 2])
  const url = new URL(one.data?.[0]?.url ?? '')
  expect((await t.request('GET', url.pathname + url.search)).headers.get('content-type')).toBe(
    'image/png',
  )
  const varied = await client.images.createVariation({
    model: 'demo/image',
    image,
    response_format: 'b64_json',
  })
  expect(varied.data?.[0]?.b64_json).toBeTruthy()
  const { body } = await gus.call('GET', '/queries/history')
  expect(body).toMatchObject({
    total: 3,
    data: [{ price_in_usd: 0.001 }, { price_in_usd: 0.002 }, {}],
  })
})

test("OpenAI's client reads images as events", async () => {
  const client = openAiClient(t, gus)
  const image = await toFile(Buffer.from(fakeImage, 'base64'), 'a.png', { type: 'image/png' })
  const common = { model: 'demo/image', prompt: 'A boat', stream: true } as const
  const streams = [
    ['image_generation.completed', await client.images.generate({ ...common, n: 2 })],
    ['image_edit.completed', await client.images.edit({ ...common, image, n: 2 })],
  ] as const
  for (const [type, stream] of streams) {
    const events: object[] = []
    for await (const event of stream) events.push(event)
    const event = { type, b64_json: expect.any(String), usage: { cost: 0.002 } }
    expect(events).toMatchObject([event, event])
  }
  const preview = { ...common, partial_images: 2 }
  const { status, body } = await gus.call('POST', '/v1/images/generations', preview)
  expect([status, body]).toMatchObject([400, { error: { param: 'partial_images' } }])
})

describe('at an upstream', () => {
  test('photos with a gain map or a video behind them are relayed as they are', async () => {
    const jpeg = await new Bun.Image(Buffer.from(fakeImage, 'base64')).jpeg().bytes()
    const video = await makeRecording('mp4', 1, { hasVideo: true })
    for (const tail of [jpeg, video, Buffer.from('LIVE_3511')]) {
      const photo = Buffer.concat([jpeg, tail])
      const { status } = await send(ned, '/images/edits', [
        ['model', 'edit/image-ok'],
        ['image', new File([photo], 'IMG_1.jpg', { type: 'image/jpeg' })],
        ['prompt', 'A boat'],
      ])
      expect(status).toBe(200)
      expect(faked.fake.received.at(-1)?.text).toContain(photo.toString())
    }
  })

  test('the form is relayed with its files, and charged per image or by tokens', async () => {
    const fields: [string, string | File][] = [
      ['model', 'edit/image-ok'],
      ['image', png()],
      ['mask', png()],
      ['prompt', 'A boat'],
      ['quality', 'auto'],
      ['zebra', 'x'],
    ]
    const response = await send(ned, '/v1/images/edits', fields)
    expect([response.status, response.headers.get('x-service-cost')]).toEqual([200, '0.02'])
    const { path, text } = faked.fake.received.at(-1) ?? {}
    expect(path).toBe('/v1/images/edits')
    for (const part of ['name="image"; filename="a.png"', 'name="mask"', 'fake/image-ok']) {
      expect(text).toContain(part)
    }
    expect(text).not.toMatch(/name="(quality|zebra)"/)
    const priced = await send(ned, '/images/edits', [
      ['model', 'edit/image-tokens-priced'],
      ['image[]', png()],
      ['image[]', png()],
      ['prompt', 'A boat'],
      ['quality', 'high'],
    ])
    expect(priced.body).toMatchObject({ cost: 11 * 0.000_005 + 1_000 * 0.000_04 })
    expect(faked.fake.received.at(-1)?.text).toContain('name="image[]"')
    expect(faked.fake.received.at(-1)?.text).toContain('name="quality"')
    expect(await faked.findProblems(ned)).toEqual([])
  })
})

test('an invalid form is a 400 that names the field and costs nothing', async () => {
  const before = [await faked.snapshot(), faked.fake.received.length]
  const model: [string, string] = ['model', 'edit/image-ok']
  const prompt: [string, string] = ['prompt', 'A boat']
  const text = new File(['hello'], 'a.png')
  const cases: [path: string, fields: [string, string | File][], param: string][] = [
    ['edits', [model, prompt], 'image'],
    ['edits', [model, prompt, ['image', text]], 'image'],
    ['edits', [model, prompt, ['image', png()], ['mask', text]], 'image'],
    ['edits', [model, ['image', png()]], 'prompt'],
    ['edits', [prompt, ['image', png()]], 'model'],
    ['edits', [model, prompt, ['image', png()], ['n', 'x']], 'n'],
    ['edits', [model, prompt, ['image', png()], ['quality', 'high']], 'quality'],
    ['edits', [model, prompt, ['image', png()], ['input_fidelity', 'high']], 'input_fidelity'],
    ['edits', [model, prompt, ['image', png()], ['stream', 'yes']], 'stream'],
    ['edits', [['model', 'image/image-ok'], prompt, ['image', png()]], 'model'],
    ['variations', [model, prompt, ['image', png()]], 'prompt'],
    ['variations', [model, ['image[]', png()], ['image[]', png()]], 'image'],
  ]
  for (const [path, fields, param] of cases) {
    const response = await send(ned, `/v1/images/${path}`, fields)
    expect([path, param, response.status, response.body]).toMatchObject([
      path,
      param,
      400,
      { error: { param } },
    ])
  }
  const json = await ned.call('POST', '/v1/images/edits', { model: 'edit/image-ok' })
  expect([json.status, json.text('error.message')]).toEqual([
    400,
    expect.stringContaining('multipart/form-data'),
  ])
  expect([await faked.snapshot(), faked.fake.received.length]).toEqual(before)
})
