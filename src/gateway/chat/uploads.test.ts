import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { isRecord } from '../../core/schema.ts'
import { json } from '../../testing/fakes/chat-scripts.ts'
import {
  fakeModel,
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { makeEncryptedPdf, makePdf } from '../../testing/fixtures/pdf.ts'
import type { TestResponse } from '../../testing/fixtures/test-server.ts'
import { makeMp4, makeWebm } from '../../testing/fixtures/videos.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'

let faked: FakeUpstreamServer
let gus: GatewayUser
beforeAll(async () => {
  const model = (id: string, more: object) => ({ ...fakeModel('ok', more), id: `fake/${id}` })
  faked = await startFakeUpstreamServer({}, [
    model('sees', { inputs: ['text', 'image'] }),
    model('listens', { inputs: ['text', 'audio'] }),
    model('narrow', { contextLength: 1_000 }),
    model('watches', { inputs: ['text', 'file', 'video'] }),
  ])
  gus = await faked.gus()
})
afterAll(() => faked.close())

async function upload(
  bytes: string | Uint8Array,
  name: string,
  by = gus,
  at = faked,
): Promise<string> {
  const form = new FormData()
  form.append('file', new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name))
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  const body = await sent.bytes()
  return (await at.request('POST', '/v1/files', { key: by.key, headers, body })).text('id')
}

const picture = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
)

const text = { type: 'text', text: 'What does it say?' }

/** Sends a chat with files, in each of the two places for ids. */
const ask = (model: string, ...ids: string[]): Promise<TestResponse> => {
  const parts = ids.map((id, at) =>
    at % 2 === 0 ? { type: 'file', file: { file_id: id } } : { type: 'file', file_id: id },
  )
  const messages = [{ role: 'user', content: [text, ...parts] }]
  return gus.call('POST', '/v1/chat/completions', { model: `fake/${model}`, messages })
}

/** Returns the parts that the upstream received beside the question. */
function sentParts(at = faked): unknown[] {
  const { messages } = at.fake.received.at(-1)?.body ?? {}
  const [message]: unknown[] = Array.isArray(messages) ? messages : []
  return isRecord(message) && Array.isArray(message.content) ? message.content.slice(1) : []
}

async function expectRefused(answer: Promise<TestResponse>, status: number, code: string | null) {
  const before = await faked.lastUse(gus)
  const { status: received, body } = await answer
  expect({ received, body }).toMatchObject({ received: status, body: { error: { code } } })
  expect((await faked.lastUse(gus)).total).toBe(before.total)
  expect(await faked.findProblems(gus)).toEqual([])
}

test('a PDF and a text file become text, also for a model without file input', async () => {
  const pdf = await upload(makePdf(['Hello tide']), 'tide.pdf')
  const notes = await upload('Low at nine.', 'notes.md')
  expect((await ask('ok', pdf, notes)).status).toBe(200)
  expect(sentParts()).toEqual([
    { type: 'text', text: 'File "tide.pdf":\nHello tide' },
    { type: 'text', text: 'File "notes.md":\nLow at nine.' },
  ])
})

test('an image stays an image and audio stays audio where the model takes them', async () => {
  const image = await upload(picture, 'a.png')
  expect((await ask('sees', image)).status).toBe(200)
  const url = `data:image/png;base64,${Buffer.from(picture).toString('base64')}`
  expect(sentParts()).toEqual([{ type: 'image_url', image_url: { url } }])
  const sound = await upload(makeWav(), 'a.wav')
  expect((await ask('listens', sound)).status).toBe(200)
  expect(sentParts()).toMatchObject([{ type: 'input_audio', input_audio: { format: 'wav' } }])
  await expectRefused(ask('ok', image), 400, null)
  await expectRefused(ask('ok', sound), 400, 'W203')
})

test('uploaded images are accepted where inline ones are', async () => {
  const ids = Array<string>(40).fill(await upload(picture, 'a.png'))
  expect((await ask('sees', ...ids)).status).toBe(200)
  const pictures = sentParts()
  expect(pictures).toHaveLength(40)
  expect((await say('sees', [text, ...pictures])).status).toBe(200)
})

test('the text of files counts for the window and for the hold', async () => {
  const long = await upload('word '.repeat(2_000), 'long.txt')
  await expectRefused(ask('narrow', long), 413, 'context_length_exceeded')
  const short = await upload('word', 'short.txt')
  await ask('ok', short)
  const small = (await faked.lastUse(gus)).use?.held ?? 0n
  await ask('ok', long)
  expect(((await faked.lastUse(gus)).use?.held ?? 0n) - small).toBeGreaterThan(9_000_000n)
})

test('seven PDFs, too many pages, no text, and files of others are rejected', async () => {
  const pdf = await upload(makePdf(['Hello']), 'a.pdf')
  await expectRefused(ask('ok', ...Array<string>(7).fill(pdf)), 413, null)
  expect((await ask('ok', ...Array<string>(6).fill(pdf))).status).toBe(200)
  const thick = await upload(makePdf(Array<string>(201).fill('x')), 'thick.pdf')
  await expectRefused(ask('ok', thick), 400, 'W606')
  const locked = await upload(makeEncryptedPdf(), 'locked.pdf')
  await expectRefused(ask('ok', locked), 400, 'W608')
  const blank = await upload(makePdf(['']), 'blank.pdf')
  await expectRefused(ask('ok', blank), 400, 'W611')
  const notes = await upload('x', 'x.txt')
  await expectRefused(ask('ok', ...Array<string>(65).fill(notes)), 400, null)
  const large = await upload('word '.repeat(2_000_000), 'large.txt')
  await expectRefused(ask('ok', ...Array<string>(5).fill(large)), 413, null)
  const other = await upload('Mine.', 'mine.txt', await faked.gus())
  await expectRefused(ask('ok', other), 404, null)
})

test('a video of at most half an hour stays a video where the model takes it', async () => {
  for (const [video, type] of [
    [makeMp4(1_800), 'video/mp4'],
    [makeWebm(2), 'video/webm'],
    [makeMp4(0), 'video/mp4'],
  ] as const) {
    const id = await upload(video, 'film.bin')
    expect((await ask('watches', id)).status).toBe(200)
    const url = `data:${type};base64,${video.toString('base64')}`
    expect(sentParts()).toEqual([{ type: 'video_url', video_url: { url } }])
    await expectRefused(ask('ok', id), 400, 'W609')
  }
  await expectRefused(ask('watches', await upload(makeMp4(1_801), 'long.mp4')), 400, 'W607')
})

const inline = (bytes: Uint8Array, type = 'application/pdf') => ({
  type: 'file',
  file: { file_data: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` },
})
const say = (model: string, content: unknown, more: object = {}): Promise<TestResponse> => {
  const messages = [{ role: 'user', content }]
  return gus.call('POST', '/v1/chat/completions', { model: `fake/${model}`, messages, ...more })
}

const thick = makePdf(Array<string>(201).fill('x'))
const bare = { type: 'file', file: { file_data: Buffer.from(thick).toString('base64') } }

test.each([
  ['W606', inline(thick)],
  ['W606', bare],
  ['W608', inline(makeEncryptedPdf(), 'APPLICATION/PDF')],
  ['W608', inline(makeEncryptedPdf(), 'text/plain')],
])('%s: a PDF in the request is looked into, whatever it is called', (code, part) =>
  expectRefused(say('watches', [part]), 400, code),
)

test('W605: an inline part has at most 20 MB, in base64 or as a data: URL', async () => {
  const most = Buffer.alloc(20 * 1_048_576)
  const parts = (bytes: Buffer): [model: string, part: object][] => {
    const data = bytes.toString('base64')
    return [
      ['listens', { type: 'input_audio', input_audio: { data, format: 'wav' } }],
      ['sees', { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
    ]
  }
  for (const [model, part] of parts(most)) {
    expect([model, (await say(model, [part])).status]).toEqual([model, 200])
  }
  for (const [model, part] of parts(Buffer.concat([most, Buffer.alloc(1)]))) {
    await expectRefused(say(model, [part]), 400, 'W605')
  }
})

test('inline PDFs count together with uploaded ones', async () => {
  const fine = inline(makePdf(['Hello']))
  const id = await upload(makePdf(['Hello']), 'a.pdf')
  const named = { type: 'file', file_id: id }
  const six = [...Array<object>(5).fill(named), fine]
  expect((await say('watches', six)).status).toBe(200)
  await expectRefused(say('watches', [named, ...six]), 413, null)
})

test('a file beside the messages belongs to the last user message', async () => {
  const file_id = await upload('Low at nine.', 'notes.md')
  const words = { type: 'text', text: 'File "notes.md":\nLow at nine.' }
  for (const content of ['When?', [{ type: 'text', text: 'When?' }]]) {
    expect((await say('ok', content, { file_id })).status).toBe(200)
    expect(sentParts()).toEqual([words])
    expect(faked.fake.received.at(-1)?.body).not.toHaveProperty('file_id')
  }
  expect((await say('ok', '', { file_id })).status).toBe(200)
  await expectRefused(say('ok', 'When?', { file_id: 'file_000000000000' }), 404, null)
  await expectRefused(say('ok', 'When?', { file_id: 7 }), 400, null)
  const messages = [{ role: 'system', content: 'x' }]
  await expectRefused(say('ok', '', { messages, file_id }), 400, null)
})

test('fields that an upstream bills beyond the hold are not forwarded', async () => {
  const tools = [{ type: 'web_search' }, { type: 'code_interpreter' }, { google_search: {} }, 7]
  for (const tool of tools) {
    await expectRefused(say('ok', 'x', { tools: [tool] }), 400, null)
  }
  const dear = {
    search_parameters: { mode: 'on' },
    n_predict: 4_000,
    n_cmpl: 8,
    preset: 'mine',
    deferred: true,
  }
  expect((await say('ok', 'x', dear)).status).toBe(200)
  const sent = faked.fake.received.at(-1)?.body ?? {}
  for (const name of Object.keys(dear)) expect(sent).not.toHaveProperty(name)
})

describe('with a transcription model', () => {
  let hearing: FakeUpstreamServer
  let ann: GatewayUser
  beforeAll(async () => {
    hearing = await startFakeUpstreamServer({}, [
      { ...fakeModel('ok', { inputs: ['text', 'audio'] }), id: 'fake/listens' },
      mediaModel('transcription', 'transcription-ok'),
      mediaModel('transcription', 'transcription-ok', { per_minute: '6' }),
    ])
  })
  beforeEach(async () => {
    ann = await hearing.gus()
  })
  afterAll(() => hearing.close())
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
    const id = await upload(makeWav(), 'a.wav', ann, hearing)
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
    const id = await upload(makeWav(), 'a.wav', ann, hearing)
    const [first, second] = [await call('ok', id), await call('ok', id)]
    expect(costOf(first) - costOf(second)).toBeCloseTo(Number(transcribed.charged) / 1e9, 12)
    expect(Number(first.headers.get('x-service-cost'))).toBe(costOf(first))
    const third = await upload(makeWav(), 'c.wav', ann, hearing)
    const streaming = { stream: true, stream_options: { include_usage: true } }
    const { bytes } = await chat('ok', [third], streaming)
    const [, streamed] = /"cost":([\d.e-]+)/.exec(new TextDecoder().decode(bytes)) ?? []
    expect(Number(streamed)).toBe(costOf(first))
    const other = await upload(makeWav(), 'b.wav', ann, hearing)
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
    const [one, two] = [
      await upload(makeWav(), 'a.wav', ann, hearing),
      await upload(loud, 'b.wav', ann, hearing),
    ]
    expect((await call('ok', one, two, one)).status).toBe(200)
    const third = await upload(makeWav(), 'c.wav', ann, hearing)
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
    hearing.fake.script('fake/transcription-ok', [{ waitMs: 500 }, ...words], words)
    const id = await upload(makeWav(), 'a.wav', ann, hearing)
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
    while (hearing.fake.received.length === before) await Bun.sleep(5)
    const second = ask(new AbortController().signal)
    await Bun.sleep(150)
    leaving.abort()
    expect(await first).toBeUndefined()
    expect((await second)?.status).toBe(200)
    while ((await hearing.findProblems(ann)).length > 0) await Bun.sleep(5)
    const types = (await historyOf()).map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type === 'audio')).toHaveLength(1)
  })

  test('a file that another chat transcribes meanwhile is not charged twice', async () => {
    const words = json(200, { text: 'Hello wörld' })
    hearing.fake.script('fake/transcription-ok', [{ waitMs: 500 }, ...words], words)
    const slow = await upload(makeWav(), 'a.wav', ann, hearing)
    const quick = await upload(makeWav(), 'b.wav', ann, hearing)
    const before = hearing.fake.received.length
    const both = call('ok', slow, quick)
    while (hearing.fake.received.length === before) await Bun.sleep(5)
    expect((await call('ok', quick)).status).toBe(200)
    expect((await both).status).toBe(200)
    const types = (await historyOf()).map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type === 'audio')).toHaveLength(2)
  })

  test('nothing is transcribed for a chat that is rejected for a file or its own cost', async () => {
    const id = await upload(makeWav(), 'a.wav', ann, hearing)
    const thick = await upload(makePdf(Array<string>(201).fill('x')), 'thick.pdf', ann, hearing)
    expect((await call('ok', id, thick)).code).toBe('W606')
    expect(await historyOf()).toEqual([])
    expect((await call('ok', id)).status).toBe(200)
    const { use } = await hearing.lastUse(ann)
    // Credits for the chat alone.
    ann = await hearing.gus(String(Number(use?.held) / 1e9))
    expect((await call('ok', await upload(makeWav(), 'a.wav', ann, hearing))).status).toBe(402)
    expect(await historyOf()).toEqual([])
    expect(await hearing.findProblems(ann)).toEqual([])
  })

  test('audio without speech is W611 and is not transcribed again', async () => {
    hearing.fake.script('fake/transcription-ok', json(200, { text: ' ' }))
    const id = await upload(makeWav(), 'a.wav', ann, hearing)
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
    const other = await upload(makeWav(), 'b.wav', ann, hearing)
    expect((await call('ok', other)).status).toBe(502)
    expect(await fileOf(other)).toMatchObject({ words: null })
    expect(await hearing.findProblems(ann)).toEqual([])
  })
  const failing = json(500, { error: { message: 'Broken.' } })

  test('402 without the credits for it', async () => {
    ann = await hearing.gus('0.0001')
    const id = await upload(makeWav(), 'a.wav', ann, hearing)
    expect((await call('ok', id)).status).toBe(402)
    expect(await historyOf()).toEqual([])
  })
})
