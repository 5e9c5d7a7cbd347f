import { afterAll, expect, test } from 'bun:test'

import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { makeEncryptedPdf, makePdf } from '../../testing/fixtures/pdf.ts'
import type { TestResponse } from '../../testing/fixtures/test-server.ts'
import { sentParts, uploadTo } from '../../testing/fixtures/uploads.ts'
import { makeMp4, makeWebm } from '../../testing/fixtures/videos.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'

const model = (id: string, more: object) => ({ ...fakeModel('ok', more), id: `fake/${id}` })
const faked = await startFakeUpstreamServer({}, [
  model('sees', { inputs: ['text', 'image'] }),
  model('listens', { inputs: ['text', 'audio'] }),
  model('narrow', { contextLength: 1_000 }),
  model('watches', { inputs: ['text', 'file', 'video'] }),
])
const gus = await faked.gus()
afterAll(() => faked.close())

const upload = (bytes: string | Uint8Array, name: string, by = gus): Promise<string> =>
  uploadTo(faked, by, bytes, name)

const img = Uint8Array.fromBase64(
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

async function expectRejected(
  response: Promise<TestResponse>,
  status: number,
  code: string | null,
) {
  const before = await faked.lastUse(gus)
  const { status: received, body } = await response
  expect({ received, body }).toMatchObject({ received: status, body: { error: { code } } })
  expect((await faked.lastUse(gus)).total).toBe(before.total)
  expect(await faked.findProblems(gus)).toEqual([])
}

test('a PDF and a text file become text, also for a model without file input', async () => {
  const pdf = await upload(makePdf(['Hello tide']), 'tide.pdf')
  const notes = await upload('Low at nine.', 'notes.md')
  expect((await ask('ok', pdf, notes)).status).toBe(200)
  expect(sentParts(faked)).toEqual([
    { type: 'text', text: 'File "tide.pdf":\nHello tide' },
    { type: 'text', text: 'File "notes.md":\nLow at nine.' },
  ])
})

test('an image stays an image and audio stays audio where the model takes them', async () => {
  const image = await upload(img, 'a.png')
  expect((await ask('sees', image)).status).toBe(200)
  const url = `data:image/png;base64,${Buffer.from(img).toString('base64')}`
  expect(sentParts(faked)).toEqual([{ type: 'image_url', image_url: { url } }])
  const sound = await upload(makeWav(), 'a.wav')
  expect((await ask('listens', sound)).status).toBe(200)
  expect(sentParts(faked)).toMatchObject([{ type: 'input_audio', input_audio: { format: 'wav' } }])
  await expectRejected(ask('ok', image), 400, null)
  await expectRejected(ask('ok', sound), 400, 'W203')
})

test('uploaded images are accepted where inline ones are', async () => {
  const ids = Array<string>(40).fill(await upload(img, 'a.png'))
  expect((await ask('sees', ...ids)).status).toBe(200)
  const images = sentParts(faked)
  expect(images).toHaveLength(40)
  expect((await chat('sees', [text, ...images])).status).toBe(200)
})

test('the text of files counts for the window and for the hold', async () => {
  const long = await upload('word '.repeat(2_000), 'long.txt')
  await expectRejected(ask('narrow', long), 413, 'context_length_exceeded')
  const short = await upload('word', 'short.txt')
  await ask('ok', short)
  const small = (await faked.lastUse(gus)).use?.held ?? 0n
  await ask('ok', long)
  expect(((await faked.lastUse(gus)).use?.held ?? 0n) - small).toBeGreaterThan(9_000_000n)
})

test('seven PDFs, too many pages, no text, and files of others are rejected', async () => {
  const pdf = await upload(makePdf(['Hello']), 'a.pdf')
  await expectRejected(ask('ok', ...Array<string>(7).fill(pdf)), 413, null)
  expect((await ask('ok', ...Array<string>(6).fill(pdf))).status).toBe(200)
  const thick = await upload(makePdf(Array<string>(201).fill('x')), 'thick.pdf')
  await expectRejected(ask('ok', thick), 400, 'W606')
  const locked = await upload(makeEncryptedPdf(), 'locked.pdf')
  await expectRejected(ask('ok', locked), 400, 'W608')
  const blank = await upload(makePdf(['']), 'blank.pdf')
  await expectRejected(ask('ok', blank), 400, 'W611')
  const notes = await upload('x', 'x.txt')
  await expectRejected(ask('ok', ...Array<string>(65).fill(notes)), 400, null)
  const large = await upload('word '.repeat(2_000_000), 'large.txt')
  await expectRejected(ask('ok', ...Array<string>(5).fill(large)), 413, null)
  const other = await upload('Mine.', 'mine.txt', await faked.gus())
  await expectRejected(ask('ok', other), 404, null)
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
    expect(sentParts(faked)).toEqual([{ type: 'video_url', video_url: { url } }])
    await expectRejected(ask('ok', id), 400, 'W609')
  }
  await expectRejected(ask('watches', await upload(makeMp4(1_801), 'long.mp4')), 400, 'W607')
})

const inline = (bytes: Uint8Array, type = 'application/pdf') => ({
  type: 'file',
  file: { file_data: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` },
})
const chat = (model: string, content: unknown, more: object = {}): Promise<TestResponse> => {
  const messages = [{ role: 'user', content }]
  return gus.call('POST', '/v1/chat/completions', { model: `fake/${model}`, messages, ...more })
}

const thick = makePdf(Array<string>(201).fill('x'))
const own = { type: 'document_url', document_url: inline(thick).file.file_data }
const bare = { type: 'file', file: { file_data: Buffer.from(thick).toString('base64') } }

test.each([
  ['W606', inline(thick)],
  ['W606', bare],
  ['W606', own],
  ['W608', inline(makeEncryptedPdf(), 'APPLICATION/PDF')],
  ['W608', inline(makeEncryptedPdf(), 'text/plain')],
])('%s: a PDF in the request is looked into, whatever it is called', (code, part) =>
  expectRejected(chat('watches', [part]), 400, code),
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
    expect([model, (await chat(model, [part])).status]).toEqual([model, 200])
  }
  for (const [model, part] of parts(Buffer.concat([most, Buffer.alloc(1)]))) {
    await expectRejected(chat(model, [part]), 400, 'W605')
  }
})

test('inline PDFs count together with uploaded ones', async () => {
  const fine = inline(makePdf(['Hello']))
  const id = await upload(makePdf(['Hello']), 'a.pdf')
  const named = { type: 'file', file_id: id }
  const six = [...Array<object>(5).fill(named), fine]
  expect((await chat('watches', six)).status).toBe(200)
  await expectRejected(chat('watches', [named, ...six]), 413, null)
})

test('a file beside the messages belongs to the last user message', async () => {
  const file_id = await upload('Low at nine.', 'notes.md')
  const words = { type: 'text', text: 'File "notes.md":\nLow at nine.' }
  for (const content of ['When?', [{ type: 'text', text: 'When?' }]]) {
    expect((await chat('ok', content, { file_id })).status).toBe(200)
    expect(sentParts(faked)).toEqual([words])
    expect(faked.fake.received.at(-1)?.body).not.toHaveProperty('file_id')
  }
  expect((await chat('ok', '', { file_id })).status).toBe(200)
  await expectRejected(chat('ok', 'When?', { file_id: 'file_000000000000' }), 404, null)
  await expectRejected(chat('ok', 'When?', { file_id: 7 }), 400, null)
  const messages = [{ role: 'system', content: 'x' }]
  await expectRejected(chat('ok', '', { messages, file_id }), 400, null)
})

test('fields that an upstream bills beyond the hold are not forwarded', async () => {
  const tools = [{ type: 'web_search' }, { type: 'code_interpreter' }, { google_search: {} }, 7]
  for (const tool of tools) {
    await expectRejected(chat('ok', 'x', { tools: [tool] }), 400, null)
  }
  const dear = {
    search_parameters: { mode: 'on' },
    n_predict: 4_000,
    n_cmpl: 8,
    preset: 'mine',
    deferred: true,
  }
  expect((await chat('ok', 'x', dear)).status).toBe(200)
  const sent = faked.fake.received.at(-1)?.body ?? {}
  for (const name of Object.keys(dear)) expect(sent).not.toHaveProperty(name)
})
