import { afterAll, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { readWav } from '../../store/audio.ts'
import { detectFileKind } from '../../store/file-kind.ts'
import { end, head, send } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel, mediaModels } from '../../testing/fixtures/media-models.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const demo = await startTestServer({ DEMO_MODELS: 'on' })
const others = [
  mediaModel('speech', 'speech-ok', { completion: '0.00001' }),
  mediaModel('speech', 'speech-cut', { per_second: '0.001' }),
]
const faked = await startFakeUpstreamServer({}, [...mediaModels(), ...others])
const gus = await createGatewayUser(demo, '1')
const ned = await faked.gus()
afterAll(async () => {
  await demo.close()
  await faked.close()
})

const synthesize = (body: object, headers?: Record<string, string>, path = '/v1/audio/speech') =>
  gus.call('POST', path, { model: 'demo/speech', input: 'Hello 👋', ...body }, headers)
const balanceOf = async (who: GatewayUser) =>
  Number(Object((await who.call('POST', '/credits/balance')).body).balance)

test('synthesizes speech and charges its characters', async () => {
  const before = await balanceOf(gus)
  const response = await synthesize({ voice: 'tone', format: 'wav' })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/wav'])
  expect(response.headers.get('x-service-cost')).toBe('0.000007')
  expect(response.headers.get('x-request-id')).toBeTruthy()
  expect(readWav(response.bytes)).toEqual({ seconds: 0.35 })
  expect(await balanceOf(gus)).toBeCloseTo(before - 0.000_007, 9)
  expect((await synthesize({ response_format: 'wav' }, {}, '/audio/speech')).status).toBe(200)
  const mp3 = await synthesize({})
  expect(mp3.headers.get('content-type')).toBe('audio/mpeg')
  expect(await detectFileKind(mp3.bytes, mp3.bytes.byteLength)).toMatchObject({ seconds: 0.336 })
})

test('speech as events has the audio in base64 and its usage at the end', async () => {
  const plain = await synthesize({ format: 'wav' })
  const keyed = { 'idempotency-key': 'events' }
  for (const headers of [{}, keyed, keyed]) {
    const response = await synthesize({ format: 'wav', stream_format: 'sse' }, headers)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const frames = String(response.body).trim().split('\n\n')
    const events = frames.map((frame) => JSON.parse(frame.slice('data: '.length)))
    const last = events.pop()
    expect(last).toMatchObject({ type: 'speech.audio.done', usage: { cost: 0.000_007 } })
    const parts = events.map(({ type, audio }) => [type, Buffer.from(audio, 'base64')] as const)
    expect(new Set(parts.map(([type]) => type))).toEqual(new Set(['speech.audio.delta']))
    expect(Buffer.concat(parts.map(([, bytes]) => bytes)).equals(plain.bytes)).toBe(true)
  }
})

test('replays speech for the same Idempotency-Key and charges once', async () => {
  const headers = { 'idempotency-key': 'spoken' }
  const first = await synthesize({ input: 'Once' }, headers)
  const before = await balanceOf(gus)
  demo.clock.advance(2 * day)
  const second = await synthesize({ input: 'Once' }, headers)
  expect([second.status, second.bytes]).toEqual([200, first.bytes])
  expect(second.headers.get('x-service-cost')).toBe('0.000004')
  expect(await balanceOf(gus)).toBe(before)
})

test('sends the format to the upstream and returns its media type', async () => {
  const body = { model: 'speech/speech-ok', input: 'Hi', format: 'mp3', voice: 'alloy' }
  const response = await ned.call('POST', '/v1/audio/speech', body)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
  expect(faked.fake.received.at(-1)?.body).toEqual({
    model: 'fake/speech-ok',
    input: 'Hi',
    voice: 'alloy',
    response_format: 'mp3',
  })
})

test('rejects invalid speech fields by name', async () => {
  for (const [param, value] of [
    ['input', ''],
    ['input', 7],
    ['input', 'x'.repeat(50_001)],
    ['voice', 7],
    ['format', 'exe'],
    ['response_format', 'json'],
    ['stream_format', 'json'],
  ]) {
    const response = await synthesize({ [String(param)]: value })
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
  }
  expect((await synthesize({ format: 'wav', response_format: 'mp3' })).status).toBe(400)
})

test('speech that breaks off is cut and charged', async () => {
  const start = `${head(200, 'audio/mpeg', 'content-length: 1000\r\n')}\r\nID3`
  const { promise: transcript, resolve: goOn } = Promise.withResolvers<void>()
  const cut = [send(start), { do: 'end' } as const]
  faked.fake.script('fake/speech-cut', [send(start), { until: transcript }, { do: 'reset' }], cut)
  const before = await balanceOf(ned)
  const sent = { method: 'POST', headers: { authorization: `Bearer ${ned.key}` } }
  const body = JSON.stringify({ model: 'speech/speech-cut', input: 'Hello' })
  const headers = { ...sent.headers, 'content-type': 'application/json' }
  const response = await fetch(`${faked.origin}/v1/audio/speech`, { ...sent, headers, body })
  expect([response.status, response.headers.get('x-service-cost')]).toEqual([200, '0.00005'])
  goOn()
  expect(await response.bytes().catch(() => 'broken')).toBe('broken')
  const { use } = await faked.lastUse(ned)
  expect([use?.status, Number(use?.charged)]).toEqual(['failed', 50_000])
  expect(await balanceOf(ned)).toBeCloseTo(before - 0.000_05, 9)
  const timed = await ned.call('POST', '/audio/speech', {
    model: 'speech/speech-cut-priced',
    input: 'Hello',
  })
  expect([timed.status, timed.code]).toEqual([502, 'unreadable_response'])
  const last = await faked.lastUse(ned)
  expect([last.use?.charged, Number(last.use?.held)]).toEqual([last.use?.held, 5_000_000])
})

test('charges a client that leaves and aborts the upstream', async () => {
  const start = `${head(200, 'audio/mpeg', 'content-length: 1000\r\n')}\r\nID3`
  faked.fake.script('fake/speech-ok', [send(start), { do: 'hang' }])
  const gil = await faked.gus()
  const leaving = new AbortController()
  const response = await fetch(`${faked.origin}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gil.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'speech/speech-ok', input: 'Hello' }),
    signal: leaving.signal,
  })
  expect(response.status).toBe(200)
  leaving.abort()
  const requests = faked.fake.received.at(-1)
  await requests?.ended
  expect(requests?.left).toBe(true)
  await until(async () => (await faked.lastUse(gil)).total > 0)
  const { use } = await faked.lastUse(gil)
  expect([use?.status, Number(use?.charged)]).toEqual(['interrupted', 50_000])
  expect(await faked.findProblems(gil)).toEqual([])
})

test('allows a silent upstream but not a client that stops reading', async () => {
  const allowed: boolean[] = []
  const { promise: silence, resolve: speakOn } = Promise.withResolvers<void>()
  const start = `${head(200, 'audio/mpeg', 'content-length: 6\r\n')}\r\nID3`
  faked.fake.script('fake/speech-ok', [send(start), { until: silence }, send('ID3'), end])
  const gil = await faked.gus()
  const request = new Request('http://localhost/v1/audio/speech', {
    method: 'POST',
    headers: { authorization: `Bearer ${gil.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'speech/speech-ok', input: 'Hello' }),
  })
  const { body } = await faked.handle(request, '127.0.0.1', {
    pauseIdleTimeout: (isAllowed) => void allowed.push(isAllowed),
    upgrade: () => false,
  })
  expect(allowed).toEqual([true, false])
  const reader = body?.getReader()
  await reader?.read()
  const next = reader?.read()
  await until(() => allowed.length >= 3)
  expect(allowed).toEqual([true, false, true])
  speakOn()
  expect(new TextDecoder().decode((await next)?.value)).toBe('ID3')
  expect((await reader?.read())?.done).toBe(true)
  expect(allowed.at(-1)).toBe(false)
})

test('charges nothing for empty audio and the hold for an invalid response', async () => {
  for (const [script, code, charged] of [
    ['speech-empty', undefined, 0],
    ['speech-json', 'unreadable_response', 20_000],
  ] as const) {
    const body = { model: `speech/${script}`, input: 'Hi' }
    const response = await ned.call('POST', '/audio/speech', body)
    const { use } = await faked.lastUse(ned)
    expect([response.status, response.code, Number(use?.charged)]).toEqual([502, code, charged])
  }
  expect(await faked.findProblems(ned)).toEqual([])
})
