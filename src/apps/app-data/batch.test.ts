import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { createPlayers, type PlayerCalls, startWithApp } from '../../testing/fixtures/players.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
let app: string
beforeEach(async () => void ({ t, app } = await startWithApp({ uses: ['db'] })))
afterEach(() => t.close())

const { callWith, guest, person } = createPlayers(() => ({ t, app }))
const docs = '/documents'
const get = (call: PlayerCalls, path: string) => call('GET', `${docs}?path=${path}`)
const batch = (call: PlayerCalls, writes: object[]) => call('POST', `${docs}/batch`, { writes })

test('a batch writes all documents or none, and only what its page has read', async () => {
  const [gus, olga] = [await guest(), await person('olga')]
  const written = await batch(gus, [
    { op: 'set', path: 'a/1', data: { count: 1, tags: { old: true } } },
    { op: 'update', path: 'a/2', data: { count: { $add: 2 } }, create: true },
    { op: 'delete', path: 'a/none' },
  ])
  expect(written.body).toEqual({ written: 3 })
  const read = Object((await get(olga, 'a/1')).body).document
  const change = [
    { op: 'check', path: 'a/1', version: read.version },
    { op: 'check', path: 'a/3', version: 0 },
    { op: 'update', path: 'a/1', data: { count: 2, tags: { $replace: { new: true } } } },
    { op: 'delete', path: 'a/2' },
  ]
  expect((await batch(olga, change)).status).toBe(200)
  expect((await get(gus, 'a/1')).body).toMatchObject({
    document: { data: { count: 2, tags: { new: true } } },
  })
  expect((await get(gus, 'a/2')).body).toEqual({ document: null })
  await expectError(t, 409, 'document_changed', () => batch(olga, change))
  const last = { op: 'set', path: 'a/4', data: {} }
  await expectError(t, 404, 'not_found', () =>
    batch(gus, [last, { op: 'update', path: 'a/none', data: {} }]),
  )
  await expectError(t, 404, 'not_found', () =>
    batch(gus, [last, { op: 'set', path: 'data/users/other/1', data: {} }]),
  )
  await expectError(t, 400, 'bad_request', () => batch(gus, []))
  await expectError(t, 400, 'bad_request', () => batch(gus, [{ op: 'move', path: 'a/1' }]))
  await expectError(t, 403, 'not_joined', () => batch(callWith(), [last]))
})
