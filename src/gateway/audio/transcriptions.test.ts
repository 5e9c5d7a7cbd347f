import { afterAll, expect, test } from 'bun:test'

import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel, mediaModels } from '../../testing/fixtures/media-models.ts'
import { chromeMp4, chromeWebm, makeRecording } from '../../testing/fixtures/recordings.ts'
import { startTestServer, type TestResponse } from '../../testing/fixtures/test-server.ts'

const demo = await startTestServer({ DEMO_MODELS: 'on' })
const byTokens = { prompt: '0.000001', completion: '0.000003' }
const words = mediaModel('transcription', 'transcription-no-usage', byTokens)
const others = [
  mediaModel('speech', 'speech-ok', { completion: '0.00001' }),
  mediaModel('transcription', 'transcription-ok', { per_character: '0.00001' }),
  { ...words, id: 'transcription/words' },
]
const faked = await startFakeUpstreamServer({}, [...mediaModels(), ...others])
const gus = await createGatewayUser(demo, '1')
const ned = await faked.gus()
afterAll(async () => {
  await demo.close()
  await faked.close()
})

const synthesize = (body: object) =>
  gus.call('POST', '/v1/audio/speech', { model: 'demo/speech', input: 'Hello 👋', ...body })
const balanceOf = async (who: GatewayUser) =>
  Number(Object((await who.call('POST', '/credits/balance')).body).balance)

/** Sends a transcription request. */
async function transcribe(
  who: GatewayUser,
  bytes: Uint8Array | string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const form = new FormData()
  form.set('model', 'demo/transcription')
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  const part = typeof bytes === 'string' ? bytes : new Uint8Array(bytes)
  form.set('file', new File([part], 'said.wav'))
  const sent = new Response(form)
  const type = sent.headers.get('content-type') ?? ''
  const body = await sent.bytes()
  return who.call('POST', '/audio/transcriptions', body, { ...headers, 'content-type': type })
}

test('rejects an audio model of the other operation', async () => {
  const speech = await synthesize({ model: 'demo/transcription' })
  expect(speech.body).toMatchObject({ error: { param: 'model' } })
  expect(speech.text('error.message')).toContain('POST /v1/audio/transcriptions')
  const wrong = await transcribe(gus, 'RIFF', { model: 'demo/speech' })
  expect(wrong.text('error.message')).toContain('POST /v1/audio/speech')
  const unpaid = await ned.call('POST', '/audio/speech', {
    model: 'speech/speech-ok-priced',
    input: 'Hi',
  })
  expect([unpaid.status, Object(unpaid.body).error.param]).toEqual([400, 'model'])
  const other = await transcribe(ned, 'RIFF', { model: 'transcription/transcription-ok-priced' })
  expect(other.text('error.message')).toContain('no published price')
})

test('transcribes audio and charges its actual seconds', async () => {
  const { bytes } = await synthesize({ input: 'x'.repeat(200), format: 'wav' })
  const response = await transcribe(gus, bytes, { language: 'en' })
  expect(response.body).toEqual({ text: 'A sound of 10 seconds.', cost: 0.0001 })
  expect(response.headers.get('x-service-cost')).toBe('0.0001')
  const text = await transcribe(gus, bytes, { response_format: 'text' })
  expect([text.body, text.headers.get('x-service-cost')]).toEqual([
    'A sound of 10 seconds.',
    '0.0001',
  ])
  const whole = await transcribe(gus, bytes, { response_format: 'verbose_json' })
  const untold = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0 }
  const ratios = { compression_ratio: 0, no_speech_prob: 0 }
  const result = { id: 0, start: 0, end: 10, text: 'A sound of 10 seconds.' }
  const segments = [{ ...result, ...untold, ...ratios }]
  const timed = { language: 'und', duration: 10, segments }
  expect(whole.body).toMatchObject({ cost: 0.0001, usage: { seconds: 10 }, ...timed })
  const twice = { 'idempotency-key': 'heard' }
  const first = await transcribe(gus, bytes, {}, twice)
  const before = await balanceOf(gus)
  expect((await transcribe(gus, bytes, {}, twice)).body).toEqual(first.body)
  expect(await balanceOf(gus)).toBe(before)
})

test('uses the upstream’s or an estimated length when the file has none', async () => {
  const bytes = new Uint8Array(8_000)
  const reported = await transcribe(ned, bytes, { model: 'transcription/transcription-ok' })
  expect(reported.body).toEqual({ text: 'Hello wörld', cost: 0.002 })
  const untold = await transcribe(ned, bytes, { model: 'transcription/transcription-no-usage' })
  expect(untold.body).toEqual({ text: 'Hello wörld', cost: 0.002 })
  const { use } = await faked.lastUse(ned)
  expect([use?.estimated, Number(use?.held)]).toEqual([true, 16_000_000])
  const empty = await transcribe(ned, bytes, { model: 'transcription/transcription-empty' })
  expect(empty.body).toMatchObject({ text: '' })
  await transcribe(ned, bytes, { model: 'transcription/words' })
  expect((await faked.lastUse(ned)).use).toMatchObject({ output: 4, estimated: true })
})

test('charges the longer of the file’s and the upstream’s length', async () => {
  const page = (clock: number, body: Uint8Array): Uint8Array => {
    const top = Buffer.alloc(28)
    top.write('OggS')
    top.writeUInt32LE(clock, 6)
    top.set([1, body.length], 26)
    return Buffer.concat([top, body])
  }
  const vorbis = Buffer.concat([Buffer.from('\x01vorbis'), Buffer.alloc(23)])
  vorbis.writeUInt32LE(8_000, 12)
  for (const [seconds, cost] of [
    [0.1, 0.002],
    [3, 0.003],
  ] as const) {
    const sounds = Array.from({ length: 8 }, () => page(seconds * 8_000, Buffer.alloc(200)))
    const bytes = Buffer.concat([page(0, vorbis), ...sounds])
    const response = await transcribe(ned, bytes, { model: 'transcription/transcription-ok' })
    expect(response.body).toEqual({ text: 'Hello wörld', cost })
  }
})

test('measures recordings of browsers and phones by their content', async () => {
  const model = 'transcription/transcription-no-usage'
  const video = await makeRecording('mp4', 7, { hasVideo: true })
  for (const [bytes, cost, end] of [
    [chromeMp4, 0.003939, '00:00:03,939'],
    [chromeWebm, 0.003952, '00:00:03,952'],
    [await makeRecording('mp4', 61), 0.061, '00:01:01,000'],
    [await makeRecording('fragmented mp4', 61), 0.061, '00:01:01,000'],
    [await makeRecording('live webm', 2), 0.002, '00:00:02,000'],
    [video, 0.007, '00:00:07,000'],
  ] as const) {
    const response = await transcribe(ned, bytes, { model })
    expect(response.body).toEqual({ text: 'Hello wörld', cost })
    const { use } = await faked.lastUse(ned)
    expect(use?.estimated).toBe(false)
    const subtitles = await transcribe(ned, bytes, { model, response_format: 'srt' })
    expect(subtitles.body).toBe(`1\n00:00:00,000 --> ${end}\nHello wörld\n`)
  }
  const words = await transcribe(ned, chromeMp4, { model: 'transcription/words' })
  expect(words.status).toBe(200)
})

test('rejects an invalid form by field before calling the upstream', async () => {
  const requests = faked.fake.received.length
  const model = 'transcription/transcription-ok'
  for (const [param, bytes, fields] of [
    ['file', '', { model }],
    ['model', 'RIFF', { model: '' }],
    ['language', 'RIFF', { model, language: 'not a code' }],
    ['response_format', 'RIFF', { model, response_format: 'diarized_json' }],
    ['stream', 'RIFF', { model, stream: 'yes' }],
    ['response_format', 'RIFF', { model, stream: 'true', response_format: 'srt' }],
  ] as const) {
    const response = await transcribe(ned, bytes, fields)
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
  }
  expect((await ned.call('POST', '/audio/transcriptions', { model })).status).toBe(400)
  const keyless = await faked.request('POST', '/audio/transcriptions', { body: 'x' })
  expect(keyless.status).toBe(401)
  const large = await transcribe(ned, new Uint8Array(32 * 1_024 * 1_024 + 70_000), { model })
  expect(large.status).toBe(413)
  expect(faked.fake.received.length).toBe(requests)
})
