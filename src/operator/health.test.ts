import { expect, test } from 'bun:test'

import { freshEngine } from '../testing/fixtures/engine.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

test('a full disk is reported and the server stays ready', async () => {
  const h = await startTestServer({ DISK_FLOOR_BYTES: '999999999999999' })
  const body = { ok: true, disk: 'full' }
  expect(await h.request('GET', '/readyz')).toMatchObject({ status: 200, body })
  await h.close()
})

test('a hanging database is reported as not ready while the process is healthy', async () => {
  const db = { ...(await freshEngine()), ping: () => new Promise<void>(() => {}) }
  const h = await startTestServer({}, { db })
  expect(await h.request('GET', '/readyz')).toMatchObject({ status: 503, body: { ok: false } })
  expect(h.lines.at(-2)).toMatchObject({ event: 'not ready', level: 'error' })
  expect(await h.request('GET', '/healthz')).toMatchObject({ status: 200, body: { ok: true } })
  await h.close()
}, 20_000)
