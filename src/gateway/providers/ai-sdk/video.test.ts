import { afterAll, beforeEach, expect, test } from 'bun:test'

import type { AiSdkKind } from '../../../kernel/config/providers.ts'
import { isRecord, recordOf } from '../../../kernel/schema.ts'
import { systemClock } from '../../../kernel/time.ts'
import { catchError } from '../../../testing/catch-error.ts'
import { responseOf } from '../../../testing/fixtures/sent-request.ts'
import { makeMp4 } from '../../../testing/fixtures/videos.ts'
import { UpstreamError } from '../upstream.ts'
import { createAiSdkAdapter } from './adapter.ts'

/** A request that a provider received. */
interface Seen {
  url: URL
  headers: Headers
  body: string
}

const apiKey = 'sk-of-the-operator'
const mp4Bytes = makeMp4(4)
let seen: Seen[] = []
let state: 'making' | 'done' | 'failed' | 'busy' | 'declined' | 'page' | 'rejected' = 'making'
beforeEach(() => {
  seen = []
  state = 'making'
})

const busy = () => Response.json({ detail: 'Busy', error: { message: 'Busy' } }, { status: 503 })

const rejected = () => Response.json({ detail: 'No', error: { message: 'No' } }, { status: 401 })

/** Status responses by provider, in the formats of their API references. */
const statusBodies: Record<string, (origin: string) => unknown> = {
  fal: (origin) => (state === 'done' ? { video: { url: `${origin}/cdn/a.mp4` } } : {}),
  google: (origin) => {
    const uri = `${origin}/google/files/a:download?alt=media`
    const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }
    if (state === 'done') return { name: 'operations/o1', done: true, response }
    if (state === 'declined') return { done: true, response: { generateVideoResponse: {} } }
    const error = { code: 3, message: `It broke, with ${apiKey}.` }
    return { name: 'operations/o1', ...(state === 'failed' ? { done: true, error } : {}) }
  },
  replicate: (origin) => ({
    id: 'p1',
    urls: { get: `${origin}/replicate/predictions/p1` },
    ...(state === 'done' ? { status: 'succeeded', output: `${origin}/cdn/a.mp4` } : {}),
    ...(state === 'making' ? { status: 'processing' } : {}),
    ...(state === 'failed' ? { status: 'failed', error: 'No memory' } : {}),
  }),
}

function respond({ url, body }: Seen): Response {
  const [, kind = ''] = url.pathname.split('/')
  if (kind === 'cdn') return new Response(mp4Bytes)
  if (url.pathname.endsWith(':download')) {
    return new Response(null, { status: 302, headers: { location: '/cdn/a.mp4' } })
  }
  if (body !== '' && kind === 'fal') {
    return Response.json({ response_url: 'https://queue.fal.run/fal-ai/kling/requests/r1' })
  }
  if (body === '' && state === 'busy') return busy()
  if (body === '' && state === 'page') return new Response('<html>Sign in</html>')
  if (body === '' && state === 'rejected') return rejected()
  const result = statusBodies[kind]?.(url.origin)
  if (kind !== 'fal' || state === 'done') return Response.json(result)
  const detail = state === 'making' ? 'Request is still in progress' : 'No memory'
  const error = { message: detail, code: 422 }
  return Response.json({ detail, error }, { status: state === 'making' ? 400 : 422 })
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { headers } = request
    const one = { url: new URL(request.url), headers, body: await request.text() }
    seen.push(one)
    return respond(one)
  },
})
afterAll(() => server.stop(true))

const { signal } = new AbortController()
const adapterOf = (kind: AiSdkKind) => {
  const baseUrl = `http://127.0.0.1:${server.port}/${kind}`
  return createAiSdkAdapter({ name: kind, kind, baseUrl, apiKey }, systemClock)
}
const sent = { prompt: 'A boat', size: '1280x720', seconds: '4', seed: 7 }

async function begin(kind: AiSdkKind, model: string): Promise<string> {
  const accepted = await adapterOf(kind).send({ path: '/videos', model, body: sent, signal })
  const result: unknown = await responseOf(accepted).json()
  expect(result).toMatchObject({ object: 'video', status: 'queued' })
  return isRecord(result) ? String(result.id) : ''
}

/** Polls with a new adapter, as another process would. */
async function look(kind: AiSdkKind, id: string, more: '' | '/content' = '') {
  return responseOf(await adapterOf(kind).poll?.({ path: `/videos/${id}${more}`, signal }))
}
const standing = async (kind: AiSdkKind, id: string): Promise<unknown> =>
  (await look(kind, id)).json()

const makers: [AiSdkKind, string, object][] = [
  ['fal', 'fal-ai/kling', { prompt: 'A boat', aspect_ratio: '16:9', duration: '4s', seed: 7 }],
  [
    'google',
    'veo-3.0-generate-001',
    { parameters: { aspectRatio: '16:9', durationSeconds: 4, seed: 7 } },
  ],
  ['replicate', 'maker/films', { input: { prompt: 'A boat', duration: 4, seed: 7 } }],
]

test.each(makers)(
  '%s: submits a video, polls it until it is complete and downloads it',
  async (kind, model, body) => {
    const id = await begin(kind, model)
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject(body)
    expect(await standing(kind, id)).toEqual({ status: 'in_progress' })
    state = 'done'
    expect(await standing(kind, id)).toEqual({ status: 'completed', progress: 100 })
    if (kind === 'google') return
    expect(await (await look(kind, id, '/content')).bytes()).toEqual(new Uint8Array(mp4Bytes))
    const taken = seen.find(({ url }) => url.pathname === '/cdn/a.mp4')
    expect(JSON.stringify([taken?.url, taken?.headers])).not.toContain(apiKey)
  },
)

test('does not follow a download to a private address', async () => {
  const id = await begin('google', 'veo-3.0-generate-001')
  state = 'done'
  expect((await look('google', id, '/content')).status).toBe(404)
  expect(seen.some(({ url }) => url.pathname === '/cdn/a.mp4')).toBe(false)
})

test.each(makers)(
  '%s: a failure is reported without the key, and a busy provider is asked again',
  async (kind, model) => {
    const id = await begin(kind, model)
    state = 'busy'
    expect((await look(kind, id)).status).toBe(503)
    state = 'failed'
    const result = await standing(kind, id)
    expect(result).toMatchObject({ status: 'failed', error: { message: expect.any(String) } })
    expect(JSON.stringify(result)).not.toContain(apiKey)
  },
)

test.each(makers)('%s: a response without a status fails for good', async (kind, model) => {
  const id = await begin(kind, model)
  state = 'page'
  expect(await standing(kind, id)).toMatchObject({ status: 'failed' })
  state = 'rejected'
  const response = await look(kind, id)
  const isFailed = recordOf(await response.json())['status'] === 'failed'
  expect([kind, isFailed || response.status === 401]).toEqual([kind, true])
})

test.each(['fal', 'google'] as const)(
  '%s: a response that breaks off is repeated',
  async (kind) => {
    const id = await begin(kind, makers.find(([name]) => name === kind)?.[1] ?? '')
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{'
    const broken = Bun.listen({
      port: 0,
      hostname: '127.0.0.1',
      socket: { data: (socket) => void socket.end(head) },
    })
    const baseUrl = `http://127.0.0.1:${broken.port}/${kind}`
    const adapter = createAiSdkAdapter({ name: kind, kind, baseUrl, apiKey }, systemClock)
    const poll = adapter.poll?.({ path: `/videos/${id}`, signal })
    if (!poll) throw new Error('no videos')
    expect(await catchError(poll)).toBeInstanceOf(UpstreamError)
    broken.stop(true)
  },
)

test('fails a job without a video', async () => {
  const id = await begin('google', 'veo-3.0-generate-001')
  state = 'declined'
  expect(await standing('google', id)).toMatchObject({ status: 'failed' })
})

test('rejects input images, providers without video, and invalid ids', async () => {
  const ask = async (kind: AiSdkKind, body: Record<string, unknown> | FormData) =>
    responseOf(await adapterOf(kind).send({ path: '/videos', model: 'm', body, signal })).status
  expect(await ask('fal', { ...sent, input_reference: { image_url: 'x' } })).toBe(400)
  expect(await ask('fal', new FormData())).toBe(400)
  expect(await ask('anthropic', sent)).toBe(404)
  for (const id of ['x', 'bnVsbA', 'W10', '']) expect((await look('fal', id)).status).toBe(404)
  expect(seen).toEqual([])
})
