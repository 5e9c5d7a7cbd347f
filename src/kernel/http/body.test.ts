import { afterAll, describe, expect, test } from 'bun:test'

import { zipSync } from 'fflate'

import { expectError } from '../../testing/expect-error.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { ApiError } from '../errors.ts'
import { jsonDepthMax, jsonValuesMax } from '../limits.ts'
import { readJsonBody } from './body.ts'

const parse = (body: string | ReadableStream): Promise<unknown> =>
  readJsonBody(new Request('http://localhost/', { method: 'POST', body }))

/** Returns the error details of an invalid body. */
async function problemOf(text: string | ReadableStream): Promise<string> {
  try {
    await parse(text)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    return JSON.stringify(error instanceof ApiError && error.details)
  }
}

test('brackets, commas and quotes inside strings have no meaning', async () => {
  const texts = ['[{,'.repeat(jsonValuesMax), '"', '\\', '\\"', 'a\\\\"[', '', '🚤"']
  for (const text of texts) expect(await parse(JSON.stringify({ text }))).toEqual({ text })
  expect(await parse(JSON.stringify(texts))).toEqual(texts)
})

test('nesting and the number of values are limited', async () => {
  const nested = (depth: number): string =>
    '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
  expect(await problemOf(nested(jsonDepthMax))).toBe('')
  expect(await problemOf(nested(jsonDepthMax + 2))).toContain('nested')
  const wide = (values: number): string => `[${Array<string>(values).fill('[]').join(',')}]`
  expect(await problemOf(wide(jsonValuesMax))).toBe('')
  expect(await problemOf(wide(jsonValuesMax + 1))).toContain('values')
})

test('a string without its end does not parse', async () => {
  for (const text of ['"', '"\\', '{"a":"\\"', '{"a":"b\\']) {
    expect(await problemOf(text)).toContain('it does not parse')
  }
})

test('an incomplete body is not an internal error', async () => {
  const broken = new ReadableStream({
    start(out) {
      out.enqueue(Buffer.from('{'))
      out.error(new Error('The client disconnected.'))
    },
  })
  expect(await problemOf(broken)).toContain('incomplete')
})

test('a compressed body is an error that names Content-Encoding', async () => {
  const body = Bun.gzipSync('{"a":1}')
  const headers = { 'content-encoding': 'gzip' }
  const request = new Request('http://localhost/', { method: 'POST', body, headers })
  expect(await readJsonBody(request).catch(({ details }) => details)).toEqual([
    { problem: 'The body is compressed. Send the body without Content-Encoding.' },
  ])
})

test('a large body is read like a small one', async () => {
  const long = 'é"\n'.repeat(200_000)
  expect(await parse(JSON.stringify({ long, a: [1, null] }))).toEqual({ long, a: [1, null] })
  expect(await parse(`{"a":"${'\\u0041'.repeat(200_000)}"}`)).toEqual({ a: 'A'.repeat(200_000) })
  expect(await problemOf(`["${long.replaceAll(/["\n]/g, ' ')}"`)).toContain('it does not parse')
  expect(await problemOf(`["${'a'.repeat(600_000)}",${'['.repeat(80)}`)).toContain('nested')
})

const t = await startTestServer({ DEMO_MODELS: 'on' })
const ann = await t.agent('ann')
const gus = await createGatewayUser(t, '1')
const app = await ann.publish()
afterAll(() => t.close())

const bytesOf = (text: string) => new Uint8Array(new TextEncoder().encode(text))
const zip = new Uint8Array(zipSync({ 'index.html': bytesOf('<h1>Reef</h1>') }))
const form = new FormData()
form.set('file', new File([zip], 'reef.zip'))
const sentForm = new Response(form)
const formType = sentForm.headers.get('content-type') ?? ''
const formBytes = await sentForm.bytes()
const json = bytesOf('{"html":"<h1>Reef</h1>"}')

type WrongBody = [body: Uint8Array, type: string, message: string, encoding?: string | undefined]
const jsonType = 'application/json'
const asJson = 'Send JSON with content-type: application/json'
const asZip = 'send the zip itself as the body with content-type: application/zip'

/** Bodies that no JSON operation reads, and what the error says. */
const notJson: Record<string, WrongBody> = {
  'a form': [formBytes, formType, `The body is multipart/form-data. ${asJson}`],
  'a form as JSON': [formBytes, jsonType, `The body is multipart/form-data. ${asJson}`],
  fields: [
    bytesOf('title=Reef'),
    'application/x-www-form-urlencoded',
    `The body is application/x-www-form-urlencoded. ${asJson}`,
  ],
  'compressed JSON': [
    Bun.gzipSync(json),
    jsonType,
    'Send the body without Content-Encoding.',
    'gzip',
  ],
  gzip: [Bun.gzipSync(json), jsonType, `The body is a gzip archive. ${asJson}`],
  'UTF-16': [
    Buffer.from('{"a":1}', 'utf16le'),
    'application/json; charset=utf-16',
    `The body is not UTF-8. ${asJson}, in UTF-8.`,
  ],
  'Latin-1': [
    Buffer.from('{"a":"ü"}', 'latin1'),
    'application/json; charset=iso-8859-1',
    'it is not UTF-8. Encode it in UTF-8.',
  ],
  HTML: [bytesOf('<h1>Reef</h1>'), 'text/html', `${asJson}, in UTF-8.`],
  'broken JSON': [
    bytesOf('{"a":'),
    jsonType,
    'it does not parse. Check its quotes, commas and brackets.',
  ],
}

const send = (path: string, [body, type, , encoding]: WrongBody, key: string, method = 'POST') =>
  t.request(method, path, {
    body: new Uint8Array(body),
    key,
    headers: { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) },
  })

describe.each(Object.entries(notJson))('%s', (_, sent) => {
  test('has an error with the right type in the Agent API', async () => {
    for (const path of [
      '/api/apps',
      `/api/apps/${app}/versions`,
      '/api/skills',
      '/api/keys',
      '/api/explore/x/comments',
    ]) {
      const failed = await expectError(t, 400, 'bad_request', () => send(path, sent, ann.key))
      expect(failed.text('error')).toContain(sent[2])
    }
  })

  test('has an error with the right type in each API of the gateway', async () => {
    const before = await t.snapshot()
    const paths = [
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/messages',
      '/v2/chat',
      '/v1/embeddings',
      '/v1beta/models/demo/chat:generateContent',
      '/api/v1/chat/completions',
      '/v1/videos',
      '/v1/images/generations',
    ]
    for (const path of paths.filter((one) => one !== '/v1/videos' || sent[1] !== formType)) {
      const { status, body } = await send(path, sent, gus.key)
      expect([path, status]).toEqual([path, 400])
      expect(JSON.stringify(body)).toContain(sent[2])
    }
    expect(await t.snapshot()).toEqual(before)
  })
})

const notZip: Record<string, WrongBody> = {
  JSON: [json, 'application/zip', `The body is JSON, not a zip. ${asJson}, or ${asZip}.`],
  'a form': [
    formBytes,
    'application/zip',
    `The body is multipart/form-data, not a zip. Instead, ${asZip}.`,
  ],
  'a gzip archive': [
    Bun.gzipSync(json),
    'application/zip',
    `The body is a gzip archive, not a zip. Instead, ${asZip}.`,
  ],
  'a compressed zip': [
    Bun.gzipSync(zip),
    'application/zip',
    'Send the body without Content-Encoding.',
    'gzip',
  ],
  nothing: [new Uint8Array(), 'application/zip', `The body is empty: ${asZip}.`],
  'a zip as JSON': [zip, jsonType, 'The body is a zip. Send it with content-type: application/zip'],
  'a zip as bytes': [
    zip,
    'application/octet-stream',
    'The body is a zip. Send it with content-type: application/zip',
  ],
  'a zip in a form': [
    formBytes,
    formType,
    `The body is multipart/form-data. ${asJson}, or ${asZip}.`,
  ],
}

test.each(Object.entries(notZip))(
  '%s where a zip is accepted has an error with its type',
  async (_, sent) => {
    for (const path of ['/api/apps', `/api/apps/${app}/versions`, '/api/skills']) {
      // The reasons of a folder that is no pack.
      const isPack = path === '/api/skills' && sent[1] === 'application/zip'
      const code = isPack ? 'bad_skill' : 'bad_request'
      const failed = await expectError(t, 400, code, () => send(path, sent, ann.key))
      expect(JSON.stringify(failed.body)).toContain(sent[2])
    }
  },
)

test('a form and compressed bytes are no files of assets', async () => {
  const path = `/api/apps/${app}/assets/a.json`
  for (const [body, type, message, encoding] of [
    [formBytes, formType, 'The body is multipart/form-data. Send the bytes of the file itself'],
    [Bun.gzipSync(json), jsonType, 'Send the body without Content-Encoding.', 'gzip'],
  ] satisfies WrongBody[]) {
    const sent: WrongBody = [body, type, message, encoding]
    const failed = await expectError(t, 400, 'bad_request', () => send(path, sent, ann.key, 'PUT'))
    expect(failed.text('error')).toContain(message)
  }
})

test('JSON where a form is required has an error with the right type', async () => {
  for (const path of ['/v1/files', '/v1/audio/transcriptions', '/v1/images/edits']) {
    for (const sent of [
      [json, jsonType, ''],
      [new Uint8Array(), '', ''],
      [formBytes, 'multipart/form-data', ''],
    ] satisfies WrongBody[]) {
      const { status, body } = await send(path, sent, gus.key)
      const expected = sent[1] === 'multipart/form-data' ? 'boundary' : 'Send multipart/form-data'
      expect([path, status, JSON.stringify(body)]).toEqual([
        path,
        400,
        expect.stringContaining(expected),
      ])
    }
  }
})

test('an empty body names JSON, and JSON of any content type is read', async () => {
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v2/chat', '/v1/embeddings']) {
    const { status, body } = await send(path, [new Uint8Array(), '', ''], gus.key)
    expect([path, status]).toEqual([path, 400])
    expect(JSON.stringify(body)).toContain(`The body is empty. ${asJson}.`)
  }
  const empty = await send('/api/apps', [new Uint8Array(), '', ''], ann.key)
  expect(empty.text('error')).toContain('as application/json')
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', jsonType]) {
    expect((await send('/api/apps', [json, type, ''], ann.key)).status).toBe(201)
  }
})
