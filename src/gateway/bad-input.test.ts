import { afterAll, describe, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'

import { gatewayBodyBytesMax } from '../kernel/limits.ts'
import { scripts } from '../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../testing/fixtures/fake-upstream-server.ts'
import { mediaModel } from '../testing/fixtures/media-models.ts'

/** Bodies that are none, at every operation that takes one: nothing is kept, held or sent on. */
const faked = await startFakeUpstreamServer({}, [
  mediaModel('embedding', 'embedding-ok'),
  mediaModel('image', 'image-ok'),
  mediaModel('speech', 'speech-ok'),
  { ...fakeModel('ok', { inputs: ['text', 'image'] }), id: 'fake/sees' },
])
const gus = await faked.gus()
afterAll(async () => {
  expect(faked.lines.filter(({ level }) => level === 'error')).toEqual([])
  await faked.close()
})

const messages = [{ role: 'user', content: 'Hello.' }]
const takers: [path: string, fine: Record<string, unknown>][] = [
  ['/chat/completions', { model: 'fake/ok', messages }],
  ['/responses', { model: 'fake/ok', input: 'Hello.' }],
  ['/embeddings', { model: 'embedding/embedding-ok', input: 'Hello.' }],
  ['/images/generations', { model: 'image/image-ok', prompt: 'A boat.' }],
  ['/audio/speech', { model: 'speech/speech-ok', input: 'Hello.', voice: 'alloy' }],
  ['/topup/create/usdt', { amount: 5 }],
]
const json = { 'content-type': 'application/json' }

/** Expects this error status, no stored change and no request to an upstream. */
async function expectRejected(status: number, path: string, body: unknown, headers = json) {
  const before = [await faked.snapshot(), faked.fake.received.length]
  const response = await gus.call('POST', `/v1${path}`, body, headers)
  expect([path, response.status]).toEqual([path, status])
  expect(response.body).toEqual({
    error: {
      message: expect.stringMatching(/.{10}/),
      type: 'invalid_request_error',
      param: null,
      code: null,
      ...paramOf(response.body),
    },
  })
  expect([await faked.snapshot(), faked.fake.received.length]).toEqual(before)
  return response
}
const paramOf = (body: unknown): object => {
  const { param, code } = Object(Object(body).error)
  return { param, code }
}

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('every operation that takes JSON refuses', () => {
  const bodies: [what: string, body: string | Uint8Array][] = [
    ['broken JSON', '{"model": "fake/ok", "messages": ['],
    ['what is no JSON', 'model=fake/ok'],
    ['two values', '{} {}'],
    ['an array', '[]'],
    ['a text', '"hello"'],
    ['a number', '1e400'],
    ['null', 'null'],
    ['nothing', ''],
    ['nesting a million deep', deep(1_000_000)],
    ['a field nested too deep', `{"model": "fake/ok", "messages": ${deep(100)}}`],
    ['a million values', `{"messages": [${'0,'.repeat(1_000_000)}0]}`],
    ['bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['a byte order mark of UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0])],
    ['only __proto__', '{"__proto__": {"model": "fake/ok", "messages": [], "input": "x"}}'],
    ['only constructor', '{"constructor": {"prototype": {"model": "fake/ok"}}}'],
  ]
  test.each(bodies)('%s', async (_, body) => {
    for (const [path] of takers) await expectRejected(400, path, body)
  })

  test('100 MB, whether it is announced or comes in pieces', async () => {
    const large = new Uint8Array(100 * 1_048_576).fill(0x20)
    for (const [path] of takers) await expectRejected(413, path, large)
    let sent = 0
    const pieces = new ReadableStream<Uint8Array>({
      pull(out) {
        sent += 1_048_576
        out.enqueue(large.subarray(0, 1_048_576))
        if (sent >= large.length) out.close()
      },
    })
    const response = await fetch(`${faked.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${gus.key}` },
      body: pieces,
    })
    expect(response.status).toBe(413)
    expect(sent).toBeLessThan(gatewayBodyBytesMax + 16 * 1_048_576)
  })

  test('a field of a wrong type', async () => {
    const others = [7, true, [], {}, [[]], { toString: 'x' }, { length: 1, 0: 'x' }]
    for (const [path, fine] of takers) {
      for (const field of Object.keys(fine)) {
        for (const other of others) {
          const isFine = field === 'amount' && other === 7
          if (isFine || (field === 'input' && Array.isArray(other) && other.length > 0)) continue
          await expectRejected(400, path, { ...fine, [field]: other })
        }
      }
    }
  })

  test('a number field that is not a number', async () => {
    const bad = ['5', -1, 0, 1.5, 1e300, 2 ** 60, true, {}]
    const fields: Record<string, string[]> = {
      '/chat/completions': ['max_tokens', 'max_completion_tokens', 'n'],
      '/responses': ['max_output_tokens'],
      '/images/generations': ['n'],
    }
    for (const [path, fine] of takers) {
      for (const field of fields[path] ?? []) {
        for (const value of bad) await expectRejected(400, path, { ...fine, [field]: value })
        const written = JSON.stringify({ ...fine, [field]: 'X' }).replace('"X"', '1e999')
        await expectRejected(400, path, written)
      }
    }
  })
})

test('an empty body counts as no body, also with a content type', async () => {
  for (const body of ['', '  ', undefined]) {
    const from = `198.51.100.${200 + String(body).length}`
    const made = await faked.request('POST', '/accounts/create', { from, body, headers: json })
    expect([body, made.status]).toEqual([body, body === '  ' ? 400 : 200])
  }
  expect((await gus.call('POST', '/credits/balance', '', json)).status).toBe(200)
  expect((await gus.call('POST', '/accounts/keys', '', json)).status).toBe(201)
})

test('__proto__ among good fields changes nothing, here or upstream', async () => {
  const body = `{"model":"fake/ok","messages":${JSON.stringify(messages)},"__proto__":{"stream":true,"n":9}}`
  const response = await gus.call('POST', '/v1/chat/completions', body, json)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toStartWith('application/json')
  expect(faked.fake.received.at(-1)?.body.n).toBeUndefined()
  expect(Reflect.get({}, 'stream')).toBeUndefined()
})

test('an unpaired surrogate is accepted like any character', async () => {
  const half = 'a\ud800b\udfff'
  const chat = { model: 'fake/ok', messages: [{ role: 'user', content: half }] }
  for (const stream of [false, true]) {
    expect((await gus.call('POST', '/v1/chat/completions', { ...chat, stream })).status).toBe(200)
  }
  const unknown = await gus.call('POST', '/v1/chat/completions', { ...chat, model: `fake/${half}` })
  expect(unknown.status).toBe(404)
  for (const path of ['/v1/models/%ed%a0%80', '/v1/files/%ff', '/v1/models/%00']) {
    expect((await gus.call('GET', path)).status).toBe(404)
  }
  expect(await faked.findProblems(gus)).toEqual([])
})

/** PDFs that unpack without end have their test beside their reader. */
describe('files that are bombs', () => {
  const upload = async (bytes: Uint8Array<ArrayBuffer>, name: string) => {
    const form = new FormData()
    form.append('file', new File([bytes], name))
    const sent = new Response(form)
    const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
    const before = await faked.snapshot()
    const response = await gus.call('POST', '/v1/files', await sent.bytes(), headers)
    expect(await faked.snapshot()).toEqual(before)
    return [response.status, response.code]
  }

  test('an image whose header says 60,000 by 60,000 pixels is W610', async () => {
    const data = new Uint8Array(deflateSync(new Uint8Array(1_000_000)))
    const head = new DataView(new ArrayBuffer(13))
    head.setUint32(0, 60_000)
    head.setUint32(4, 60_000)
    head.setUint32(8, 0x08_06_00_00)
    const chunks = [chunk('IHDR', new Uint8Array(head.buffer)), chunk('IDAT', data), chunk('IEND')]
    const bytes = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
    expect(await upload(new Uint8Array(bytes), 'a.png')).toEqual([400, 'W610'])
  })

  test('a PDF of random bytes is W610', async () => {
    expect(await upload(new Uint8Array(Buffer.from('%PDF-1.7\nnoise')), 'a.pdf')).toEqual([
      400,
      'W610',
    ])
  })
})

function chunk(type: string, data: Uint8Array = new Uint8Array()): Uint8Array {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length)
  frame.writeUInt32BE(Bun.hash.crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

test('the key of an upstream is in no response, log or history, whatever the upstream does', async () => {
  const models = Object.keys(scripts).filter((name) => !/hang|slow|bomb/.test(name))
  for (const name of models) {
    for (const stream of [false, true]) {
      const body = { model: `fake/${name}`, messages, stream }
      const { bytes, headers } = await gus.call('POST', '/v1/chat/completions', body)
      const output = new TextDecoder().decode(bytes) + JSON.stringify([...headers])
      expect([name, output.includes('sk-fake')]).toEqual([name, false])
    }
  }
  expect(
    faked.fake.received.some(({ headers }) => headers.authorization === 'Bearer sk-fake'),
  ).toBe(true)
  const history = await gus.call('GET', '/queries/history')
  for (const kept of [faked.lines, faked.warnings, history.body, await faked.snapshot()]) {
    expect(Bun.inspect(kept, { depth: 10 })).not.toContain('sk-fake')
  }
  expect(faked.warnings.length).toBeGreaterThan(0)
})
