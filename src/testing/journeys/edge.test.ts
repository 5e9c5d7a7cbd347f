/** The built binary at the edge of HTTP: odd Host headers and raw requests. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startServerProcess } from '../processes/server-process.ts'

const dir = mkdtempSync(join(tmpdir(), 'berth-edge-'))
const ctx = await startServerProcess(join(dir, 'data'), { env: { REQUESTS_PER_MINUTE: '5' } })
afterAll(() => {
  ctx.kill('SIGKILL')
  rmSync(dir, { recursive: true })
})

/** Sends raw bytes and returns the whole response. */
function send(lines: string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(Number(new URL(ctx.origin).port), '127.0.0.1')
  let received = ''
  socket.on('data', (bytes) => (received += bytes.toString()))
  socket.on('end', () => resolve(received))
  socket.on('error', reject)
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
  return promise
}

test('an invalid Host is rejected, and HTTP/1.0 needs none', async () => {
  const invalid = ['a b', '"q', 'a@b', '[::1', 'a%20b', 'a/b', 'a?b', 'a:99999', '::1', 'a, b']
  for (const host of [...invalid, 'localhost\r\nHost: b']) {
    const response = await send(['GET /healthz HTTP/1.1', `Host: ${host}`])
    expect([host, response]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 400/)])
  }
  expect(await send(['GET /healthz HTTP/1.0'])).toContain('{"ok":true}')
})

test('a host of one letter has the same paths and limits', async () => {
  expect(await send(['GET /healthz HTTP/1.1', 'Host: b'])).toContain('{"ok":true}')
  // A path that two parsers read differently once bypassed the limit.
  const hidden = await send(['GET /xx/api/on HTTP/1.1', 'Host: b'])
  expect(hidden).toStartWith('HTTP/1.1 404')
})

test('the binary rejects a number out of range like the sources', async () => {
  const key = await ctx.newKey()
  for (const limit of ['0', '101', '1.5', '-1', '1e9']) {
    const response = await ctx.call('GET', `/api/apps?limit=${limit}`, key)
    expect(response.status).toBe(limit === '1e9' ? 429 : 400)
    await response.body?.cancel()
  }
})

test('an idle socket does not keep a server from stopping', async () => {
  const idle = connect(Number(new URL(ctx.origin).port), '127.0.0.1')
  const answered = new Promise((resolve) => idle.once('data', resolve))
  idle.on('error', () => {})
  idle.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await answered
  const gone = new Promise((resolve) => idle.once('close', resolve))
  ctx.kill('SIGTERM')
  expect(await ctx.exited).toBe(0)
  await gone
})
