import { afterAll, expect, test } from 'bun:test'

import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { videoModel } from '../../testing/fixtures/videos.ts'

const faked = await startFakeUpstreamServer({}, [
  mediaModel('image', 'image-ok'),
  videoModel('video-ok'),
])
const gus = await faked.gus()
afterAll(() => faked.close())

const messages = [{ role: 'user', content: 'Say hello.' }]
const send = (more: object) =>
  gus.call('POST', '/v1/chat/completions', { model: 'fake/ok', messages, ...more })

/** Returns the upstream body of a request. */
async function sentBody(more: object): Promise<Record<string, unknown>> {
  const { status, body } = await send(more)
  expect({ status, body, more }).toMatchObject({ status: 200 })
  return faked.fake.received.at(-1)?.body ?? {}
}

const unpriced: [param: string, value: unknown][] = [
  ['modalities', ['text', 'audio']],
  ['modalities', ['image']],
  ['audio', { voice: 'alloy', format: 'wav' }],
  ['enable_search', true],
  ['forced_search', true],
  ['compound_custom', { tools: { enabled_tools: ['web_search'] } }],
  ['search_settings', { include_images: true }],
  ['speed', 'fast'],
  ['service_tier', 'fast'],
  ['service_tier', 'priority'],
  ['service_tier', 'scale'],
  ['inference_geo', 'us'],
  ['best_of', 8],
  ['image_config', { image_size: '4K' }],
  ['data_sources', [{ type: 'azure_search' }]],
  ['enable_code_interpreter', true],
  ['safety_model', 'guard'],
  ['plugins', [{ id: 'file-parser' }]],
  ['plugins', [{ id: 'web' }, { id: 'fusion' }]],
]
test.each(unpriced)('%s: %j is rejected by name, before anything is sent', async (param, value) => {
  const before = [await faked.snapshot(), faked.fake.received.length]
  const { status, body } = await send({ [param]: value })
  const message = expect.stringContaining(`${param} costs more`)
  expect([status, body]).toMatchObject([400, { error: { param, message } }])
  expect([await faked.snapshot(), faked.fake.received.length]).toEqual(before)
})

test('values of these fields without a cost are accepted', async () => {
  for (const [name] of unpriced) await sentBody({ [name]: null })
  await sentBody({ enable_search: false, speed: 'standard', best_of: 1, plugins: [] })
  expect(await sentBody({ modalities: ['text'], service_tier: 'flex' })).toMatchObject({
    modalities: ['text'],
    service_tier: 'flex',
  })
})

test('fields of published clients without a cost are sent unchanged', async () => {
  const free = {
    logprobs: true,
    top_logprobs: 2,
    response_format: { type: 'json_object' },
    reasoning_effort: 'low',
    stop: ['.'],
    seed: 7,
    presence_penalty: 0.5,
    frequency_penalty: 0.5,
    logit_bias: { 50: 1 },
    user: 'u',
    metadata: { a: 'b' },
    top_k: 40,
    min_p: 0.1,
    repetition_penalty: 1.1,
    safety_settings: [],
    prediction: { type: 'content', content: 'x' },
    parallel_tool_calls: false,
    verbosity: 'low',
    prompt_cache_key: 'k',
    guided_json: { type: 'object' },
    chat_template_kwargs: { enable_thinking: false },
    mirostat: 2,
    think: false,
    store: false,
  }
  expect(await sentBody(free)).toMatchObject(free)
})

test('an unknown field is not sent', async () => {
  const sent = await sentBody({ zebra: { a: [null] }, preset: 'mine' })
  expect(Object.keys(sent).toSorted()).toEqual(['messages', 'model'])
})

test('field names of other APIs are mapped', async () => {
  const tools = [{ type: 'function', function: { name: 'depth' } }]
  expect(await sentBody({ tools, tool_choice: 'any' })).toMatchObject({ tool_choice: 'required' })
  const byReasoning = await sentBody({ reasoning: { effort: 'high' } })
  expect(byReasoning).toMatchObject({ reasoning_effort: 'high' })
  expect(byReasoning).not.toHaveProperty('reasoning')
  expect(await sentBody({ reasoning: { enabled: false } })).toMatchObject({
    reasoning_effort: 'none',
  })
  const own = await sentBody({ reasoning: { effort: 'high' }, reasoning_effort: 'low' })
  expect(own).toMatchObject({ reasoning_effort: 'low' })
  const { status, body } = await send({ reasoning: 'high' })
  expect([status, body]).toMatchObject([400, { error: { param: 'reasoning' } }])
})

const media: [path: string, model: string, unpriced: object, free: object][] = [
  [
    '/v1/images/generations',
    'image/image-ok',
    { num_images: 4, steps: 50, num_inference_steps: 50, resolution: '4K', partial_images: 3 },
    { num_images: 1, partial_images: 0, style: 'vivid', seed: 7, zebra: 1 },
  ],
  [
    '/v1/videos',
    'video/video-ok',
    { generate_audio: true, resolution: '4K', quality: 'high', n: 2, fps: 60 },
    { generate_audio: false, num_videos: 1, seed: 7, zebra: 1 },
  ],
]
test.each(media)(
  '%s rejects its unsupported fields by name, and sends no unknown field',
  async (path, model, unpriced, free) => {
    const sendTo = (more: object) => gus.call('POST', path, { model, prompt: 'A boat', ...more })
    const before = [await faked.snapshot(), faked.fake.received.length]
    for (const [param, value] of Object.entries(unpriced)) {
      const { status, body } = await sendTo({ [param]: value })
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { param } } })
    }
    expect([await faked.snapshot(), faked.fake.received.length]).toEqual(before)
    expect((await sendTo(free)).status).toBe(200)
    const sent = faked.fake.received.at(-1)?.body ?? {}
    expect(sent).toMatchObject({ seed: 7 })
    for (const name of ['zebra', 'num_images', 'num_videos']) expect(sent).not.toHaveProperty(name)
  },
)

test('fields that the upstream does not get are named in a header, and only those', async () => {
  const more = { zebra: 1, seed: 7, guardrails: null, n_cmpl: 2, 'bad name': 1 }
  for (const stream of [false, true]) {
    const { headers } = await send({ ...more, stream })
    expect(headers.get('x-ignored-fields')).toBe('zebra, n_cmpl')
  }
  expect((await send({ seed: 7 })).headers.has('x-ignored-fields')).toBe(false)
  const image = { model: 'image/image-ok', prompt: 'A boat', zebra: 1 }
  const { headers } = await gus.call('POST', '/v1/images/generations', image)
  expect(headers.get('x-ignored-fields')).toBe('zebra')
})
