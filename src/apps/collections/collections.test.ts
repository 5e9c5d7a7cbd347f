import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let app: string
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  app = await (await t.agent('ben')).publish({ title: 'Boats', store: true })
})
afterEach(() => t.close())

const create = async (title = 'Rainy evenings') =>
  (await ann.call('POST', '/me/collections', { title })).text('collection.id')

test('a collection lists its items in order and is public', async () => {
  const id = await create()
  const other = await ann.publish({ title: 'Fog', store: true })
  for (const item of [app, other, app]) {
    t.clock.advance(1_000)
    expect((await ann.call('PUT', `/collections/${id}/items/${item}`)).status).toBe(200)
  }
  const page = await t.call('GET', `/collections/${id}`)
  expect(page.body).toMatchObject({
    collection: { title: 'Rainy evenings', maker: '@ann', items: 2 },
    items: [{ title: 'Boats' }, { title: 'Fog' }],
  })
  await ann.call('PATCH', `/collections/${id}`, { title: 'Dry evenings' })
  const listed = await ann.call('GET', '/me/collections')
  expect(listed.body).toMatchObject({ collections: [{ title: 'Dry evenings', items: 2 }] })
  expect((await ann.call('DELETE', `/collections/${id}/items/${app}`)).status).toBe(200)
  expect((await ann.call('DELETE', `/collections/${id}`)).body).toEqual({ id })
  await expectError(t, 404, 'not_found', () => t.call('GET', `/collections/${id}`))
})

test('items that leave Explore leave the collection', async () => {
  const id = await create()
  await ann.call('PUT', `/collections/${id}/items/${app}`)
  await (await t.agent('ben')).call('PATCH', `/apps/${app}`, { store: false })
  expect((await t.call('GET', `/collections/${id}`)).body).toMatchObject({ items: [] })
})

test('rejects invalid texts, unknown items, strangers and missing keys', async () => {
  const id = await create()
  const bob = await t.agent('bob')
  const post = (body: object) => () => ann.call('POST', '/me/collections', body)
  for (const body of [{ title: '' }, { title: ' ' }, { title: 'a\nb' }, {}]) {
    await expectError(t, 400, 'bad_request', post(body))
  }
  const item = `/collections/${id}/items`
  await expectError(t, 404, 'not_found', () => ann.call('PUT', `${item}/AAAAAAAAAAAA`))
  await expectError(t, 404, 'not_found', () => ann.call('DELETE', `${item}/${app}`))
  await expectError(t, 404, 'not_found', () => bob.call('PUT', `${item}/${app}`))
  await expectError(t, 404, 'not_found', () => bob.call('DELETE', `/collections/${id}`))
  await expectError(t, 401, 'no_key', () => t.call('POST', '/me/collections', { body: {} }))
})
