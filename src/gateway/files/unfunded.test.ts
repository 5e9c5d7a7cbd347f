import { afterEach, expect, test } from 'bun:test'

import { unfundedFileBytesMax, unfundedUploadBytesPerPrefixDay } from '../../kernel/limits.ts'
import { day, minute, unixSeconds } from '../../kernel/time.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { deleteExpired } from './quota.ts'
import { gatewayFiles } from './tables.ts'

let t: TestServer
afterEach(() => t.close())

const mb = 1_048_576

/** Uploads a text of `bytes` bytes. */
async function upload({ key }: Pick<GatewayUser, 'key'>, bytes: number, from = '198.51.100.1') {
  const form = new FormData()
  form.append('file', new File(['a'.repeat(bytes)], 'a.txt'))
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  return t.request('POST', '/v1/files', { key, from, headers, body: await sent.bytes() })
}

test('files_full: an account that was never funded keeps 32 MB', async () => {
  t = await startTestServer()
  const poor = await createGatewayUser(t)
  expect((await upload(poor, unfundedFileBytesMax - mb)).status).toBe(200)
  const full = await upload(poor, mb + 1)
  expect([full.status, full.body]).toMatchObject([
    409,
    { error: { message: expect.stringContaining(`${unfundedFileBytesMax} bytes`) } },
  ])
  // Start credits of an agent are no funds.
  const ann = await t.agent('ann')
  expect((await upload(ann, unfundedFileBytesMax - mb)).status).toBe(200)
  expect((await upload(ann, mb + 1)).status).toBe(409)
  const rich = await createGatewayUser(t, '1')
  expect((await upload(rich, unfundedFileBytesMax - mb)).status).toBe(200)
  expect((await upload(rich, mb + 1)).status).toBe(200)
})

test('uploads_limit: the unfunded accounts of a network share 256 MB a day', async () => {
  t = await startTestServer()
  const size = unfundedFileBytesMax - 1_000
  for (let sent = 0; sent + size <= unfundedUploadBytesPerPrefixDay; sent += size) {
    expect((await upload(await createGatewayUser(t), size)).status).toBe(200)
  }
  const next = await createGatewayUser(t)
  const limited = await upload(next, size, '198.51.100.99')
  expect([limited.status, limited.body]).toMatchObject([429, { error: { param: 'file' } }])
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await upload(next, size, '198.51.101.1')).status).toBe(200)
  const rich = await createGatewayUser(t, '1')
  expect((await upload(rich, size)).status).toBe(200)
  t.clock.advance(2 * day)
  expect((await upload(await createGatewayUser(t), size)).status).toBe(200)
}, 60_000)

test('try_again: uploads of unfunded accounts stop first when the disk gets low', async () => {
  t = await startTestServer()
  const free = t.ctx.storage.free()
  await t.close()
  t = await startTestServer({ DISK_FLOOR_BYTES: String(Math.floor(free / 3)) })
  const [poor, rich] = [await createGatewayUser(t), await createGatewayUser(t, '1')]
  expect((await upload(poor, 10)).status).toBe(503)
  expect((await upload(rich, 10)).status).toBe(200)
})

test('deletes files that are not used for 30 days', async () => {
  t = await startTestServer()
  const user = await createGatewayUser(t)
  const [used, idle] = [await upload(user, 10), await upload(user, 20)]
  const path = `/v1/files/${used.text('id')}`
  t.clock.advance(29 * day)
  const { body } = await user.call('GET', `${path}/content`)
  expect(body).toBe('a'.repeat(10))
  const until = unixSeconds(t.clock.now() + 30 * day)
  expect((await user.call('GET', path)).body).toMatchObject({ expires_at: until })
  t.clock.advance(day)
  expect((await user.call('GET', `/v1/files/${idle.text('id')}`)).status).toBe(404)
  expect((await user.call('GET', '/v1/files')).body).toMatchObject({ data: [{ bytes: 10 }] })
  await deleteExpired(t.ctx)
  const rows = await t.ctx.db.read.select().from(gatewayFiles)
  expect(rows.map(({ bytes }) => bytes)).toEqual([10])
})

test('keeps a file of an earlier version for 30 days more, and any file with 0 days', async () => {
  t = await startTestServer()
  const user = await createGatewayUser(t)
  await upload(user, 10)
  await t.ctx.db.tx((db) => db.update(gatewayFiles).set({ used: null }))
  t.clock.advance(100 * day)
  const list = async () => Object(await (await user.call('GET', '/v1/files')).body).data.length
  expect(await list()).toBe(1)
  await deleteExpired(t.ctx)
  t.clock.advance(30 * day - minute)
  expect(await list()).toBe(1)
  t.clock.advance(minute)
  expect(await list()).toBe(0)
  await t.close()
  t = await startTestServer({ FILES_KEPT_DAYS: '0' })
  const other = await createGatewayUser(t)
  expect((await upload(other, 10)).body).not.toHaveProperty('expires_at')
  t.clock.advance(10_000 * day)
  await deleteExpired(t.ctx)
  expect((await other.call('GET', '/v1/files')).body).toMatchObject({ data: [{ bytes: 10 }] })
})
