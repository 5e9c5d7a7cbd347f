import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { createPlayers, type PlayerCalls, startWithApp } from '../../testing/fixtures/players.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
let app: string
beforeEach(async () => void ({ t, app } = await startWithApp({ uses: ['shared', 'db'] })))
afterEach(() => t.close())

const { guest, person } = createPlayers(() => ({ t, app }))
const set = (call: PlayerCalls, path: string, data: object) =>
  call('PUT', '/documents', { path, data })

test('guests add much less in a day than players with an account', async () => {
  t.ctx.state.limits.guestBytes.max = 1_000
  const [gus, eve, olga] = [await guest(), await guest(), await person('olga')]
  const text = 'a'.repeat(600)
  expect((await set(gus, 'a/1', { text })).status).toBe(200)
  const before = await t.snapshot()
  await expectError(t, 409, 'data_full', () => set(gus, 'a/2', { text }))
  await expectError(t, 409, 'data_full', () =>
    eve('PUT', '/value/shared', { key: 'a', value: text }),
  )
  expect(await t.snapshot()).toEqual(before)
  expect((await set(olga, 'a/3', { text })).status).toBe(200)
  expect((await gus('DELETE', `/documents?path=a/1`)).status).toBe(200)
  t.clock.advance(2 * 24 * 3_600_000)
  expect((await set(gus, 'a/2', { text })).status).toBe(200)
})
