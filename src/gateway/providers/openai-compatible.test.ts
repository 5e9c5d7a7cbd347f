import { afterAll, expect, test } from 'bun:test'

import { fakeText, fakeUsage, scripts } from '../../testing/fakes/chat-scripts.ts'
import { mediaScripts } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { responseOf } from '../../testing/fixtures/sent-request.ts'
import { decodeChat } from '../openai-chat/decode.ts'
import { createOpenAiAdapter } from './openai-compatible.ts'
import { UpstreamError } from './upstream.ts'

const key = 'sk-secret-of-the-operator'
const fake = startFakeUpstream()
afterAll(() => fake.close())
const adapter = createOpenAiAdapter({ name: 'fake', baseUrl: fake.baseUrl, apiKey: key })

/** Sends the chat of a client of OpenAI's API. Returns the response, also of a rejection. */
async function ask(model: string, body: Record<string, unknown> = {}, signal?: AbortSignal) {
  const sent = { model: 'maker/alias', messages: [{ role: 'user', content: 'Hi' }], ...body }
  const { request, isStream } = decodeChat(sent, {})
  const received = await adapter.chat({
    model: `fake/${model}`,
    request,
    isStream,
    outputMax: 1_000,
    stopsItself: true,
    signal: signal ?? AbortSignal.timeout(5_000),
  })
  return responseOf(received)
}

/** Sends a request that is no chat. */
const embed = async (model: string) =>
  responseOf(
    await adapter.send({
      path: '/embeddings',
      model: `fake/${model}`,
      body: { input: 'Hi' },
      signal: AbortSignal.timeout(5_000),
    }),
  )

const errorKindOf = (model: string, stream = false, signal?: AbortSignal) =>
  ask(model, { stream }, signal).then(
    () => 'answered',
    (error: unknown) => (error instanceof UpstreamError ? error.kind : error),
  )

test('sends known fields unchanged except the model, with the key in a header', async () => {
  const response = await ask('ok', { seed: 7, metadata: { deep: [1] }, unknown: 1 })
  expect(response.status).toBe(200)
  const result: unknown = await response.json()
  expect(result).toMatchObject({ usage: fakeUsage })
  const seen = fake.received.at(-1)
  expect(seen?.path).toBe('/v1/chat/completions')
  expect(seen?.headers.authorization).toBe(`Bearer ${key}`)
  expect(seen?.body).toEqual({
    model: 'fake/ok',
    messages: [{ role: 'user', content: 'Hi' }],
    seed: 7,
    metadata: { deep: [1] },
  })
})

test('requests the usage of every stream and keeps other options', async () => {
  const response = await ask('ok', { stream: true, stream_options: { obfuscate: false } })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const text = await response.text()
  expect(text.match(/"content":"[^"]*"/g)).toHaveLength(fakeText.length)
  expect(text).toEndWith('data: [DONE]\n\n')
  expect(fake.received.at(-1)?.body.stream_options).toEqual({
    obfuscate: false,
    include_usage: true,
  })
})

test('reads a stream of single bytes', async () => {
  const [whole, split] = await Promise.all(
    ['ok', 'ok-split-utf8'].map(async (name) => (await ask(name, { stream: true })).text()),
  )
  expect(split).toBe(whole ?? '')
})

test('sends a form with the upstream’s model and the file', async () => {
  const form = new FormData()
  form.set('model', 'maker/alias')
  form.set('file', new File(['RIFF'], 'a.wav', { type: 'audio/wav' }))
  const sent = await adapter.send({
    path: '/audio/transcriptions',
    model: 'fake/transcription-ok',
    body: form,
    signal: AbortSignal.timeout(5_000),
  })
  const { path, text } = fake.received.at(-1) ?? { path: '', text: '' }
  expect(await responseOf(sent).json()).toMatchObject({ text: 'Hello wörld' })
  expect(path).toBe('/v1/audio/transcriptions')
  expect(text).toContain('filename="a.wav"')
  expect(text).not.toContain('maker/alias')
})

test('classifies missing responses without naming address or key', async () => {
  expect(await errorKindOf('reset-first')).toBe('reset')
  expect(await errorKindOf('close-first', true)).toBe('reset')
  expect(await errorKindOf('bad-headers')).toBe('unreadable')
  expect(await errorKindOf('hang', false, AbortSignal.timeout(30))).toBe('timeout')
  expect(await errorKindOf('hang', true, AbortSignal.abort())).toBe('aborted')
  const nobody = createOpenAiAdapter({
    name: 'gone',
    baseUrl: 'http://127.0.0.1:1/v1',
    apiKey: key,
  })
  const call = {
    path: '/embeddings',
    model: 'm',
    body: {},
    signal: AbortSignal.timeout(5_000),
  } as const
  const failure: unknown = await nobody.send(call).catch((error: unknown) => error)
  expect(failure).toMatchObject({ kind: 'refused', message: 'gone: refused' })
  expect(Bun.inspect(failure)).not.toContain(key)
  expect(Bun.inspect(failure)).not.toContain('127.0.0.1')
})

test('does not follow redirects', async () => {
  expect(await errorKindOf('redirect')).toBe('redirect')
  expect(fake.canaryTouched()).toBe(0)
})

test('keeps status and body of an error without the key', async () => {
  for (const status of [400, 401, 402, 403, 404, 422, 429, 500, 503]) {
    for (const response of [await ask(String(status)), await embed(String(status))]) {
      expect(response.status).toBe(status)
      expect(await response.text()).not.toContain(key)
    }
  }
  for (const response of [await ask('401'), await embed('401')]) {
    expect(await response.text()).toContain('Incorrect API key provided: [key].')
  }
})

test('reads only the start of an error body', async () => {
  for (const chars of [60_000, 200_000]) {
    const body = JSON.stringify({ error: { message: 'x'.repeat(chars) } })
    const head = `HTTP/1.1 400 No\r\ncontent-length: ${body.length}\r\n\r\n`
    fake.script(`fake/${chars}`, [{ send: head }, { send: body }, { do: 'end' }])
    for (const response of [await ask(String(chars)), await embed(String(chars))]) {
      expect(await response.text()).toBe(body.length < 65_536 ? body : '{}')
    }
  }
})

test('reports a status outside HTTP as an upstream failure', async () => {
  for (const status of ['600', '000']) {
    const head = `HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`
    fake.script(`fake/${status}`, [{ send: head }, { do: 'end' }])
    expect([(await ask(status)).status, (await embed(status)).status]).toEqual([599, 599])
  }
})

test('aborts the upstream when the client leaves', async () => {
  for (const model of ['hang', 'hang-middle', 'ok-slow']) {
    const leaving = new AbortController()
    const before = fake.received.length
    const sent = ask(model, { stream: true }, leaving.signal).catch(() => undefined)
    const seen = await fake.arrival(before)
    leaving.abort()
    const response = await sent
    await response?.body?.cancel().catch(() => {})
    await seen?.ended
    expect([model, seen?.left]).toEqual([model, true])
  }
})

test('relays every response of the fake upstream, plain and streamed', async () => {
  const names = Object.keys(scripts).filter((name) => !/^(hang|ok-slow|gzip)/.test(name))
  for (const stream of [false, true]) {
    for (const name of [...names, ...Object.keys(mediaScripts)]) {
      const response = await ask(name, { stream }).catch((error: unknown) => error)
      if (response instanceof Response) await response.text().catch(() => '')
      else expect(response).toBeInstanceOf(UpstreamError)
    }
  }
})

test('decompresses a bomb only as far as it is read', async () => {
  const { body } = await ask('gzip-bomb')
  const reader = body?.getReader()
  const first = await reader?.read()
  expect(first?.value?.byteLength).toBeGreaterThan(0)
  await reader?.cancel()
})
