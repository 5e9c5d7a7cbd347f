import { afterAll, describe, expect, test } from 'bun:test'

import { fakeImage } from '../../../testing/fakes/media-scripts.ts'
import {
  providerKey,
  type ProviderModel,
  startWithProviders,
} from '../../../testing/fixtures/with-providers.ts'

/** A request that a provider received. */
interface Seen {
  path: string
  headers: Headers
  body: string
}

const seen: Seen[] = []
const image = new Uint8Array(Buffer.from(fakeImage, 'base64'))
const sound = new Uint8Array(Buffer.from('ID3 a sound of sixteen bytes'))
const samples = new Uint8Array(4_800)
let polls = 0

const bytes = (body: Uint8Array<ArrayBuffer>, type: string) =>
  new Response(body, { headers: { 'content-type': type } })

const jobAt = (at: string, more: Record<string, unknown>, status = 200) =>
  Response.json({ ...more, urls: { get: at } }, { status })

/** A job of fal's queue, completed at the second poll. */
function written(body: string): Response {
  if (body !== '') return Response.json({ request_id: 'r1' })
  polls += 1
  if (polls === 1) return Response.json({ detail: 'Request is still in progress' }, { status: 400 })
  return Response.json({ text: 'Hello wörld', chunks: [{ text: 'Hello', timestamp: [0, 2] }] })
}

type Answers = Record<string, (seen: Seen, origin: string) => Response>

/** Responses by provider, in the formats of their API references. */
const imageList: Answers = {
  '/cdn/': () => bytes(image, 'image/png'),
  '/fal/fal-ai/flux': (_, origin) => {
    const images = [{ url: `${origin}/cdn/a.png`, content_type: 'image/png' }]
    return Response.json({ images, prompt: 'x', has_nsfw_concepts: [false] })
  },
  '/fal/fal-ai/blocked': () => {
    const detail = [{ loc: ['body'], msg: 'It was flagged.', type: 'content_policy_violation' }]
    return Response.json({ detail }, { status: 422 })
  },
  '/replicate/models/maker/paints': (_, origin) =>
    jobAt(`${origin}/replicate/predictions/p1`, { status: 'processing' }, 201),
  '/replicate/predictions/p1': (_, origin) => {
    const done = { status: 'succeeded', output: [`${origin}/cdn/b.png`] }
    return jobAt(`${origin}/replicate/predictions/p1`, done)
  },
  '/replicate/models/maker/fails': (_, origin) =>
    jobAt(`${origin}/replicate/predictions/p2`, { status: 'failed', error: 'No memory' }, 201),
  '/google/models/gemini-2.5-flash-image': () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: fakeImage } }]
    const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 900 }
    const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP' }]
    return Response.json({ candidates, usageMetadata })
  },
}

const others: Answers = {
  '/google/models/embeds:batch': () =>
    Response.json({ embeddings: [{ values: [0.6, 0.8] }, { values: [1, 0] }] }),
  '/cohere/embed': () => {
    const meta = { billed_units: { input_tokens: 5 } }
    return Response.json({ embeddings: { float: [[0.6, 0.8]] }, meta })
  },
  '/cohere/rerank': () =>
    Response.json({
      id: 'r',
      results: [{ index: 1, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 1 } },
    }),
  '/eleven/v1/text-to-speech': ({ path }) =>
    path.includes('pcm') ? bytes(samples, 'audio/pcm') : bytes(sound, 'audio/mpeg'),
  '/eleven/v1/speech-to-text': () => {
    const words = [{ text: 'Hello', type: 'word', start: 0, end: 2 }]
    const text = 'Hello wörld'
    return Response.json({ language_code: 'en', language_probability: 1, text, words })
  },
  '/deepgram/v1/speak': () => bytes(sound, 'audio/mpeg'),
  '/deepgram/v1/listen': () => {
    const words = [{ word: 'hello', start: 0, end: 2 }]
    const channels = [{ alternatives: [{ transcript: 'Hello wörld', words }] }]
    return Response.json({ metadata: { duration: 2.5 }, results: { channels } })
  },
  '/fal/fal-ai/wizper': ({ body }) => written(body),
  '/fal/fal-ai/speech': () => Response.json({ audio: { url: 'https://fal.run/sounds/a.mp3' } }),
  '/fal/sounds/a.mp3': () => bytes(sound, 'audio/mpeg'),
}

function respond(one: Seen, origin: string): Response {
  const all = Object.entries({ ...imageList, ...others })
  const found = all.find(([start]) => one.path.startsWith(start))
  return found?.[1](one, origin) ?? Response.json({ detail: 'Not found' }, { status: 404 })
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search, origin } = new URL(request.url)
    const one = { path: pathname + search, headers: request.headers, body: await request.text() }
    seen.push(one)
    return respond(one, origin)
  },
})
const at = (provider: string) => `http://127.0.0.1:${server.port}/${provider}`

const perImage = { type: 'image', price: { per_image: '0.04' } }
const perToken = { type: 'image', price: { prompt: '0.0000003', completion: '0.00003' } }
const speaks = { type: 'audio', outputs: ['audio'], price: { per_character: '0.0001' } }
const listens = {
  type: 'audio',
  inputs: ['audio'],
  outputs: ['text'],
  price: { per_minute: '0.006' },
}
const embeds = { type: 'embedding', price: { prompt: '0.0000001' } }

const models: ProviderModel[] = [
  { id: 'fal/flux', kind: 'fal', baseUrl: at('fal'), model: 'fal-ai/flux', ...perImage },
  { id: 'fal/blocked', kind: 'fal', baseUrl: at('fal'), model: 'fal-ai/blocked', ...perImage },
  { id: 'fal/wizper', kind: 'fal', baseUrl: at('fal'), model: 'wizper', ...listens },
  { id: 'fal/speaks', kind: 'fal', baseUrl: at('fal'), model: 'fal-ai/speech', ...speaks },
  {
    id: 'r/paints',
    kind: 'replicate',
    baseUrl: at('replicate'),
    model: 'maker/paints',
    ...perImage,
  },
  { id: 'r/fails', kind: 'replicate', baseUrl: at('replicate'), model: 'maker/fails', ...perImage },
  {
    id: 'g/image',
    kind: 'google',
    baseUrl: at('google'),
    model: 'gemini-2.5-flash-image',
    ...perToken,
  },
  { id: 'g/embeds', kind: 'google', baseUrl: at('google'), model: 'embeds', ...embeds },
  { id: 'c/embeds', kind: 'cohere', baseUrl: at('cohere'), model: 'embed-v4.0', ...embeds },
  {
    id: 'c/reranks',
    kind: 'cohere',
    baseUrl: at('cohere'),
    model: 'rerank-v3.5',
    type: 'rerank',
    price: { per_search: '0.002' },
  },
  { id: 'e/speaks', kind: 'elevenlabs', baseUrl: at('eleven'), model: 'eleven_v3', ...speaks },
  { id: 'e/listens', kind: 'elevenlabs', baseUrl: at('eleven'), model: 'scribe_v1', ...listens },
  {
    id: 'd/speaks',
    kind: 'deepgram',
    baseUrl: at('deepgram'),
    model: 'aura-2-thalia-en',
    ...speaks,
  },
  { id: 'd/listens', kind: 'deepgram', baseUrl: at('deepgram'), model: 'nova-3', ...listens },
  { id: 'a/paints', kind: 'anthropic', baseUrl: at('anthropic'), ...perImage },
]

const ctx = await startWithProviders(models)
const gus = await ctx.gus('20')
afterAll(async () => {
  await server.stop(true)
  await ctx.close()
})

const usd = async (): Promise<number> => Number((await ctx.lastUse(gus)).charged) / 1e9

describe('pictures', () => {
  const generate = (model: string, more: Record<string, unknown> = {}) =>
    gus.call('POST', '/v1/images/generations', { model, prompt: 'a boat', ...more })

  test('fal: sends one request per image, stores the bytes and charges all', async () => {
    const { status, body } = await generate('fal/flux', { n: 2, size: '640x480', seed: 7 })
    expect([status, Object(body).data.length, await usd()]).toEqual([200, 2, 0.08])
    const sent = seen.find(({ path }) => path === '/fal/fal-ai/flux')
    expect(sent?.headers.get('authorization')).toBe(`Key ${providerKey}`)
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      prompt: 'a boat',
      seed: 7,
      num_images: 1,
      image_size: { width: 640, height: 480 },
    })
    const link = new URL(Object(body).data[0].url)
    const kept = await ctx.request('GET', link.pathname + link.search)
    expect(kept.bytes).toEqual(image)
  })

  test('replicate: polls a job until it is done; a failed one is free', async () => {
    const { status } = await generate('r/paints', { size: '1600x900', negative_prompt: 'rain' })
    expect([status, await usd()]).toEqual([200, 0.04])
    const sent = seen.find(({ path }) => path === '/replicate/models/maker/paints/predictions')
    expect(sent?.headers.get('authorization')).toBe(`Bearer ${providerKey}`)
    const input = { prompt: 'a boat', aspect_ratio: '16:9', negative_prompt: 'rain' }
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ input })
    expect([(await generate('r/fails')).status, await usd()]).toEqual([502, 0])
  })

  test('google: charges images by tokens', async () => {
    expect((await generate('g/image')).status).toBe(200)
    expect(await usd()).toBeCloseTo(11 * 0.0000003 + 900 * 0.00003, 9)
  })

  test('reports a declined prompt, and a missing image model as unknown', async () => {
    const { status, code } = await generate('fal/blocked')
    expect([status, code, await usd()]).toEqual([400, 'content_policy_violation', 0])
    expect([(await generate('a/paints')).status, await usd()]).toEqual([400, 0])
  })
})

describe('speech', () => {
  const synthesize = (model: string, more: Record<string, unknown> = {}) =>
    gus.call('POST', '/v1/audio/speech', { model, input: 'Ahoy wörld', ...more })

  test.each(['e/speaks', 'd/speaks', 'fal/speaks'])(
    '%s: returns the sound unchanged and charges its characters',
    async (id) => {
      const { status, headers, bytes } = await synthesize(id, { voice: 'rachel' })
      expect([status, headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
      expect(bytes).toEqual(sound)
      expect([await usd(), headers.get('x-service-cost')]).toEqual([0.001, '0.001'])
    },
  )

  test('sends voice, model and key in each provider’s format', () => {
    const eleven = seen.find(({ path }) => path.startsWith('/eleven/v1/text-to-speech/rachel'))
    expect(eleven?.headers.get('xi-api-key')).toBe(providerKey)
    expect(JSON.parse(eleven?.body ?? '')).toMatchObject({
      text: 'Ahoy wörld',
      model_id: 'eleven_v3',
    })
    const deepgram = seen.find(({ path }) => path.startsWith('/deepgram/v1/speak'))
    expect(deepgram?.headers.get('authorization')).toBe(`Token ${providerKey}`)
    expect(deepgram?.path).toContain('model=aura-2-thalia-en')
    const fal = seen.find(({ path }) => path === '/fal/fal-ai/speech')
    expect(fal?.headers.get('authorization')).toBe(`Key ${providerKey}`)
    expect(JSON.parse(fal?.body ?? '')).toEqual({
      text: 'Ahoy wörld',
      voice: 'rachel',
      output_format: 'url',
    })
  })

  test('wraps raw samples as WAV and rejects unsupported formats', async () => {
    const { headers, bytes } = await synthesize('e/speaks', { format: 'wav' })
    expect(headers.get('content-type')).toBe('audio/wav')
    expect([Buffer.from(bytes).toString('latin1', 0, 4), bytes.length]).toEqual(['RIFF', 4_844])
    for (const id of ['e/speaks', 'fal/speaks']) {
      expect([(await synthesize(id, { format: 'flac' })).status, await usd()]).toEqual([400, 0])
    }
  })
})

describe('transcriptions', () => {
  const transcribe = async (model: string) => {
    const form = new FormData()
    form.set('model', model)
    form.set('response_format', 'verbose_json')
    form.set('file', new File([new Uint8Array(4_000)], 'a.mp3', { type: 'audio/mpeg' }))
    const respond = await fetch(`${ctx.origin}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gus.key}` },
      body: form,
    })
    return { status: respond.status, body: Object(await respond.json()) }
  }

  test.each([
    ['e/listens', 2],
    ['d/listens', 2.5],
    ['fal/wizper', 2],
  ] as const)('%s: transcribes to words and segments and charges seconds', async (id, seconds) => {
    const { status, body } = await transcribe(id)
    expect([status, body.text, body.duration]).toEqual([200, 'Hello wörld', seconds])
    expect(body.segments).toMatchObject([{ start: 0, end: 2 }])
    expect(await usd()).toBeCloseTo((seconds / 60) * 0.006, 8)
  })
})

describe('embeddings', () => {
  const embed = (model: string, input: unknown) =>
    gus.call('POST', '/v1/embeddings', { model, input })

  test('google: estimates missing usage', async () => {
    const { status, body } = await embed('g/embeds', ['one', 'two'])
    expect(status).toBe(200)
    expect(
      Object(body)
        .data.map(Object)
        .map((item: { embedding: unknown }) => item.embedding),
    ).toEqual([
      [0.6, 0.8],
      [1, 0],
    ])
    expect((await ctx.lastUse(gus)).estimated).toBe(true)
  })

  test('cohere: uses the reported tokens and rejects token ids', async () => {
    expect((await embed('c/embeds', 'one')).status).toBe(200)
    expect(await ctx.lastUse(gus)).toMatchObject({ input: 5, estimated: false, charged: 500n })
    for (const [model, input] of [
      ['c/embeds', [1, 2]],
      ['g/embeds', [[1], [2]]],
    ] as const) {
      const before = await ctx.snapshot()
      const rejected = await embed(model, input)
      expect([rejected.status, rejected.body]).toMatchObject([
        400,
        { error: { param: 'input', message: expect.stringContaining('Send text in "input"') } },
      ])
      expect(await ctx.snapshot()).toEqual(before)
    }
  })

  test('cohere: gets the fields of its own API, and others do not', async () => {
    const fields = {
      texts: ['one'],
      input_type: 'classification',
      truncate: 'START',
      output_dimension: 256,
      embedding_types: ['float', 'ubinary'],
      priority: 1,
    }
    const { status, body, headers } = await gus.call('POST', '/v2/embed', {
      model: 'c/embeds',
      ...fields,
    })
    expect([status, body]).toMatchObject([
      200,
      {
        embeddings: { float: [[0.6, 0.8]], ubinary: [[0b1100_0000]] },
        texts: ['one'],
        meta: { billed_units: { input_tokens: 5 } },
      },
    ])
    expect(headers.get('x-ignored-fields')).toBe('priority')
    const sent = JSON.parse(seen.findLast(({ path }) => path === '/cohere/embed')?.body ?? '')
    expect(sent).toMatchObject({
      texts: ['one'],
      input_type: 'classification',
      truncate: 'START',
      output_dimension: 256,
    })
    const more = { texts: ['one', 'two'], output_dimension: undefined }
    const other = await gus.call('POST', '/v2/embed', { model: 'g/embeds', ...fields, ...more })
    expect(other.status).toBe(200)
    const names = other.headers.get('x-ignored-fields')?.split(', ').toSorted()
    expect(names).toEqual(['input_type', 'priority', 'truncate'])
  })
})

test('cohere: reranks and uses the billed units', async () => {
  const request = { model: 'c/reranks', query: 'cape', documents: ['one', 'two'], top_n: 1 }
  const { body } = await gus.call('POST', '/v1/rerank', request)
  expect(body).toMatchObject({ results: [{ index: 1, relevance_score: 0.9 }] })
  expect(await ctx.lastUse(gus)).toMatchObject({ estimated: false, charged: 2_000_000n })
})

test('sends the key to providers only, never to file hosts, responses or logs', async () => {
  const files = seen.filter(({ path }) => path.startsWith('/cdn/'))
  expect(files.length).toBeGreaterThan(2)
  expect(ctx.warnings.join('')).not.toContain(providerKey)
  expect(await ctx.findProblems()).toEqual([])
})
