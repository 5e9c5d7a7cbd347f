import { expect, test } from 'bun:test'

import { responseOf } from '../../../testing/fixtures/sent-request.ts'
import type { UpstreamPath } from '../upstream.ts'
import { createDemoUpstream } from './demo.ts'

const demo = createDemoUpstream({ now: () => 1_700_000_000_000 })
const ask = async (path: UpstreamPath, model: string, body: Record<string, unknown> | FormData) =>
  responseOf(await demo.send({ path, model, body, signal: AbortSignal.timeout(10_000) }))

async function embed(input: unknown, more: Record<string, unknown> = {}) {
  const response = await ask('/embeddings', 'demo/embedding', { input, ...more })
  const body = JSON.parse(await response.text())
  return { status: response.status, data: body.data, usage: body.usage }
}

const dot = (a: number[], b: number[]) => a.reduce((sum, part, at) => sum + part * (b[at] ?? 0), 0)

test('returns normalized embeddings, the same for the same text', async () => {
  const { data, usage } = await embed(['the quick brown fox', 'the quick brown dog', 'taxes'])
  const [fox, dog, taxes] = data.map(({ embedding }: { embedding: number[] }) => embedding)
  expect(fox).toHaveLength(256)
  expect(dot(fox, fox)).toBeCloseTo(1, 5)
  expect(dot(fox, dog)).toBeGreaterThan(0.6)
  expect(Math.abs(dot(fox, taxes))).toBeLessThan(0.3)
  expect(usage).toEqual({ prompt_tokens: 9, total_tokens: 9 })
  expect((await embed('the quick brown fox')).data[0].embedding).toEqual(fox)
})

test('returns the same floats as base64', async () => {
  const more = { dimensions: 8 }
  const [floats] = (await embed('fox', more)).data
  const [packed] = (await embed('fox', { ...more, encoding_format: 'base64' })).data
  const bytes = Uint8Array.from(Buffer.from(packed.embedding, 'base64'))
  expect([...new Float32Array(bytes.buffer)]).toEqual(floats.embedding)
})

test('accepts token ids and rejects other input', async () => {
  expect((await embed([1, 2, 3])).usage.prompt_tokens).toBe(3)
  expect((await embed([[1, 2], [3]])).data).toHaveLength(2)
  for (const input of ['', [], [''], 7, [null], Array.from({ length: 2_049 }, () => 'a')]) {
    expect((await embed(input)).status).toBe(400)
  }
  expect((await embed('a', { dimensions: 0 })).status).toBe(400)
})

test('returns PNGs of the requested size that differ by prompt and index', async () => {
  const generate = async (prompt: string) => {
    const body = { prompt, size: '96x64', n: 2 }
    const response = await ask('/images/generations', 'demo/image', body)
    const { data } = JSON.parse(await response.text())
    return data.map(({ b64_json }: { b64_json: string }) => b64_json)
  }
  const [first, second] = await generate('a boat')
  const [other] = await generate('a castle')
  expect(new Set([first, second, other]).size).toBe(3)
  expect(await generate('a boat')).toEqual([first, second])
  const image = new Bun.Image(Buffer.from(first, 'base64'))
  expect(await image.metadata()).toMatchObject({ width: 96, height: 64, format: 'png' })
  expect(
    (await new Bun.Image(Buffer.from(first, 'base64')).resize(8, 8).jpeg().bytes()).length,
  ).toBeGreaterThan(100)
  for (const size of ['1536x1024', '1024x1536', '1792x1024']) {
    expect((await ask('/images/generations', 'demo/image', { prompt: 'a', size })).status).toBe(200)
  }
})

test('rejects images without a prompt, too large or too many', async () => {
  for (const body of [{}, { prompt: 'a', size: '5000x5000' }, { prompt: 'a', n: 11 }]) {
    expect((await ask('/images/generations', 'demo/image', body)).status).toBe(400)
  }
})

test('synthesizes a WAV with 0.05 s per character', async () => {
  const input = 'Hello wörld 👋'
  const response = await ask('/audio/speech', 'demo/speech', { input, response_format: 'wav' })
  expect(response.headers.get('content-type')).toBe('audio/wav')
  const sound = await response.blob()
  expect(sound.size).toBe(44 + 13 * 800)
  const bare = await ask('/audio/speech', 'demo/speech', { input, response_format: 'pcm' })
  expect(bare.headers.get('content-type')).toBe('audio/pcm')
  expect((await bare.bytes()).byteLength).toBe(13 * 0.05 * 24_000 * 2)
  const form = new FormData()
  form.set('model', 'demo/transcription')
  form.set('file', new File([sound], 'hello.wav'))
  const text = await ask('/audio/transcriptions', 'demo/transcription', form)
  expect(await text.json()).toMatchObject({
    text: 'A sound of 0.65 seconds.',
    usage: { type: 'duration', seconds: 0.65 },
  })
})

test('synthesizes MP3 by default, with two frames per character', async () => {
  for (const body of [{ input: 'Ho ho' }, { input: 'Ho ho', response_format: 'mp3' }]) {
    const response = await ask('/audio/speech', 'demo/speech', body)
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    const bytes = await response.bytes()
    expect([bytes.byteLength, bytes.subarray(96, 98)]).toEqual([960, new Uint8Array([255, 251])])
  }
  const opus = { input: 'Ho ho', response_format: 'opus' }
  expect((await ask('/audio/speech', 'demo/speech', opus)).status).toBe(400)
})

test('measures other audio by its bytes and rejects empty files', async () => {
  const transcribe = (file: Blob) => {
    const form = new FormData()
    form.set('file', file)
    return ask('/audio/transcriptions', 'demo/transcription', form)
  }
  const transcript = await transcribe(new Blob([new Uint8Array(32_000)]))
  expect(await transcript.json()).toMatchObject({ usage: { seconds: 2 } })
  expect((await transcribe(new Blob([]))).status).toBe(400)
  const cut = new Blob(['RIFF', new Uint8Array(40).fill(255)])
  expect((await transcribe(cut)).status).toBe(200)
  expect((await ask('/audio/speech', 'demo/speech', { input: '' })).status).toBe(400)
})

test('completes a video at once: a WebM of VP8, the same for the same prompt', async () => {
  const signal = AbortSignal.timeout(10_000)
  const poll = async (path: `/videos/${string}`) => responseOf(await demo.poll?.({ path, signal }))
  const shoot = async (prompt: string) => {
    const begun = await ask('/videos', 'demo/video', { prompt, seconds: '1.5', size: '720x1280' })
    const { id, status } = JSON.parse(await begun.text())
    expect(status).toBe('queued')
    const polled = await poll(`/videos/${id}`)
    expect(await polled.json()).toMatchObject({ id, status: 'completed', seconds: '1.5' })
    return Buffer.from(await (await poll(`/videos/${id}/content`)).bytes())
  }
  const video = await shoot('a boat')
  expect(video.toString('latin1')).toMatch(/^\x1a\x45\xdf\xa3[^]*webm[^]*V_VP8/)
  // Three key frames: the start code of RFC 6386, section 9.1, and the size.
  const frames = video.toString('latin1').split('\x9d\x01\x2a\x5a\x00\xa0\x00').length - 1
  expect(frames).toBe(3)
  expect(await shoot('a boat')).toEqual(video)
  expect(await shoot('a castle')).not.toEqual(video)
  for (const seconds of ['0', '21', 'x', '-1']) {
    expect((await ask('/videos', 'demo/video', { prompt: 'x', seconds })).status).toBe(400)
  }
  for (const id of ['x', 'e30', Buffer.from('{"seconds":1e9}').toString('base64url')]) {
    expect((await poll(`/videos/${id}/content`)).status).toBe(404)
  }
})
