import { afterEach, beforeEach, expect, test } from 'bun:test'

import { fileBytesMax, filesPerAccountMax } from '../../kernel/limits.ts'
import { day } from '../../kernel/time.ts'
import { findReferenced } from '../../server/operator/referenced-files.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { makePdf } from '../../testing/fixtures/pdf.ts'
import { chromeMp4, chromeWebm, makeRecording } from '../../testing/fixtures/recordings.ts'
import {
  startTestServer,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'
import { get, readWords } from './files.ts'
import { deleteExpired } from './quota.ts'

let t: TestServer
let gus: GatewayUser

beforeEach(async () => {
  t = await startTestServer()
  gus = await createGatewayUser(t)
})
afterEach(() => t.close())

/** Creates a multipart body. */
async function upload(
  fields: Record<string, string | File>,
  { path = '/v1/files', key = gus.key } = {},
): Promise<TestResponse> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  return t.request('POST', path, { key, headers, body: await sent.bytes() })
}

const file = (bytes: string | Uint8Array, name = 'notes.md'): File =>
  new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name)

const img = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
)

test('uploads, lists, downloads and deletes a text', async () => {
  const words = '# Tides\n\nLow at nine, hïgh at three.\n'
  const made = await upload({ file: file(words, '../../notes.md'), purpose: 'assistants' })
  const id = made.text('id')
  const bytes = Buffer.byteLength(words)
  expect([made.status, made.body]).toEqual([
    200,
    {
      id,
      file_id: id,
      object: 'file',
      bytes,
      created_at: 1_777_896_000,
      expires_at: 1_777_896_000 + 30 * 86_400,
      filename: 'notes.md',
      purpose: 'assistants',
      kind: 'text',
      words: 8,
      pages: null,
      type: 'text/plain; charset=utf-8',
      seconds: null,
      status: 'processed',
    },
  ])
  expect((await gus.call('GET', `/files/${id}`)).body).toEqual(made.body)
  const content = await gus.call('GET', `/v1/files/${id}/content`)
  expect(content.body).toBe(words)
  expect(content.headers.get('x-content-type-options')).toBe('nosniff')
  expect(content.headers.get('content-disposition')).toStartWith('attachment')
  const stored = await get(t.ctx, `gateway:${gus.creditId}`, id)
  expect(await readWords(t.ctx, stored)).toBe(words)
  const gone = await gus.call('DELETE', `/v1/files/${id}`)
  expect(gone.body).toEqual({ id, object: 'file', deleted: true })
  expect((await gus.call('GET', `/v1/files/${id}`)).status).toBe(404)
})

test('detects a PDF with its words and an image', async () => {
  const pdf = await upload({ file: file(makePdf(['Hello tide', 'The second page']), 'a.txt') })
  expect(pdf.body).toMatchObject({ kind: 'pdf', type: 'application/pdf', pages: 2, words: 5 })
  const stored = await get(t.ctx, `gateway:${gus.creditId}`, pdf.text('id'))
  expect(await readWords(t.ctx, stored)).toBe('Hello tide\n\nThe second page')
  const image = await upload({ file: file(img, 'a.pdf') })
  expect(image.body).toMatchObject({ kind: 'image', type: 'image/png', words: null })
  const sound = await upload({ file: file(makeWav(), 'a.wav') })
  expect(sound.body).toMatchObject({ kind: 'audio', seconds: 0.5, words: null, status: 'uploaded' })
})

test('detects recordings and photos of phones', async () => {
  const jpeg = await new Bun.Image(img).jpeg().bytes()
  const video = await makeRecording('fast mp4', 2, { hasVideo: true })
  const flac = Buffer.from('664c614380000022100010000000000000000ac440f000015888', 'hex')
  for (const [bytes, kind, type, seconds] of [
    [chromeMp4, 'audio', 'audio/mp4', 3.939],
    [chromeWebm, 'audio', 'audio/webm', 3.952],
    [await makeRecording('fast mp4', 2), 'audio', 'audio/mp4', 2],
    [video, 'video', 'video/mp4', 2],
    [await makeRecording('live webm', 2, { hasVideo: true }), 'video', 'video/webm', 2],
    [Buffer.concat([flac, Buffer.alloc(16)]), 'audio', 'audio/flac', 2],
    [Buffer.concat([jpeg, jpeg]), 'image', 'image/jpeg', null],
    [Buffer.concat([jpeg, video]), 'image', 'image/jpeg', null],
    [Buffer.concat([jpeg, Buffer.from('LIVE_3511')]), 'image', 'image/jpeg', null],
  ] as const) {
    const made = await upload({ file: file(bytes, 'IMG_1') })
    expect(made.body).toMatchObject({ kind, type, seconds, bytes: bytes.length })
    const content = await gus.call('GET', `/v1/files/${made.text('id')}/content`)
    expect(content.bytes).toEqual(new Uint8Array(bytes))
  }
})

test('stores a PDF of more than 200 pages without words', async () => {
  const long = await upload({ file: file(makePdf(Array<string>(201).fill('x')), 'long.pdf') })
  expect(long.body).toMatchObject({ kind: 'pdf', pages: 201, words: null })
})

test('upload_type, upload_too_large and upload_unreadable are W604, W605 and W610', async () => {
  const kept = await t.snapshot()
  const zip = Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0)
  const big = new Uint8Array(fileBytesMax + 1).fill(0x61)
  for (const [bytes, status, code] of [
    [zip, 415, 'W604'],
    [Uint8Array.of(0xff, 0xfe, 0x41, 0), 415, 'W604'],
    ['a\0b', 415, 'W604'],
    [big, 413, 'W605'],
    ['', 400, 'W610'],
    ['%PDF-1.4 and then nothing', 400, 'W610'],
    ['\0\0\0\x14ftypisom\0\0\0\0isom', 400, 'W610'],
    ['\0\0\0\x14ftypavif\0\0\0\0avif', 415, 'W604'],
    [img.subarray(0, 40), 400, 'W610'],
  ] as const) {
    const response = await upload({ file: file(bytes) })
    expect([response.status, response.code]).toEqual([status, code])
    expect(response.body).toMatchObject({ error: { type: 'invalid_request_error', param: 'file' } })
  }
  expect(await t.snapshot()).toEqual(kept)
})

test('rejects a body by its announced size without reading it: W605', async () => {
  const headers = {
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': String(10 ** 9),
  }
  const response = await gus.call('POST', '/v1/files', 'x', headers)
  expect([response.status, response.code]).toEqual([413, 'W605'])
})

test('responds 401 without a key before reading the body, and 400 to invalid forms', async () => {
  expect((await upload({ file: file('words') }, { key: 'gk_none' })).status).toBe(401)
  for (const [fields, param] of [
    [{}, 'file'],
    [{ file: 'words' }, 'file'],
    [{ file: file('words'), purpose: 'a b' }, 'purpose'],
  ] as const) {
    const { status, body } = await upload(fields)
    expect([status, body]).toMatchObject([400, { error: { param } }])
  }
  for (const type of [
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=y',
  ]) {
    const { status } = await gus.call('POST', '/v1/files', '{"file":1}', { 'content-type': type })
    expect(status).toBe(400)
  }
})

test('hides the files of another account: no_file', async () => {
  const made = await upload({ file: file('mine') })
  const other = await createGatewayUser(t)
  const id = made.text('id')
  for (const [method, path] of [
    ['GET', id],
    ['GET', `${id}/content`],
    ['DELETE', id],
    ['GET', 'file_000000000000'],
    ['GET', '__proto__'],
  ] as const) {
    const { status, body } = await other.call(method, `/v1/files/${path}`)
    expect(status).toBe(404)
    expect(body).toMatchObject({ error: { type: 'invalid_request_error', param: 'file_id' } })
  }
  expect((await other.call('GET', '/v1/files')).body).toMatchObject({ data: [], has_more: false })
  expect((await gus.call('GET', `/v1/files/${id}/content`)).body).toBe('mine')
})

test('lists files in pages in both orders', async () => {
  const ids: string[] = []
  for (const purpose of ['one', 'two', 'one']) {
    t.clock.advance(1_000)
    ids.unshift((await upload({ file: file(purpose), purpose })).text('id'))
  }
  const list = async (query: string) => (await gus.call('GET', `/v1/files${query}`)).body
  const page = { data: [{ id: ids[0] }, { id: ids[1] }], has_more: true, last_id: ids[1] }
  expect(await list('?limit=2')).toMatchObject(page)
  const rest = { data: [{ id: ids[2] }], has_more: false, first_id: ids[2] }
  expect(await list(`?limit=2&after=${ids[1]}`)).toMatchObject(rest)
  expect(await list('?order=asc&limit=1')).toMatchObject({ data: [{ id: ids[2] }] })
  expect(await list('?purpose=two')).toMatchObject({ data: [{ id: ids[1] }], has_more: false })
  expect((await gus.call('GET', '/v1/files?limit=0')).status).toBe(400)
  await gus.call('DELETE', `/v1/files/${ids[1]}`)
  for (const query of [`?after=${ids[1]}`, `?after=${ids[0]}&purpose=two`]) {
    expect(await list(query)).toMatchObject({ error: { param: 'after' } })
  }
})

test('returns the expiry of a file and hides it afterwards', async () => {
  const until = (anchor: string, seconds: string) => {
    const fields = { 'expires_after[anchor]': anchor, 'expires_after[seconds]': seconds }
    return upload({ file: file('tide'), ...fields })
  }
  const made = await until('created_at', '3600')
  const created = Number(Object(made.body).created_at)
  expect(made.body).toMatchObject({ expires_at: created + 3_600 })
  const path = `/v1/files/${made.text('id')}`
  const { sha256 } = await get(t.ctx, `gateway:${gus.creditId}`, made.text('id'))
  t.clock.advance(3_599_999)
  expect((await gus.call('GET', path)).body).toEqual(made.body)
  t.clock.advance(1)
  expect((await gus.call('GET', path)).status).toBe(404)
  expect((await gus.call('GET', '/v1/files')).body).toMatchObject({ data: [] })
  expect((await upload({ file: file('stays') })).status).toBe(200)
  await deleteExpired(t.ctx)
  expect(await findReferenced(t.ctx.db.read, [sha256])).toEqual(new Set())
  t.clock.advance(day)
  expect((await gus.call('GET', '/v1/files')).body).toMatchObject({ data: [{ bytes: 5 }] })
  for (const [anchor, seconds] of [
    ['now', '3600'],
    ['created_at', '3599'],
    ['created_at', '2592001'],
  ] as const) {
    const rejected = { status: 400, body: { error: { param: 'expires_after' } } }
    expect(await until(anchor, seconds)).toMatchObject(rejected)
  }
})

test('accepts expires_after as one JSON part', async () => {
  const until = (expires_after: string) => upload({ file: file('tide'), expires_after })
  const made = await until('{"anchor": "created_at", "seconds": 3600}')
  const created = Number(Object(made.body).created_at)
  expect(made.body).toMatchObject({ expires_at: created + 3_600 })
  const rejected = { status: 400, body: { error: { param: 'expires_after' } } }
  for (const text of ['3600', '{"seconds": 3600}', '{"anchor": "created_at"}', '{}', '']) {
    expect(await until(text)).toMatchObject(rejected)
  }
})

test('keeps stored bytes until no file references them', async () => {
  const made = await upload({ file: file(makePdf(['Hello tide']), 'a.pdf') })
  const { sha256, wordsSha256 } = await get(t.ctx, `gateway:${gus.creditId}`, made.text('id'))
  const names = [sha256, wordsSha256 ?? '']
  expect(await findReferenced(t.ctx.db.read, names)).toEqual(new Set(names))
  await gus.call('DELETE', `/v1/files/${made.text('id')}`)
  expect(await findReferenced(t.ctx.db.read, names)).toEqual(new Set())
})

test('limits the number of files per account: files_full', async () => {
  const words = file('the same bytes, kept once')
  for (let made = 0; made < filesPerAccountMax; made += 1) {
    expect((await upload({ file: words })).status).toBe(200)
  }
  const { status, body } = await upload({ file: words })
  expect(status).toBe(409)
  expect(body).toMatchObject({ error: { type: 'invalid_request_error', param: 'file' } })
}, 60_000)
