import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
let owner: { cookie: string }
let stranger: { cookie: string }
let id: string

beforeEach(async () => {
  t = await startTestServer()
  const [ann, olga] = [await t.agent('ann'), await createTestPerson(t, 'olga')]
  id = await ann.publish({ store: true })
  const code = (await ann.call('POST', '/me/claim')).text('claim.code')
  await olga.call('POST', '/claim', { code })
  owner = await createTestSession(t, olga)
  stranger = await createTestSession(t, await createTestPerson(t, 'paul'))
})
afterEach(() => closeWithoutErrors(t))

const call = (method: string, headers: Record<string, string> = {}, body?: object, of = id) =>
  t.call(method, `/apps/${of}/own-cover`, { headers, ...(body && { body }) })

async function jpeg(): Promise<string> {
  const request = { kind: 'picture', what: 'a boat', seed: '1', width: 640, height: 400 } as const
  const { bytes } = await t.ctx.generators.generate(request)
  const image = await new Bun.Image(bytes).jpeg().bytes()
  return `data:image/jpeg;base64,${Buffer.from(image).toString('base64')}`
}

test('a visitor learns whether the app is theirs, and nothing else', async () => {
  expect((await call('GET')).body).toEqual({ own: false })
  expect((await call('GET', stranger)).body).toEqual({ own: false })
  expect((await call('GET', owner)).body).toEqual({ own: true })
  await expectError(t, 404, 'not_found', () => call('GET', owner, undefined, 'missing00000'))
})

test('the owner sets the cover, which everyone sees', async () => {
  const done = await call('PUT', owner, { image: await jpeg() })
  expect(done.status).toBe(200)
  const cover = await t.request('GET', new URL(done.text('cover.large')).pathname)
  expect(await new Bun.Image(cover.bytes).metadata()).toMatchObject({ width: 960, height: 600 })
  expect((await t.call('GET', '/explore')).text('items.0.cover.large')).toBe(
    done.text('cover.large'),
  )
})

test('everyone else, an invalid picture and another site change nothing', async () => {
  const image = await jpeg()
  await expectError(t, 401, 'no_key', () => call('PUT', {}, { image }))
  await expectError(t, 404, 'not_found', () => call('PUT', stranger, { image }))
  await expectError(t, 400, 'bad_request', () => call('PUT', owner, { image: 'moment' }))
  await expectError(t, 400, 'bad_request', () =>
    call('PUT', owner, { image: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' }),
  )
  await expectError(t, 403, 'cross_site', () =>
    call(
      'PUT',
      { ...owner, origin: 'https://other.example', 'sec-fetch-site': 'cross-site' },
      { image },
    ),
  )
})
