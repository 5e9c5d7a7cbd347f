import { afterAll, beforeAll, expect, test } from 'bun:test'

import { isRecord } from '../../core/shape.ts'
import { type Faked, fakeModel, openFaked } from '../../testing/faked.ts'
import type { Gus } from '../../testing/gateway.ts'
import type { Answer } from '../../testing/house.ts'
import { makePdf } from '../../testing/pdf.ts'

let faked: Faked
let gus: Gus
beforeAll(async () => {
  const model = (id: string, more: object) => ({ ...fakeModel('ok', more), id: `fake/${id}` })
  faked = await openFaked({}, [
    model('sees', { inputs: ['text', 'image'] }),
    model('listens', { inputs: ['text', 'audio'] }),
    model('narrow', { contextLength: 1_000 }),
  ])
  gus = await faked.gus()
})
afterAll(() => faked.close())

async function upload(bytes: string | Uint8Array, name: string, by = gus): Promise<string> {
  const form = new FormData()
  form.append('file', new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name))
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  const body = await sent.bytes()
  return (await faked.visit('POST', '/v1/files', { key: by.key, headers, body })).text('id')
}

const picture = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
)

/** Half a second of silence: 8 kHz, 8 bits, one channel. */
function wav(): Uint8Array {
  const bytes = Buffer.alloc(44 + 4_000, 0x80)
  bytes.write('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 0, 'latin1')
  bytes.writeUInt32LE(36 + 4_000, 4)
  bytes.writeUInt32LE(8_000, 24)
  bytes.writeUInt32LE(8_000, 28)
  bytes.write('\x01\0\x08\0data', 32, 'latin1')
  bytes.writeUInt32LE(4_000, 40)
  return bytes
}

const text = { type: 'text', text: 'What does it say?' }

/** Asks about files, named as each of the two places allows. */
const ask = (model: string, ...ids: string[]): Promise<Answer> => {
  const parts = ids.map((id, at) =>
    at % 2 === 0 ? { type: 'file', file: { file_id: id } } : { type: 'file', file_id: id },
  )
  const messages = [{ role: 'user', content: [text, ...parts] }]
  return gus.call('POST', '/v1/chat/completions', { model: `fake/${model}`, messages })
}

/** The parts that the upstream was sent beside the question. */
function sentParts(): unknown[] {
  const { messages } = faked.fake.received.at(-1)?.body ?? {}
  const [message]: unknown[] = Array.isArray(messages) ? messages : []
  return isRecord(message) && Array.isArray(message.content) ? message.content.slice(1) : []
}

async function expectRefused(answer: Promise<Answer>, status: number, code: string | null) {
  const before = await faked.lastUse(gus)
  const { status: said, body } = await answer
  expect({ said, body }).toMatchObject({ said: status, body: { error: { code } } })
  expect((await faked.lastUse(gus)).total).toBe(before.total)
  expect(await faked.faults(gus)).toEqual([])
}

test('a PDF and a text go in as words, also on a model that takes no files', async () => {
  const pdf = await upload(makePdf(['Hello tide']), 'tide.pdf')
  const notes = await upload('Low at nine.', 'notes.md')
  expect((await ask('ok', pdf, notes)).status).toBe(200)
  expect(sentParts()).toEqual([
    { type: 'text', text: 'File "tide.pdf":\nHello tide' },
    { type: 'text', text: 'File "notes.md":\nLow at nine.' },
  ])
})

test('a picture goes in as a picture, a sound as a sound, where the model takes it', async () => {
  const image = await upload(picture, 'a.png')
  expect((await ask('sees', image)).status).toBe(200)
  const url = `data:image/png;base64,${Buffer.from(picture).toString('base64')}`
  expect(sentParts()).toEqual([{ type: 'image_url', image_url: { url } }])
  const sound = await upload(wav(), 'a.wav')
  expect((await ask('listens', sound)).status).toBe(200)
  expect(sentParts()).toMatchObject([{ type: 'input_audio', input_audio: { format: 'wav' } }])
  await expectRefused(ask('ok', image), 400, null)
  await expectRefused(ask('ok', sound), 400, 'W203')
})

test('the words of files count for the window, and for the hold', async () => {
  const long = await upload('word '.repeat(2_000), 'long.txt')
  await expectRefused(ask('narrow', long), 413, 'context_length_exceeded')
  const short = await upload('word', 'short.txt')
  await ask('ok', short)
  const small = (await faked.lastUse(gus)).use?.held ?? 0n
  await ask('ok', long)
  expect(((await faked.lastUse(gus)).use?.held ?? 0n) - small).toBeGreaterThan(9_000_000n)
})

test('seven PDFs, too many pages, no words, and files of others are refused', async () => {
  const pdf = await upload(makePdf(['Hello']), 'a.pdf')
  await expectRefused(ask('ok', ...Array<string>(7).fill(pdf)), 413, null)
  expect((await ask('ok', ...Array<string>(6).fill(pdf))).status).toBe(200)
  const thick = await upload(makePdf(Array<string>(201).fill('x')), 'thick.pdf')
  await expectRefused(ask('ok', thick), 400, 'W606')
  const blank = await upload(makePdf(['']), 'blank.pdf')
  await expectRefused(ask('ok', blank), 400, 'W611')
  const notes = await upload('x', 'x.txt')
  await expectRefused(ask('ok', ...Array<string>(65).fill(notes)), 400, null)
  const large = await upload('word '.repeat(2_000_000), 'large.txt')
  await expectRefused(ask('ok', ...Array<string>(5).fill(large)), 413, null)
  const other = await upload('Mine.', 'mine.txt', await faked.gus())
  await expectRefused(ask('ok', other), 404, null)
})
