import { afterAll, expect, test } from 'bun:test'

import { faultKindOf } from './fault.ts'
import { Line } from './line.ts'

/** Takes every connection and says nothing on it: no TLS opens there. */
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

const body = JSON.stringify({ content: 'wörld' })
const ask = (line: Line, url: string, signal = AbortSignal.timeout(5_000)) =>
  line.fetch(url, { method: 'POST', body, signal, headers: { 'content-type': 'application/json' } })

test('a connection that does not open was reset before any byte', async () => {
  const { signal } = new AbortController()
  const error: unknown = await ask(new Line(20), `https://127.0.0.1:${mute.port}`, signal).catch(
    (error: unknown) => error,
  )
  expect(faultKindOf(error, signal)).toBe('reset')
})

test('an upstream that was reached may take its time', async () => {
  const signal = AbortSignal.timeout(100)
  const asking = ask(new Line(20), `http://127.0.0.1:${mute.port}`, signal)
  const error: unknown = await asking.catch((error: unknown) => error)
  expect(faultKindOf(error, signal)).toBe('timeout')
})

test('what is sent is the same, whether the upstream was heard of or not', async () => {
  const line = new Line()
  const [first, second]: unknown[] = [
    await (await ask(line, echo.url.href)).json(),
    await (await ask(line, echo.url.href)).json(),
  ]
  expect(second).toEqual(first)
  expect(first).toMatchObject([{ 'content-length': String(Buffer.byteLength(body)) }, body])
})
