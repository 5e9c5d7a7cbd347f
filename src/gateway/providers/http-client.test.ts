import { afterAll, expect, test } from 'bun:test'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { classifyNetworkError } from '../../kernel/fetch.ts'
import { HttpClient } from './http-client.ts'

/** Accepts connections without responding, so that no TLS handshake completes. */
const mute = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
const echo = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) =>
    Response.json([Object.fromEntries(request.headers), await request.text()]),
})
afterAll(async () => {
  mute.stop(true)
  await echo.stop(true)
})

const echoed = (reported: unknown) =>
  Value.Decode(Type.Tuple([Type.Record(Type.String(), Type.String()), Type.String()]), reported)

const body = JSON.stringify({ content: 'wörld' })
const ask = (line: HttpClient, url: string, signal = AbortSignal.timeout(5_000)) =>
  line.fetch(url, { method: 'POST', body, signal, headers: { 'content-type': 'application/json' } })

test('reports a connection that does not open as a reset', async () => {
  const { signal } = new AbortController()
  const error: unknown = await ask(
    new HttpClient(20),
    `https://127.0.0.1:${mute.port}`,
    signal,
  ).catch((error: unknown) => error)
  expect(classifyNetworkError(error, signal)).toBe('reset')
})

test('reports the same for forms and bytes', async () => {
  const { signal } = new AbortController()
  const form = new FormData()
  form.append('file', new Blob(['ahoy']), 'a.txt')
  for (const body of [form, new TextEncoder().encode('ahoy')]) {
    const init = { method: 'POST', body, signal: AbortSignal.timeout(3_000) }
    const asking = new HttpClient(20).fetch(`https://127.0.0.1:${mute.port}`, init)
    const error: unknown = await asking.catch((error: unknown) => error)
    expect(classifyNetworkError(error, signal)).toBe('reset')
    expect(init.signal.aborted).toBe(false)
  }
})

test('sets no time limit after the connection', async () => {
  const signal = AbortSignal.timeout(1_500)
  const asking = ask(new HttpClient(1_000), `http://127.0.0.1:${mute.port}`, signal)
  const error: unknown = await asking.catch((error: unknown) => error)
  expect(classifyNetworkError(error, signal)).toBe('timeout')
})

test('sends the same request to known and unknown upstreams', async () => {
  const line = new HttpClient()
  const [first, second]: unknown[] = [
    await (await ask(line, echo.url.href)).json(),
    await (await ask(line, echo.url.href)).json(),
  ]
  expect(second).toEqual(first)
  expect(first).toMatchObject([{ 'content-length': String(Buffer.byteLength(body)) }, body])
})

test('sends forms with their boundary and bytes unchanged', async () => {
  const line = new HttpClient()
  const form = new FormData()
  form.append('file', new Blob(['ahoy']), 'a.txt')
  const signal = AbortSignal.timeout(5_000)
  const sent = await line.fetch(echo.url.href, { method: 'POST', body: form, signal })
  const [headers, text] = echoed(await sent.json())
  const [, boundary] =
    /^multipart\/form-data; boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? []
  expect(text).toContain(`--${boundary}\r\n`)
  expect(headers['content-length']).toBe(String(text.length))
  const bytes = new TextEncoder().encode('ahoy')
  const init = { method: 'POST', body: bytes, signal, headers: { 'content-type': 'audio/wav' } }
  const [reported, same] = echoed(await (await new HttpClient().fetch(echo.url.href, init)).json())
  expect([reported['content-type'], reported['content-length'], same]).toEqual([
    'audio/wav',
    '4',
    'ahoy',
  ])
})
