import { afterEach, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { listNotes } from '../../people/notifications/notifications.ts'
import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { findApp } from '../apps.ts'
import * as moderation from './moderation.ts'
import { listReports } from './reports.ts'

let h: TestServer
let ann: TestAgent

async function open(): Promise<void> {
  h = await startTestServer()
  ann = await h.agent('ann')
}

afterEach(() => closeWithoutErrors(h))

const send = (item: unknown, from: string, more: Record<string, unknown> = {}) =>
  h.call('POST', '/report', { body: { item, reason: 'phishing', ...more }, from })

test('accepts a report without a key', async () => {
  await open()
  const id = await ann.publish()
  const more = { reason: 'other', text: 'It is loud.\nVery.', contact: 'ben@mail.test' }
  const { status, body } = await send(id, '198.51.100.1', more)
  expect(status).toBe(201)
  const id12 = expect.stringMatching(/^[A-Za-z0-9]{12}$/)
  expect(body).toEqual({
    report: { id: id12, item: id, reason: 'other', at: '2026-05-04T12:00:00.000Z' },
    note: expect.any(String),
  })
  const [kept] = await listReports(h.ctx, 10)
  expect(kept).toMatchObject({ app: id, ...more, handled: null })
  expect(kept?.from).not.toContain('198.51.100.1')
})

test('reports_limit: five a day per address, also over the web', async () => {
  await open()
  const ids = [await ann.publish(), await ann.publish({ html: '<title>Two</title>' })]
  for (const at of [0, 1, 0, 1]) {
    expect((await send(ids[at], '2001:db8:1:2::1', { reason: 'other' })).status).toBe(201)
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const sent = { body: 'reason=other', from: '2001:db8:1:2::7', headers }
  const form = () => h.request('POST', `/report/${ids[0]}`, sent)
  expect((await form()).status).toBe(303)
  expect((await form()).status).toBe(429)
  await expectError(h, 429, 'rate_limited', () => send(ids[0], '2001:db8:1:2:ffff::9'))
  h.clock.advance(day)
  expect((await send(ids[0], '2001:db8:1:2::1')).status).toBe(201)
})

test('lists an identical report of the same reporter once', async () => {
  await open()
  const id = await ann.publish()
  const [ben, cleo] = ['198.51.100.1', '198.51.100.2']
  for (const from of [ben, ben, cleo]) {
    const { status, body } = await send(id, from, { text: 'It asks for a password.' })
    expect([status, body]).toEqual([201, expect.objectContaining({ report: expect.any(Object) })])
  }
  await send(id, ben, { text: 'And for a card.' })
  await send(id, ben, { text: 'And for a card.', contact: 'ben@mail.test' })
  const texts = async () => (await listReports(h.ctx, 10)).map(({ text }) => text)
  const [first, other] = ['It asks for a password.', 'And for a card.']
  expect((await texts()).toSorted()).toEqual([other, other, first, first])
  // After a decision, the same report is a new one. The repeats count for the limit.
  await moderation.dismiss(h.ctx, id, '')
  expect((await send(id, ben, { text: first })).status).toBe(201)
  expect(await texts()).toEqual([first])
  await expectError(h, 429, 'rate_limited', () => send(id, ben, { text: first }))
})

test('rejects invalid reports', async () => {
  await open()
  const id = await ann.publish()
  const bad: Record<string, unknown>[] = [
    { item: undefined },
    { item: 'short' },
    { item: 7 },
    { reason: 'boring' },
    { reason: 'toString' },
    { reason: undefined },
    { text: 'x'.repeat(1_001) },
    { text: 'a\u202eb' },
    { text: 'a\u0000' },
    { contact: 'two\nlines' },
    { contact: 'x'.repeat(201) },
    { more: 1 },
  ]
  for (const more of bad) {
    await expectError(h, 400, 'bad_request', () => send(id, '198.51.100.1', more))
  }
  await expectError(h, 404, 'not_found', () => send('A'.repeat(12), '198.51.100.1'))
  const gone = await ann.publish({ html: '<title>Gone</title>' })
  await ann.call('DELETE', `/apps/${gone}`)
  await expectError(h, 404, 'not_found', () => send(gone, '198.51.100.1'))
  await moderation.takeDown(h.ctx, id, 'phishing')
  await expectError(h, 410, 'taken_down', () => send(id, '198.51.100.1'))
  await expectError(h, 413, 'too_large', () =>
    send(id, '198.51.100.1', { text: 'x'.repeat(70_000) }),
  )
})

test('three phishing or malware reports quarantine an app until its release', async () => {
  await open()
  const id = await ann.publish({ store: true })
  const stands = async () => ({
    app: (await ann.call('GET', `/apps/${id}`)).body,
    explore: (await h.call('GET', `/explore/${id}`)).status,
    list: (await h.call('GET', '/explore')).body,
    page: (await h.request('GET', `/a/${id}`)).status,
    data: (await h.request('GET', `/a/${id}/data`)).status,
    embed: (await h.request('GET', `/oembed?url=http://localhost:3000/a/${id}`)).status,
  })
  const before = await stands()
  expect(before).toMatchObject({ explore: 200, page: 200, data: 200, embed: 200 })
  expect(before).toMatchObject({ list: { items: [{ id }] } })
  // An address counts once, and other reasons do not count.
  for (const from of ['198.51.100.1', '198.51.100.1', '198.51.100.2']) await send(id, from)
  await send(id, '198.51.100.3', { reason: 'abuse' })
  expect(await stands()).toEqual(before)
  await send(id, '198.51.100.3', { reason: 'malware' })
  h.clock.advance(500)
  const held = await stands()
  expect(held).toMatchObject({ explore: 404, page: 403, data: 403, embed: 404 })
  expect(held).toMatchObject({ list: { items: [] } })
  expect(held.app).toMatchObject({
    app: {
      state: 'live',
      listed: 'pending',
      store: true,
      held: { reason: 'people reported phishing or malware', at: expect.any(String) },
    },
  })
  expect(String((await h.request('GET', `/a/${id}`)).body)).toContain('Warning')
  expect((await h.request('GET', `/a/${id}/data`)).code).toBe('held')

  expect(await moderation.release(h.ctx, id, 'it is fine')).toBe(true)
  h.clock.advance(500)
  expect(await stands()).toEqual(before)
  // Closed reports do not count again.
  await send(id, '198.51.100.4')
  expect(await stands()).toEqual(before)
})

test('a maker can change a quarantined app; it is listed after its release', async () => {
  await open()
  const id = await ann.publish()
  await moderation.quarantine(h.ctx, id, 'a look')
  const on = await ann.call('PATCH', `/apps/${id}`, { store: true })
  expect(on.body).toMatchObject({ app: { listed: 'pending', store: true } })
  expect(on.text('note')).toContain('when the operator releases it')
  const html = '<title>Two</title>'
  expect((await ann.call('POST', `/apps/${id}/versions`, { html })).status).toBe(201)
  expect((await h.call('GET', `/explore/${id}`)).code).toBe('not_found')
  const ben = await h.agent('ben')
  expect((await ben.call('POST', `/apps/${id}/remix`)).code).toBe('not_found')
  await moderation.release(h.ctx, id, '')
  expect((await h.call('GET', `/explore/${id}`)).body).toMatchObject({ item: { version: 2 } })
  await moderation.quarantine(h.ctx, id, 'again')
  await ann.call('PATCH', `/apps/${id}`, { store: false })
  await moderation.release(h.ctx, id, '')
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { listed: 'off' } })
})

test('many reports quarantine once and notify the maker once', async () => {
  await open()
  const id = await ann.publish()
  const flood = Array.from({ length: 40 }, (_, at) => send(id, `198.51.100.${at + 1}`))
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([201]))
  expect(await listAudit(h.ctx, 50, id)).toMatchObject([{ by: 'reports', did: 'hold' }])
  const maker = (await findApp(h.ctx, id))?.maker ?? ''
  const notes = await listNotes(h.ctx, maker, { unread: false, kind: 'report.opened', limit: 10 })
  expect(notes).toMatchObject([{ item: id, data: { reason: expect.stringContaining('phishing') } }])
})
