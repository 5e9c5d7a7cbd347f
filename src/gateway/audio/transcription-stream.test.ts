import { afterAll, describe, expect, test } from 'bun:test'

import { toFile } from 'openai'

import { catchError } from '../../testing/catch-error.ts'
import { openAiClient } from '../../testing/clients/openai-client.ts'
import { end, head, send, type Step } from '../../testing/fakes/chat-scripts.ts'
import {
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'

const byTokens = { prompt: '0.000001', completion: '0.000004' }
const models = ['transcription-ok', 'hang', '429', '500', 'html', 'empty'].map((name) =>
  mediaModel('transcription', name, byTokens),
)
const faked = await startFakeUpstreamServer({}, models)
const deadlines = { GATEWAY_FIRST_BYTE_SECONDS: '1', GATEWAY_TOTAL_SECONDS: '2' }
const hasty = await startFakeUpstreamServer(deadlines, models)
const ned = await faked.gus()
afterAll(async () => {
  await faked.close()
  await hasty.close()
})

const event = (fields: object): Step => send(`data: ${JSON.stringify(fields)}\n\n`)
const start = send(`${head(200, 'text/event-stream')}\r\n`)
const delta = (text: string) => event({ type: 'transcript.text.delta', delta: text })
const usage = { type: 'tokens', input_tokens: 11, output_tokens: 5, total_tokens: 16 }
const done = event({ type: 'transcript.text.done', text: 'Hello wörld', usage })
const reset: Step = { do: 'reset' }

async function transcribe(
  server: FakeUpstreamServer,
  who: GatewayUser,
  script: string,
  headers: Record<string, string> = {},
) {
  const form = new FormData()
  form.set('model', `transcription/${script}-priced`)
  form.set('file', new File([makeWav()], 'a.wav'))
  form.set('stream', 'true')
  const sent = new Response(form)
  const type = sent.headers.get('content-type') ?? ''
  const path = '/v1/audio/transcriptions'
  // Over a socket: a stream that is cut has no whole body.
  const response = await fetch(server.origin + path, {
    method: 'POST',
    body: await sent.bytes(),
    headers: { ...headers, 'content-type': type, authorization: `Bearer ${who.key}` },
  })
  const text = await response.text().catch(() => 'cut')
  const { use } = await server.lastUse(who)
  return { status: response.status, text, use }
}

const eventsOf = (text: string): unknown[] =>
  text
    .trim()
    .split('\n\n')
    .map((frame) => JSON.parse(frame.slice('data: '.length)))

test("OpenAI's client reads a model without streams as events, and pays once for its key", async () => {
  const demo = await startTestServer({ DEMO_MODELS: 'on' })
  const gus = await createGatewayUser(demo, '1')
  const client = openAiClient(demo, gus)
  const file = await toFile(makeWav(), 'a.wav')
  const body = { model: 'demo/transcription', file, stream: true } as const
  for (const headers of [{}, { 'idempotency-key': 'a' }, { 'idempotency-key': 'a' }]) {
    const stream = await client.audio.transcriptions.create(body, { headers })
    const types: string[] = []
    let text = ''
    for await (const one of stream) {
      types.push(one.type)
      if (one.type === 'transcript.text.delta') text += one.delta
    }
    expect([types, text]).toEqual([
      ['transcript.text.delta', 'transcript.text.done'],
      'A sound of 0.5 seconds.',
    ])
  }
  expect((await gus.call('GET', '/queries/history')).body).toMatchObject({ total: 2 })
  const translation = client.audio.translations.create(Object.assign({}, body))
  expect(await catchError(translation)).toMatchObject({ status: 400, param: 'stream' })
  await demo.close()
})

describe('a stream of the upstream', () => {
  test('is relayed unchanged and charged by its usage', async () => {
    faked.fake.script('fake/transcription-ok', [start, delta('Hello '), delta('wörld'), done, end])
    const { status, text, use } = await transcribe(faked, ned, 'transcription-ok')
    expect(status).toBe(200)
    expect(eventsOf(text)).toEqual([
      { type: 'transcript.text.delta', delta: 'Hello ' },
      { type: 'transcript.text.delta', delta: 'wörld' },
      { type: 'transcript.text.done', text: 'Hello wörld', usage },
    ])
    expect(use).toMatchObject({ status: 'completed', estimated: false, charged: 31_000n })
    expect(faked.fake.received.at(-1)?.text).toMatch(/name="stream"\r\n\r\ntrue/)
    // A stored response has no stream, so the same key finds it.
    faked.fake.script('fake/transcription-ok', [start, done, end])
    await transcribe(faked, ned, 'transcription-ok', { 'idempotency-key': 'b' })
    expect(faked.fake.received.at(-1)?.text).not.toContain('name="stream"')
  })

  const broken: [name: string, steps: Step[]][] = [
    ['cut', [start, delta('Hello '), reset]],
    ['ended early', [start, delta('Hello '), end]],
    ['an error', [start, delta('Hello '), event({ error: { message: 'sk-fake is bad' } }), end]],
    ['an error of its own type', [start, delta('Hello '), event({ type: 'error' }), end]],
  ]
  test.each(broken)('%s: ends with the error event and is charged', async (_, steps) => {
    faked.fake.script('fake/transcription-ok', steps)
    const { status, text, use } = await transcribe(faked, ned, 'transcription-ok')
    expect(status).toBe(200)
    expect(eventsOf(text).at(-1)).toMatchObject({ error: { code: 'upstream_stream_error' } })
    expect(text).not.toContain('sk-fake')
    expect(use).toMatchObject({ status: 'failed', estimated: true })
    expect(Number(use?.charged)).toBeGreaterThan(0)
    expect(Number(use?.charged)).toBeLessThanOrEqual(Number(use?.held))
  })

  test('an error before any text costs nothing', async () => {
    faked.fake.script('fake/transcription-ok', [start, event({ error: { message: 'x' } }), end])
    const { status, use } = await transcribe(faked, ned, 'transcription-ok')
    expect([status, use?.status, Number(use?.charged)]).toEqual([502, 'failed', 0])
  })

  test.each([
    ['429', 429, 'nothing'],
    ['500', 502, 'nothing'],
    ['empty', 502, 'nothing'],
    ['html', 502, 'hold'],
    ['hang', 504, 'hold'],
  ])('%s: before the stream, as without one', async (name, status, charge) => {
    const server = name === 'hang' ? hasty : faked
    const who = await server.gus()
    const response = await transcribe(server, who, name)
    expect(response.status).toBe(status)
    const { charged, held } = response.use ?? {}
    expect(Number(charged)).toBe(charge === 'hold' ? Number(held) : 0)
    expect(await server.findProblems(who)).toEqual([])
  })

  test('a deadline in the middle cuts the stream, and what it carried is charged', async () => {
    hasty.fake.script('fake/transcription-ok', [start, delta('Hello '), { do: 'hang' }])
    const who = await hasty.gus()
    const { use } = await transcribe(hasty, who, 'transcription-ok')
    expect(use).toMatchObject({ status: 'failed', estimated: true })
    expect(Number(use?.charged)).toBeGreaterThan(0)
    expect(await hasty.findProblems(who)).toEqual([])
  })
})
