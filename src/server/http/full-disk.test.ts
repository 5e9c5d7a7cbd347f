import { afterEach, beforeEach, expect, test } from 'bun:test'

import { ApiError } from '../../kernel/errors.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
beforeEach(async () => {
  t = await startTestServer()
})
afterEach(() => t.close())

test('below the disk floor, only operations that store something fail', async () => {
  const [ann, gus] = [await t.agent('ann'), await createGatewayUser(t, '1')]
  const id = await ann.publish()
  await ann.call('DELETE', `/apps/${id}`)
  t.ctx.storage.requireFreeSpace = () => {
    throw new ApiError('try_again', {})
  }
  for (const path of ['/credits/balance', '/v1/credits/balance']) {
    expect(await gus.call('POST', path)).toMatchObject({ status: 200, body: { balance: 1 } })
  }
  expect((await ann.call('POST', '/me/notes/read', { all: true })).status).toBe(200)
  expect((await ann.call('POST', `/apps/${id}/restore`)).status).toBe(200)
  for (const response of [
    await gus.call('POST', '/v1/accounts/keys', {}),
    await ann.call('POST', '/me/keys', {}),
    await ann.call('POST', '/apps', { html: '<p>hi</p>' }),
    await ann.call('POST', `/apps/${id}/versions/1/restore`),
  ]) {
    expect(response.status).toBe(503)
  }
})
