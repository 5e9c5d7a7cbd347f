import { afterEach, expect, test } from 'bun:test'

import { day } from '../../kernel/time.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { listNotes } from '../../people/notifications/notifications.ts'
import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import { FormBrowser, signInOperator, signUp } from '../../testing/fixtures/form-browser.ts'
import {
  createTestPerson,
  getPerson,
  password,
  type TestPerson,
} from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { findApp } from '../apps.ts'
import * as moderation from './moderation.ts'
import { listReports } from './reports.ts'
import { reports } from './tables.ts'

let t: TestServer
let ann: TestAgent

async function open(): Promise<void> {
  t = await startTestServer()
  ann = await t.agent('ann')
}

afterEach(() => closeWithoutErrors(t))

const send = (item: unknown, from: string, more: Record<string, unknown> = {}) =>
  t.call('POST', '/report', { body: { item, reason: 'phishing', ...more }, from })

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
  const [kept] = await listReports(t.ctx, 10)
  expect(kept).toMatchObject({ app: id, ...more, handled: null })
  expect(kept?.from).not.toContain('198.51.100.1')
})

/** Returns a person with a public page at a handle. */
async function publicPerson(handle: string): Promise<TestPerson> {
  const person = await createTestPerson(t, `person-${handle}`)
  await person.call('PATCH', '/people/me/profile', { handle, public: true })
  return person
}

const sendPage = (handle: string, from: string, more: object = {}) =>
  t.call('POST', `/people/@${handle}/report`, { body: { reason: 'abuse', ...more }, from })

test('accepts a report about the public page of a person, also from a form', async () => {
  await open()
  const { person, call } = await publicPerson('olga')
  const { status, body } = await sendPage('olga', '198.51.100.1', { text: 'Rude words.' })
  expect(status).toBe(201)
  expect(body).toMatchObject({ report: { handle: '@olga', reason: 'abuse' } })
  const visitor = new FormBrowser(t)
  expect((await visitor.show('/@olga')).hrefs).toContain('/report/@olga')
  expect((await visitor.show('/report/@olga')).text).toContain('Report “@olga”')
  const sent = await visitor.send('/report/@olga', { reason: 'phishing', text: '', contact: '' })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/report/@olga?sent=1'])
  const kept = await listReports(t.ctx, 10)
  expect(kept.map(({ app, person: id, reason }) => [app, id, reason]).toSorted()).toEqual([
    ['', person.id, 'abuse'],
    ['', person.id, 'phishing'],
  ])
  // Many reports of phishing quarantine apps, and hide no page.
  for (const at of [3, 4, 5]) await sendPage('olga', `198.51.100.${at}`, { reason: 'phishing' })
  expect((await visitor.open('/@olga')).status).toBe(200)

  await expectError(t, 404, 'not_found', () => sendPage('nobody', '198.51.100.2'))
  await expectError(t, 400, 'bad_request', () =>
    sendPage('olga', '198.51.100.2', { reason: 'rude' }),
  )
  await call('PATCH', '/people/me/profile', { public: false })
  await expectError(t, 404, 'not_found', () => sendPage('olga', '198.51.100.2'))
  expect((await visitor.open('/report/@olga')).status).toBe(404)
  expect(await listReports(t.ctx, 10)).toHaveLength(5)
})

test('shows reported people in the console until the operator decides', async () => {
  await open()
  const operator = await signInOperator(t, 'opal')
  const { person } = await publicPerson('loud-one')
  const path = `/console/people/${person.name}`
  for (const decision of ['dismiss-page', 'hide-page']) {
    await sendPage('loud-one', '198.51.100.1', { text: 'Rude words.' })
    const queue = await operator.show('/console/queue')
    expect([queue.text, queue.hrefs]).toEqual([
      expect.stringContaining('Rude words.'),
      expect.arrayContaining([path]),
    ])
    expect((await operator.show(path)).text).toContain('Rude words.')
    await operator.fill(path, path, { decision, why: 'rude' })
    expect(await listReports(t.ctx, 10)).toEqual([])
    expect((await operator.show('/console/queue')).text).not.toContain('Rude words.')
  }
  await expectError(t, 404, 'not_found', () => t.call('GET', '/people/@loud-one'))
})

test('reports about people hide none about apps, and end with the account', async () => {
  await open()
  const operator = await signInOperator(t, 'opal')
  const loud = await signUp(t, 'loud-one', '198.51.100.9')
  const person = await getPerson(t, 'loud-one')
  const about = { app: '', person: person.id, reason: 'abuse', text: '', contact: null } as const
  const rows = Array.from({ length: 50 }, (_, at) => ({
    ...about,
    id: `r${at}`,
    from: `${at}`,
    at: t.clock.now(),
    handled: null,
  }))
  await t.ctx.db.tx((db) => db.insert(reports).values(rows))
  t.clock.advance(1_000)
  await send(await ann.publish(), '198.51.100.1', { text: 'It asks for a password.' })
  const queue = await operator.show('/console/queue')
  expect(queue.text).toContain('It asks for a password.')
  expect(queue.text).toContain(person.name)
  expect((await loud.fill('/account', '/account/leave', { password })).status).toBe(200)
  expect(await listReports(t.ctx, 10, 'people')).toEqual([])
  expect(await listReports(t.ctx, 10, 'apps')).toHaveLength(1)
})

test('reports_limit: five a day per address, also over the web', async () => {
  await open()
  const ids = [await ann.publish(), await ann.publish({ html: '<title>Two</title>' })]
  for (const at of [0, 1, 0, 1]) {
    expect((await send(ids[at], '2001:db8:1:2::1', { reason: 'other' })).status).toBe(201)
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const sent = { body: 'reason=other', from: '2001:db8:1:2::7', headers }
  const form = () => t.request('POST', `/report/${ids[0]}`, sent)
  expect((await form()).status).toBe(303)
  expect((await form()).status).toBe(429)
  await expectError(t, 429, 'rate_limited', () => send(ids[0], '2001:db8:1:2:ffff::9'))
  t.clock.advance(day)
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
  const texts = async () => (await listReports(t.ctx, 10)).map(({ text }) => text)
  const [first, other] = ['It asks for a password.', 'And for a card.']
  expect((await texts()).toSorted()).toEqual([other, other, first, first])
  // After a decision, the same report is a new one. The repeats count for the limit.
  await moderation.dismiss(t.ctx, id, '', 'operator')
  expect((await send(id, ben, { text: first })).status).toBe(201)
  expect(await texts()).toEqual([first])
  await expectError(t, 429, 'rate_limited', () => send(id, ben, { text: first }))
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
    await expectError(t, 400, 'bad_request', () => send(id, '198.51.100.1', more))
  }
  await expectError(t, 404, 'not_found', () => send('A'.repeat(12), '198.51.100.1'))
  const gone = await ann.publish({ html: '<title>Gone</title>' })
  await ann.call('DELETE', `/apps/${gone}`)
  await expectError(t, 404, 'not_found', () => send(gone, '198.51.100.1'))
  await moderation.takeDown(t.ctx, id, 'phishing', 'operator')
  await expectError(t, 410, 'taken_down', () => send(id, '198.51.100.1'))
  await expectError(t, 413, 'too_large', () =>
    send(id, '198.51.100.1', { text: 'x'.repeat(70_000) }),
  )
})

test('three phishing or malware reports quarantine an app until its release', async () => {
  await open()
  const id = await ann.publish({ store: true })
  const stands = async () => ({
    app: (await ann.call('GET', `/apps/${id}`)).body,
    explore: (await t.call('GET', `/explore/${id}`)).status,
    list: (await t.call('GET', '/explore')).body,
    page: (await t.request('GET', `/a/${id}`)).status,
    data: (await t.request('GET', `/a/${id}/data`)).status,
    embed: (await t.request('GET', `/oembed?url=http://localhost:3000/a/${id}`)).status,
  })
  const before = await stands()
  expect(before).toMatchObject({ explore: 200, page: 200, data: 200, embed: 200 })
  expect(before).toMatchObject({ list: { items: [{ id }] } })
  // An address counts once, and other reasons do not count.
  for (const from of ['198.51.100.1', '198.51.100.1', '198.51.100.2']) await send(id, from)
  await send(id, '198.51.100.3', { reason: 'abuse' })
  expect(await stands()).toEqual(before)
  await send(id, '198.51.100.3', { reason: 'malware' })
  t.clock.advance(500)
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
  expect(String((await t.request('GET', `/a/${id}`)).body)).toContain('Warning')
  expect((await t.request('GET', `/a/${id}/data`)).code).toBe('held')

  expect(await moderation.release(t.ctx, id, 'it is fine', 'operator')).toBe(true)
  t.clock.advance(500)
  expect(await stands()).toEqual(before)
  // Closed reports do not count again.
  await send(id, '198.51.100.4')
  expect(await stands()).toEqual(before)
})

test('a maker can change a quarantined app; it is listed after its release', async () => {
  await open()
  const id = await ann.publish()
  await moderation.quarantine(t.ctx, id, 'a look', 'operator')
  const on = await ann.call('PATCH', `/apps/${id}`, { store: true })
  expect(on.body).toMatchObject({ app: { listed: 'pending', store: true } })
  expect(on.text('note')).toContain('when the operator releases it')
  const html = '<title>Two</title>'
  expect((await ann.call('POST', `/apps/${id}/versions`, { html })).status).toBe(201)
  expect((await t.call('GET', `/explore/${id}`)).code).toBe('not_found')
  const ben = await t.agent('ben')
  expect((await ben.call('POST', `/apps/${id}/remix`)).code).toBe('not_found')
  await moderation.release(t.ctx, id, '', 'operator')
  expect((await t.call('GET', `/explore/${id}`)).body).toMatchObject({ item: { version: 2 } })
  await moderation.quarantine(t.ctx, id, 'again', 'operator')
  await ann.call('PATCH', `/apps/${id}`, { store: false })
  await moderation.release(t.ctx, id, '', 'operator')
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { listed: 'off' } })
})

test('many reports quarantine once and notify the maker once', async () => {
  await open()
  const id = await ann.publish()
  const flood = Array.from({ length: 40 }, (_, at) => send(id, `198.51.100.${at + 1}`))
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([201]))
  expect(await listAudit(t.ctx, 50, id)).toMatchObject([{ by: 'reports', did: 'hold' }])
  const maker = (await findApp(t.ctx, id))?.maker ?? ''
  const notes = await listNotes(t.ctx, maker, {
    unread: false,
    kinds: ['report.opened'],
    limit: 10,
  })
  expect(notes).toMatchObject([{ item: id, data: { reason: expect.stringContaining('phishing') } }])
})
