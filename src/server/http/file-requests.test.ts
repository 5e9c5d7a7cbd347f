import { afterAll, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'

import { startTestServer } from '../../testing/fixtures/test-server.ts'

const token = 'metrics-token-of-this-test'
const t = await startTestServer({ METRICS_TOKEN: token })
const ann = await t.agent('ann')
afterAll(() => t.close())

const files = [
  { path: 'index.html', text: '<!doctype html><title>Reef</title><script src=a.js></script>' },
  { path: 'a.js', text: "console.log('reef')" },
]
const made = await ann.call('POST', '/apps', { files })
const shell = await t.request('GET', `/a/${made.text('app.id')}`)
const [, address = ''] = /data-frame="(\/f\/[0-9a-f]{32}\/)/.exec(String(shell.body)) ?? []

/** Ways to leave the files of a version that browsers do not resolve by themselves. */
const paths = [
  '..%2f..%2fhealthz',
  '..%2F..%2Fapi%2Fon',
  '..%5c..%5chealthz',
  '..%c0%af..%c0%afhealthz',
  '%252e%252e/%252e%252e/healthz',
  '..;/..;/healthz',
  '.%00./healthz',
  '/healthz',
  '//healthz',
  'http://localhost/healthz',
  'a.js/../%2e%2e%2fhealthz',
  'a.js%00.css',
  'api/on',
  'explore',
  'sign-in',
  '.well-known/agent-skills/index.json',
]

test('nothing below the address of files redirects, sets a cookie or says what was asked', async () => {
  expect((await t.request('GET', `${address}a.js`)).status).toBe(200)
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const { status, headers, body } = await t.request(method, address + path)
      const [moved, cookie] = [headers.get('location'), headers.get('set-cookie')]
      expect([path, status, moved, cookie]).toEqual([path, 404, null, null])
      expect(headers.get('access-control-allow-origin')).toBe('*')
      if (method !== 'HEAD') expect(body).toBe('Not found.\n')
    }
  }
})

test('a page cannot signal by the names of files that it has not', async () => {
  const secret = 'the-secret-of-ann'
  for (const path of [
    `${secret}.png`,
    `${secret}/a.js`,
    `a.js?${secret}`,
    `${secret}?q=${secret}`,
  ]) {
    await t.request('GET', address + path)
    await t.request('HEAD', address + path, { headers: { 'user-agent': 'Firefox' } })
  }
  const metrics = await t.request('GET', '/metrics', { key: token })
  expect(String(metrics.body)).toContain('berth_requests_total{part="apps",status="4xx"}')
  expect(String(metrics.body)).not.toContain(secret)
  const logged = JSON.stringify(t.lines)
  expect(logged).toContain('/f/:token/*')
  expect(logged).not.toContain(secret)
  // The token opens the files, so the log does not have it either.
  expect(logged).not.toContain(address.slice('/f/'.length, -1))
  expect(JSON.stringify(await t.snapshot())).not.toContain(secret)
})

test('a large file comes from the disk, whole, in ranges and compressed', async () => {
  const bytes = new Uint8Array(6 * 1_048_576).map((_, at) => at % 251)
  const large = [
    ...files,
    { path: 'film.mp4', base64: bytes.toBase64() },
    { path: 'data.bin', base64: bytes.toBase64() },
  ]
  const { status, body } = await ann.call('POST', '/apps', { files: large })
  expect(status).toBe(201)
  const page = await t.request('GET', `/a/${Object(body).app.id}`)
  const [, at = ''] = /data-frame="(\/f\/[0-9a-f]{32}\/)/.exec(String(page.body)) ?? []
  const server = Bun.serve({
    hostname: 'localhost',
    port: 0,
    fetch: (request) => t.handle(request, '127.0.0.1'),
  })
  const get = async (name: string, headers: Record<string, string>, method = 'GET') => {
    const url = `http://localhost:${server.port}${at}${name}`
    const response = await fetch(url, { headers, method, decompress: false })
    return { response, bytes: await response.bytes() }
  }
  const whole = await get('film.mp4', {})
  expect([whole.response.status, whole.response.headers.get('content-type')]).toEqual([
    200,
    'video/mp4',
  ])
  expect(whole.bytes).toEqual(bytes)
  const etag = whole.response.headers.get('etag') ?? ''
  for (const [headers, expected, part] of [
    [{ range: 'bytes=10-19' }, 206, bytes.subarray(10, 20)],
    [{ range: 'bytes=-5' }, 206, bytes.subarray(-5)],
    [{ range: 'bytes=10-19', 'if-range': etag }, 206, bytes.subarray(10, 20)],
    [{ range: 'bytes=10-19', 'if-range': '"old"' }, 200, bytes],
    [{ range: 'bytes=99999999-' }, 416, new Uint8Array()],
    [{ 'if-none-match': etag }, 304, new Uint8Array()],
  ] as const) {
    const { response, bytes: got } = await get('film.mp4', headers)
    expect([response.status, got.length]).toEqual([expected, part.length])
    expect(got).toEqual(part)
  }
  const head = await get('film.mp4', {}, 'HEAD')
  expect([head.response.headers.get('content-length'), head.bytes.length]).toEqual([
    String(bytes.length),
    0,
  ])
  for (const [encoding, decode] of [
    ['br', brotliDecompressSync],
    ['zstd', Bun.zstdDecompressSync],
  ] as const) {
    const packed = await get('data.bin', { 'accept-encoding': encoding })
    expect(packed.response.headers.get('content-encoding')).toBe(encoding)
    expect(packed.bytes.length).toBeLessThan(bytes.length / 10)
    expect(new Uint8Array(decode(packed.bytes))).toEqual(bytes)
  }
  await server.stop(true)
})
