import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'

import { json } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { makePdf } from '../../testing/fixtures/pdf.ts'
import type { TestResponse } from '../../testing/fixtures/test-server.ts'
import { sentParts, uploadTo } from '../../testing/fixtures/uploads.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'
import { until } from '../../testing/until.ts'

let ann: GatewayUser
const hearing = await startFakeUpstreamServer({}, [
  { ...fakeModel('ok', { inputs: ['text', 'audio'] }), id: 'fake/listens' },
  mediaModel('transcription', 'transcription-ok'),
  mediaModel('transcription', 'transcription-ok', { per_minute: '6' }),
])
beforeEach(async () => {
  ann = await hearing.gus()
})
afterAll(() => hearing.close())

const text = { type: 'text', text: 'What does it say?' }
const upload = (bytes: Uint8Array, name: string) => uploadTo(hearing, ann, bytes, name)
const chat = (model: string, ids: string[], more = {}) => {
  const parts = ids.map((id) => ({ type: 'input_audio', file_id: id }))
  const messages = [{ role: 'user', content: [text, ...parts] }]
  return ann.call('POST', '/v1/chat/completions', { model: `fake/${model}`, messages, ...more })
}
const call = (model: string, ...ids: string[]) => chat(model, ids)
const fileOf = async (id: string) => (await ann.call('GET', `/v1/files/${id}`)).body
/** Half a second at 0.06 USD per minute. */
const transcribed = { type: 'audio', status: 'completed', charged: 500_000n }
const historyOf = async () => Object((await ann.call('GET', '/queries/history')).body).data
const costOf = ({ body }: TestResponse): number => Object(body).usage.cost

test('audio becomes text, which is transcribed and charged once', async () => {
  const id = await upload(makeWav(), 'a.wav')
  expect(await fileOf(id)).toMatchObject({ words: null, status: 'uploaded', seconds: 0.5 })
  for (const model of ['ok', 'listens']) {
    expect((await call(model, id)).status).toBe(200)
    const words = [{ type: 'text', text: 'File "a.wav":\nHello wörld' }]
    expect(sentParts(hearing)).toEqual(words)
  }
  expect(await fileOf(id)).toMatchObject({ words: 2, status: 'processed' })
  const types = (await historyOf()).map(({ type }: { type: string }) => type)
  expect(types).toEqual(['chat', 'chat', 'audio'])
  const [row] = (await historyOf()).slice(-1)
  expect(row).toMatchObject({
    price_in_usd: Number(transcribed.charged) / 1e9,
    status: transcribed.status,
  })
})

test('a chat reports its cost with its own transcriptions only', async () => {
  const id = await upload(makeWav(), 'a.wav')
  const [first, second] = [await call('ok', id), await call('ok', id)]
  expect(costOf(first) - costOf(second)).toBeCloseTo(Number(transcribed.charged) / 1e9, 12)
  expect(Number(first.headers.get('x-service-cost'))).toBe(costOf(first))
  const third = await upload(makeWav(), 'c.wav')
  const streaming = { stream: true, stream_options: { include_usage: true } }
  const { bytes } = await chat('ok', [third], streaming)
  const [, streamed] = /"cost":([\d.e-]+)/.exec(new TextDecoder().decode(bytes)) ?? []
  expect(Number(streamed)).toBe(costOf(first))
  const other = await upload(makeWav(), 'b.wav')
  const both = await Promise.all([call('ok', other), call('ok', other)])
  const reported = [first, first, second, ...both].reduce((sum, one) => sum + costOf(one), 0)
  const rows: { price_in_usd: number }[] = await historyOf()
  expect(reported).toBeCloseTo(
    rows.reduce((sum, row) => sum + row.price_in_usd, 0),
    12,
  )
  expect(await hearing.findProblems(ann)).toEqual([])
})

test('two audio files of a request are two history rows; one named twice is one', async () => {
  const loud = Uint8Array.from(makeWav(), (byte, at) => (at < 44 ? byte : 0x90))
  const [one, two] = [await upload(makeWav(), 'a.wav'), await upload(loud, 'b.wav')]
  expect((await call('ok', one, two, one)).status).toBe(200)
  const third = await upload(makeWav(), 'c.wav')
  const input = [{ role: 'user', content: [{ type: 'input_file', file_id: third }] }]
  const response = (path: string) => ann.call('POST', path, { model: 'fake/ok', input })
  const calls = [call('ok', third), call('ok', third), response('/v1/responses')]
  const all = await Promise.all([...calls, response('/responses')])
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const types = (await historyOf()).map(({ type }: { type: string }) => type)
  expect(types.filter((type: string) => type === 'audio')).toHaveLength(3)
  expect(await hearing.findProblems(ann)).toEqual([])
})

test('a client that leaves does not cancel a transcription that another awaits', async () => {
  const words = json(200, { text: 'Hello wörld' })
  const gate = Promise.withResolvers<void>()
  hearing.fake.script('fake/transcription-ok', [{ until: gate.promise }, ...words], words)
  const waits = spyOn(hearing.ctx.state.transcriptions, 'wait')
  const id = await upload(makeWav(), 'a.wav')
  const content = [text, { type: 'input_audio', file_id: id }]
  const ask = (signal: AbortSignal) =>
    fetch(`${hearing.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fake/ok', messages: [{ role: 'user', content }] }),
      signal,
    }).catch(() => undefined)
  const leaving = new AbortController()
  const before = hearing.fake.received.length
  const first = ask(leaving.signal)
  await hearing.fake.arrival(before)
  const second = ask(new AbortController().signal)
  await until(() => waits.mock.calls.length === 2)
  waits.mockRestore()
  leaving.abort()
  expect(await first).toBeUndefined()
  gate.resolve()
  expect((await second)?.status).toBe(200)
  await until(async () => (await hearing.findProblems(ann)).length === 0)
  const types = (await historyOf()).map(({ type }: { type: string }) => type)
  expect(types.filter((type: string) => type === 'audio')).toHaveLength(1)
})

test('a file that another chat transcribes meanwhile is not charged twice', async () => {
  const words = json(200, { text: 'Hello wörld' })
  const gate = Promise.withResolvers<void>()
  hearing.fake.script('fake/transcription-ok', [{ until: gate.promise }, ...words], words)
  const slow = await upload(makeWav(), 'a.wav')
  const quick = await upload(makeWav(), 'b.wav')
  const before = hearing.fake.received.length
  const both = call('ok', slow, quick)
  await hearing.fake.arrival(before)
  expect((await call('ok', quick)).status).toBe(200)
  gate.resolve()
  expect((await both).status).toBe(200)
  const types = (await historyOf()).map(({ type }: { type: string }) => type)
  expect(types.filter((type: string) => type === 'audio')).toHaveLength(2)
})

test('nothing is transcribed for a chat that is rejected for a file or its own cost', async () => {
  const id = await upload(makeWav(), 'a.wav')
  const thick = await upload(makePdf(Array<string>(201).fill('x')), 'thick.pdf')
  expect((await call('ok', id, thick)).code).toBe('W606')
  expect(await historyOf()).toEqual([])
  expect((await call('ok', id)).status).toBe(200)
  const { use } = await hearing.lastUse(ann)
  // Credits for the chat alone.
  ann = await hearing.gus(String(Number(use?.held) / 1e9))
  expect((await call('ok', await upload(makeWav(), 'a.wav'))).status).toBe(402)
  expect(await historyOf()).toEqual([])
  expect(await hearing.findProblems(ann)).toEqual([])
})

test('audio without speech is W611 and is not transcribed again', async () => {
  hearing.fake.script('fake/transcription-ok', json(200, { text: ' ' }))
  const id = await upload(makeWav(), 'a.wav')
  const first = await call('ok', id)
  expect([first.code, Object(first.body).error.message]).toEqual([
    'W611',
    'a.wav has no text. Its transcription is charged once. Remove it from the request.',
  ])
  const second = await call('ok', id)
  expect([second.code, Object(second.body).error.message]).toEqual([
    'W611',
    'a.wav has no text. Remove it from the request.',
  ])
  expect(await historyOf()).toHaveLength(1)
  hearing.fake.script('fake/transcription-ok', failing)
  const other = await upload(makeWav(), 'b.wav')
  expect((await call('ok', other)).status).toBe(502)
  expect(await fileOf(other)).toMatchObject({ words: null })
  expect(await hearing.findProblems(ann)).toEqual([])
})
const failing = json(500, { error: { message: 'Broken.' } })

test('402 without the credits for it', async () => {
  ann = await hearing.gus('0.0001')
  const id = await upload(makeWav(), 'a.wav')
  expect((await call('ok', id)).status).toBe(402)
  expect(await historyOf()).toEqual([])
})
