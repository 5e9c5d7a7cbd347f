import { afterEach, beforeEach, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import { fakeCaptures } from '../../testing/fixtures/fake-captures.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { blockPage } from '../blocked-pages.ts'
import { quarantine } from '../moderation/moderation.ts'

let t: TestServer
let ann: TestAgent
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
})
afterEach(() => closeWithoutErrors(t))

const page = (...lines: string[]): string =>
  ['<!doctype html><title>Boat</title>', ...lines, ''].join('\n')

const publish = async (id: string, html: string, note = ''): Promise<void> => {
  const done = await ann.call('POST', `/apps/${id}/versions`, { html, note })
  expect(done.status).toBe(201)
}

interface Entry {
  version: number
  before: { large: string } | null
  after: { large: string } | null
}

async function entriesOf(id: string): Promise<Entry[]> {
  const { status, body } = await t.call('GET', `/explore/${id}/log`)
  expect(status).toBe(200)
  return JSON.parse(JSON.stringify(body)).entries
}

const statusOf = async (url = ''): Promise<number> =>
  (await t.request('GET', new URL(url).pathname)).status

test('lists what changed in each version, in the words of its maker', async () => {
  const id = await ann.publish({ html: page('<p>one'), store: true })
  await publish(id, page('<p>one', '<p>two', '<p>three'), 'Two more decks')
  const { body } = await t.call('GET', `/explore/${id}/log`)
  expect(body).toMatchObject({
    entries: [
      { version: 2, note: 'Two more decks', changes: { files: 1, added: 2, removed: 0 } },
      { version: 1, note: '', changes: null, before: null, after: null },
    ],
    next: null,
  })
})

test('continues with older versions', async () => {
  const id = await ann.publish({ html: page('<p>1'), store: true })
  for (let n = 2; n <= 4; n += 1) await publish(id, page(`<p>${n}`))
  const first = await t.call('GET', `/explore/${id}/log?limit=3`)
  expect(first.body).toMatchObject({ entries: [{ version: 4 }, { version: 3 }, { version: 2 }] })
  const rest = await t.call('GET', `/explore/${id}/log?cursor=${first.text('next')}`)
  expect(rest.body).toMatchObject({ entries: [{ version: 1 }], next: null })
})

test('shows the covers before and after a change', async () => {
  const capture = fakeCaptures(t)
  const id = await ann.publish({ html: page('<p>one'), store: true })
  await capture()
  await publish(id, page('<p>two'))
  await capture()
  const [second, first] = await entriesOf(id)
  expect(first?.after?.large).toBe(second?.before?.large ?? '')
  expect(await statusOf(second?.before?.large)).toBe(200)
  expect(await statusOf(second?.after?.large)).toBe(200)
})

test('shows no cover of a version that Explore never showed', async () => {
  const capture = fakeCaptures(t)
  const id = await ann.publish({ html: page('<p>draft') })
  await capture()
  const draft = (await ann.call('GET', `/apps/${id}`)).text('app.cover.large')
  await publish(id, page('<p>ready'))
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  await capture()
  const [second, first] = await entriesOf(id)
  expect([first?.after, second?.before]).toEqual([null, null])
  expect(await statusOf(second?.after?.large)).toBe(200)
  expect(await statusOf(draft.replace(`${id}-`, `${id}/1-`))).toBe(404)
})

test('shows no cover of a page that was blocked since', async () => {
  const capture = fakeCaptures(t)
  const id = await ann.publish({ html: page('<p>bad'), store: true })
  await capture()
  await publish(id, page('<p>good'))
  const cover = (await entriesOf(id))[1]?.after?.large
  expect(await statusOf(cover)).toBe(200)
  const { sha256 } = Object((await ann.call('GET', `/apps/${id}/versions`)).body).versions[1]
  await t.ctx.db.tx((db) => blockPage(db, { sha256, app: '', reason: 'x', at: 0 }))
  expect((await entriesOf(id))[1]?.after).toBeNull()
  expect(await statusOf(cover)).toBe(404)
})

test('ends the covers of an item that gets an end, which takes it off Explore', async () => {
  const capture = fakeCaptures(t)
  const id = await ann.publish({ html: page('<p>one'), store: true })
  await capture()
  const cover = (await entriesOf(id))[0]?.after?.large
  expect(await statusOf(cover)).toBe(200)
  const end = t.clock.now() + day
  const expiresAt = new Date(end).toISOString()
  await ann.call('PATCH', `/apps/${id}/audience`, { expiresAt })
  expect(await statusOf(cover)).toBe(404)
  // No later change lists it again while it has an end.
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  expect(await statusOf(cover)).toBe(404)
  t.clock.advance(2 * day)
  expect(await statusOf(cover)).toBe(404)
  await expectError(t, 404, 'not_found', () => t.call('GET', `/explore/${id}/log`))
})

test('keeps a version private that Explore does not show', async () => {
  const id = await ann.publish({ html: page('<p>one'), store: true })
  const away = '<title>x</title><meta http-equiv="refresh" content="0;url=https://elsewhere.test/">'
  await publish(id, away, 'Secret plan')
  expect((await entriesOf(id)).map(({ version }) => version)).toEqual([1])
})

test('is only for items on Explore', async () => {
  const id = await ann.publish({ html: page('<p>one') })
  const read = (path = '') => t.call('GET', `/explore/${id}/log${path}`)
  await expectError(t, 404, 'not_found', () => read())
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  await expectError(t, 400, 'bad_request', () => read('?limit=11'))
  await expectError(t, 400, 'bad_request', () => read('?cursor=nonsense'))
  const capture = fakeCaptures(t)
  await capture()
  const cover = (await entriesOf(id))[0]?.after?.large
  expect(await statusOf(cover)).toBe(200)
  await quarantine(t.ctx, id, 'checked', 'operator')
  await expectError(t, 404, 'not_found', () => read())
  expect(await statusOf(cover)).toBe(404)
})
