import { afterAll, describe, expect, test } from 'bun:test'

import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { OpenAIEmbeddings } from '@langchain/openai'
import { embed, generateImage, generateSpeech, transcribe } from 'ai'
import OpenAI, { toFile } from 'openai'

import { until } from '../until.ts'
import { startClientServer } from './server.ts'

const gateway = await startClientServer()
afterAll(() => gateway.stop())

const at = () => ({ baseURL: gateway.baseUrls[0] ?? '', apiKey: gateway.key })

describe.each([0, 1])('the openai client, base URL %d', (which) => {
  const client = () =>
    new OpenAI({ baseURL: gateway.baseUrls[which] ?? '', apiKey: gateway.key, maxRetries: 0 })

  test('embeddings arrive, as base64 by default', async () => {
    const model = 'demo/embedding'
    const { data } = await client().embeddings.create({ model, input: ['a boat', 'a boat'] })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([256, 256])
    const [first, second] = data
    expect(first?.embedding).toEqual(second?.embedding ?? [])
    expect(Math.hypot(...(first?.embedding ?? []))).toBeCloseTo(1, 5)
  })

  test('images arrive as URLs that open without a key', async () => {
    const before = await gateway.spent()
    const made = await client().images.generate({ model: 'demo/image', prompt: 'A boat', n: 2 })
    expect(await gateway.spent()).toBe(before + 2_000_000n)
    for (const { url = '' } of made.data ?? []) {
      const seen = await fetch(url)
      expect([seen.status, seen.headers.get('content-type')]).toEqual([200, 'image/png'])
    }
    expect(made.data).toHaveLength(2)
  })

  test('a video is polled until it is complete, and its bytes arrive', async () => {
    const before = await gateway.spent()
    const { videos } = client()
    let createdVideo = await videos.create({ model: 'demo/video', prompt: 'A boat', seconds: '4' })
    expect(createdVideo.status).toBe('queued')
    // create_and_poll of the Python client takes any other status as the end.
    await until(async () => {
      createdVideo = await videos.retrieve(createdVideo.id)
      return !['queued', 'in_progress'].includes(createdVideo.status)
    })
    expect(createdVideo.status).toBe('completed')
    expect(await gateway.spent()).toBe(before + 4_000_000n)
    const content = await videos.downloadContent(createdVideo.id)
    expect(content.headers.get('content-type')).toBe('video/webm')
    expect((await content.bytes()).length).toBeGreaterThan(1_000)
  })

  test('speech is synthesized and transcribed', async () => {
    const spoken = await client().audio.speech.create({
      model: 'demo/speech',
      input: 'x'.repeat(40),
      voice: 'alloy',
      response_format: 'wav',
    })
    expect(spoken.headers.get('x-service-cost')).toBe('0.00004')
    const file = await toFile(await spoken.arrayBuffer(), 'said.wav')
    const transcript = await client().audio.transcriptions.create({
      model: 'demo/transcription',
      file,
    })
    expect(transcript.text).toBe('A sound of 2 seconds.')
  })
})

test('AI SDK, openai-compatible: an embedding and an image arrive', async () => {
  const provider = createOpenAICompatible({ name: 'berth', ...at() })
  const model = provider.embeddingModel('demo/embedding')
  const { embedding, usage } = await embed({ model, value: 'a boat' })
  expect([embedding.length, usage.tokens > 0]).toEqual([256, true])
  const { image } = await generateImage({
    model: provider.imageModel('demo/image'),
    prompt: 'A boat',
    size: '64x64',
  })
  expect(image.mediaType).toBe('image/png')
})

test('AI SDK, openai: speech is synthesized and transcribed', async () => {
  const provider = createOpenAI(at())
  const { audio } = await generateSpeech({
    model: provider.speech('demo/speech'),
    text: 'x'.repeat(40),
    outputFormat: 'wav',
  })
  const { text } = await transcribe({
    model: provider.transcription('demo/transcription'),
    audio: audio.uint8Array,
  })
  expect(text).toBe('A sound of 2 seconds.')
  const { segments, durationInSeconds } = await transcribe({
    model: provider.transcription('demo/transcription'),
    audio: audio.uint8Array,
    providerOptions: { openai: { responseFormat: 'verbose_json' } },
  })
  expect(segments).toEqual([{ text, startSecond: 0, endSecond: 2 }])
  expect(durationInSeconds).toBe(2)
})

test('LangChain: embeddings arrive', async () => {
  const { apiKey, baseURL } = at()
  const embeddings = new OpenAIEmbeddings({
    model: 'demo/embedding',
    apiKey,
    configuration: { baseURL },
    maxRetries: 0,
  })
  expect(await embeddings.embedQuery('a boat')).toHaveLength(256)
  expect(await embeddings.embedDocuments(['a boat', 'a tide'])).toHaveLength(2)
})
