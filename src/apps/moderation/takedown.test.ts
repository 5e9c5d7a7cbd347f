/** Takedowns and restores, from the command to every address, cache and note that they change. */
import { afterEach, beforeEach, expect, test } from 'bun:test'

import { eq, sql } from 'drizzle-orm'

import { sha256 } from '../../kernel/ids.ts'
import { day, second } from '../../kernel/time.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { listNotes } from '../../people/notifications/notifications.ts'
import { runCommand } from '../../server/operator/control.ts'
import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import {
  startTestServer,
  type TestAgent,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { pauseMethod } from '../../testing/pause-method.ts'
import { nextTurn, until } from '../../testing/until.ts'
import { findApp } from '../apps.ts'
import { lockPage } from '../blocked-pages.ts'
import { rescanOutdated } from '../scans/scans.ts'
import { apps } from '../tables.ts'
import { deleteOldModeration, takeDown } from './moderation.ts'
import { listReports } from './reports.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let id = ''

const html = '<!doctype html><title>Boats</title><p>hello</p>'
const pixel = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
  id = await ann.publish({ html, store: true })
})

afterEach(() => closeWithoutErrors(t))

/** Resolves when a transaction waits for the lock of another one. */
async function untilBlocked(tx: TestServer['ctx']['db']['tx']): Promise<void> {
  // SQLite has one writer.
  if (t.ctx.db.kind === 'sqlite') return nextTurn()
  const isBlocked = sql`datname = current_database() and wait_event_type = 'Lock'`
  const sessions = () =>
    tx((db) =>
      db
        .select({ pid: sql`pid` })
        .from(sql`pg_stat_activity`)
        .where(isBlocked),
    )
  await until(async () => (await sessions()).length > 0)
}

const admin = (...words: string[]) => runCommand(t.ctx, { command: 'admin', words })

/** Returns the kinds of Ann's notes except those about listings, newest first. */
async function noteKinds(): Promise<string[]> {
  const maker = (await findApp(t.ctx, id))?.maker ?? ''
  const notes = await listNotes(t.ctx, maker, { unread: false, limit: 20 })
  return notes.map(({ kind }) => kind).filter((kind) => kind !== 'app.listed')
}

/** Requests every URL of an item and returns the responses. */
async function addresses(): Promise<[name: string, call: () => Promise<TestResponse>][]> {
  const file = await ann.call('PUT', `/apps/${id}/assets/a.png`, pixel)
  const look = new URL(file.text('asset.url'))
  const icon = new URL((await ann.call('PUT', `/apps/${id}/icon`, { make: true })).text('icon'))
  const hash = file.text('asset.sha256')
  const own = (method: string, path: string, body?: unknown) =>
    [`${method} ${path}`, () => ann.call(method, `/apps/${id}${path}`, body)] as const
  const api = (path: string, key?: string) =>
    [path, () => t.call('GET', path, key === undefined ? {} : { key })] as const
  const site = (path: string) => [path, () => t.request('GET', path)] as const
  const mine = ['', '/html', '/export', '/versions', '/assets', '/assets/a.png', '/scan']
  const shown = ['', '/data', '/files', '/files/a.png', `/files/a.png?h=${hash}`]
  return [
    ...mine.map((path) => own('GET', path)),
    api(`/explore/${id}`),
    api(`/explore/${id}/source`),
    api(`/explore/${id}`, ben.key),
    api(`${look.pathname.replace('/api', '')}${look.search}`),
    site(icon.pathname),
    site(`/report/${id}`),
    ...shown.map((path) => site(`/a/${id}${path}`)),
  ].map(([name, call]) => [name, call])
}

test('a takedown is 410 everywhere within a second, with warm caches', async () => {
  const all = await addresses()
  for (const [name, call] of [...all, ...all])
    expect([name, (await call()).status]).toEqual([name, 200])
  for (const path of ['/explore', '/explore/feed.atom', '/explore/@ann']) await t.call('GET', path)

  expect((await admin('takedown', id, 'phishing')).ok).toBe(true)
  t.clock.advance(second / 2)
  for (const [name, call] of all) {
    const response = await call()
    expect([name, response.status]).toEqual([name, 410])
    const cache = response.headers.get('cache-control') ?? ''
    expect([name, /max-age=[1-9]/.test(cache)]).toEqual([name, false])
  }
  const writes: [method: string, path: string, body?: unknown][] = [
    ['PATCH', '', { title: 'Back' }],
    ['DELETE', ''],
    ['POST', '/versions', { html: `${html}2` }],
    ['POST', '/versions/1/restore'],
    ['POST', '/rescan'],
    ['POST', '/restore'],
    ['POST', '/remix'],
    ['PUT', '/icon', { make: true }],
    ['DELETE', '/icon'],
    ['PUT', '/assets/b.png', pixel],
    ['DELETE', '/assets/a.png'],
    ['POST', '/assets', { assets: [{ name: 'c.png', kind: 'sprite', what: 'a boat' }] }],
  ]
  for (const [method, path, body] of writes) {
    const response = await expectError(t, 410, 'taken_down', () =>
      ann.call(method, `/apps/${id}${path}`, body),
    )
    const at = '2026-05-04T12:00:00.000Z'
    expect(response.body).toMatchObject({ reason: 'phishing', at, appeal: `/apps/${id}/appeal` })
  }
  await expectError(t, 410, 'taken_down', () => ben.call('POST', `/apps/${id}/remix`))
  expect((await t.call('GET', '/explore')).body).toMatchObject({ items: [] })
  expect(String((await t.call('GET', '/explore/feed.atom')).body)).not.toContain(id)
  expect(String((await t.request('GET', '/sitemap.xml')).body)).not.toContain(id)
  expect((await ann.call('GET', '/apps')).body).toMatchObject({
    apps: [{ id, state: 'taken_down', listed: 'taken_down' }],
  })
  expect(await noteKinds()).toEqual(['item.taken_down'])
})

test('blocked pages of all versions are rejected everywhere', async () => {
  const second = html.replace('hello', 'again')
  await ann.call('POST', `/apps/${id}/versions`, { html: second })
  const other = await ben.publish({ html: '<title>Other</title>' })
  await admin('takedown', id, 'phishing')
  for (const page of [html, second]) {
    const { body } = await expectError(t, 422, 'blocked_by_scan', () =>
      ben.call('POST', '/apps', { html: page }),
    )
    expect(body).toMatchObject({ reasons: [expect.stringContaining('known.bad')] })
    await expectError(t, 422, 'blocked_by_scan', () =>
      ben.call('POST', `/apps/${other}/versions`, { html: page }),
    )
  }
  await admin('restore', id)
  expect((await ben.call('POST', '/apps', { html })).status).toBe(201)
})

test('takedowns and publishes of the same page take locks in one order', async () => {
  let runs = 0
  const { tx } = t.ctx.db
  const counted: typeof tx = (work) => tx((db) => ((runs += 1), work(db)))
  Object.assign(t.ctx.db, { tx: counted })
  const [locked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const keeping = t.ctx.db.tx(async (db) => {
    await lockPage(db, sha256(html))
    locked.resolve()
    await gate.promise
    await db.update(apps).set({ remixes: 1 }).where(eq(apps.id, id))
  })
  await locked.promise
  const down = takeDown(t.ctx, id, 'phishing', 'operator')
  await untilBlocked(tx)
  gate.resolve()
  await Promise.all([keeping, down])
  expect(runs).toBe(2)
})

test('a deleted app that is taken down cannot be restored', async () => {
  await ann.call('DELETE', `/apps/${id}`)
  await admin('takedown', id, 'phishing')
  await expectError(t, 410, 'taken_down', () => ann.call('POST', `/apps/${id}/restore`))
  expect((await admin('restore', id)).text).toBe(`${id} stays deleted; its maker can restore it.`)
  expect((await ann.call('GET', '/me/notes?kind=item.restored')).body).toMatchObject({
    notes: [{ text: expect.stringContaining('stays deleted') }],
  })
  expect((await ann.call('POST', `/apps/${id}/restore`)).status).toBe(200)
})

test('an appeal is created once, listed and decided', async () => {
  const appeal = (text: unknown, by = ann) => by.call('POST', `/apps/${id}/appeal`, { text })
  await expectError(t, 409, 'nothing_to_appeal', () => appeal('It is fine.'))
  await admin('takedown', id, 'phishing')
  for (const text of ['', '  ', 'x'.repeat(2_001), 'a\u202eb', 7, undefined]) {
    await expectError(t, 400, 'bad_request', () => appeal(text))
  }
  await expectError(t, 404, 'not_found', () => appeal('Mine now.', ben))
  const made = await appeal('It is a\nstory about phishing.')
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ appeal: { item: id, state: 'open' } })
  await expectError(t, 409, 'appealed_already', () => appeal('And?'))
  expect((await admin('appeals')).text).toBe(
    `2026-05-04T12:00:00.000Z  ${id}  appeal  It is a story about phishing.`,
  )
  expect((await admin('list')).text).toContain(id)

  expect((await admin('decide', id, 'maybe', 'so')).ok).toBe(false)
  expect((await admin('decide', id, 'deny', 'It asks for', 'a password.')).ok).toBe(true)
  expect((await admin('decide', id, 'grant', 'no')).ok).toBe(false)
  await expectError(t, 410, 'taken_down', () => ann.call('GET', `/apps/${id}`))
  await expectError(t, 409, 'appealed_already', () => appeal('Please.'))

  await admin('restore', id)
  t.clock.advance(second)
  await admin('takedown', id, 'again')
  expect((await appeal('Really.')).status).toBe(201)
  expect((await admin('decide', id, 'grant', 'We were wrong.')).ok).toBe(true)
  t.clock.advance(second)
  expect((await t.request('GET', `/a/${id}`)).status).toBe(200)
  const all = 'appeal.decided item.taken_down item.restored appeal.decided item.taken_down'
  expect((await noteKinds()).join(' ')).toBe(all)
  expect((await ann.call('GET', '/me/notes')).text('notes.0.text')).toContain('live again, off Ex')
})

test('an appeal against a quarantine can be granted', async () => {
  expect((await admin('hold', id, 'a look')).ok).toBe(true)
  expect((await ann.call('POST', `/apps/${id}/appeal`, { text: 'It is fine.' })).status).toBe(201)
  expect((await admin('decide', id, 'grant', 'It is.')).ok).toBe(true)
  expect((await t.call('GET', `/explore/${id}`)).status).toBe(200)
})

test('reinstating an app resolves its appeal', async () => {
  for (const [stop, show] of [
    ['takedown', 'restore'],
    ['hold', 'release'],
  ] as const) {
    await admin(stop, id, 'a look')
    t.clock.advance(second)
    await ann.call('POST', `/apps/${id}/appeal`, { text: 'It is fine.' })
    expect((await admin(show, id, 'It is.')).ok).toBe(true)
    expect((await admin('appeals')).text).toBe('Nothing found.')
    expect((await admin('decide', id, 'deny', 'no')).ok).toBe(false)
  }
})

test('account_suspended: quarantines the apps until the suspension ends', async () => {
  const held = await ann.publish({ html: '<title>Held</title>' })
  await admin('hold', held, 'a look')
  const other = await ben.publish()
  expect((await ann.call('GET', '/me')).status).toBe(200)
  expect((await t.request('POST', '/credits/balance', { key: ann.key })).status).toBe(200)
  expect((await t.request('GET', `/a/${id}`)).status).toBe(200)
  expect((await admin('suspend', '@ann-person')).ok).toBe(false)
  expect((await admin('suspend', '@ann', 'spam')).ok).toBe(true)
  expect((await admin('suspend', '@ann', 'spam')).ok).toBe(false)
  t.clock.advance(second)
  const { body } = await expectError(t, 403, 'account_closed', () => ann.call('GET', '/me'))
  expect(body).toMatchObject({ error: expect.stringContaining(': spam.') })
  await expectError(t, 403, 'account_closed', () => ann.call('POST', '/apps', { html }))
  expect((await t.request('POST', '/credits/balance', { key: ann.key })).status).toBe(401)
  for (const app of [id, held]) expect((await t.request('GET', `/a/${app}`)).status).toBe(403)
  expect((await t.request('GET', `/a/${other}`)).status).toBe(200)
  expect((await t.call('GET', '/explore')).body).toMatchObject({ items: [] })
  expect((await admin('show', '@ann')).text).toContain('suspended 2026-05-04')

  expect((await admin('unsuspend', '@ann')).ok).toBe(true)
  t.clock.advance(second)
  expect((await ann.call('GET', '/me')).status).toBe(200)
  expect((await t.call('GET', '/explore')).body).toMatchObject({ items: [{ id }] })
  expect((await t.request('GET', `/a/${id}`)).status).toBe(200)
  expect((await t.request('GET', `/a/${held}`)).status).toBe(403)
})

test('apps released during a suspension stay quarantined and off Explore', async () => {
  const two = await ann.publish({ html: '<title>Two</title>', store: true })
  const three = await ann.publish({ html: '<title>Three</title>', store: true })
  const four = await ann.publish({ html: '<title>Four</title>' })
  const versions = await ann.call('GET', `/apps/${three}/versions`)
  const sha256 = versions.text('versions.0.sha256')
  for (const app of [id, two]) await admin('hold', app, 'a look')
  await ann.call('POST', `/apps/${two}/appeal`, { text: 'It is fine.' })
  await admin('block', sha256, 'bad')
  await rescanOutdated(t.ctx)
  await admin('suspend', '@ann', 'spam')
  const stays = 'stays quarantined while its maker is suspended.'
  expect((await admin('release', id)).text).toBe(`${id} ${stays}`)
  await admin('decide', two, 'grant', 'It is.')
  await admin('unblock', sha256)
  await rescanOutdated(t.ctx)
  await admin('takedown', four, 'a look')
  expect((await admin('restore', four)).text).toBe(`${four} ${stays}`)

  const all = [id, two, three, four]
  for (const app of all) expect((await admin('show', app)).text).toContain('quarantined')
  expect((await t.call('GET', '/explore')).body).toMatchObject({ items: [] })
  expect((await ben.call('POST', `/apps/${id}/remix`)).status).toBe(404)
  for (const app of all) expect((await t.request('GET', `/a/${app}`)).status).toBe(403)
  await admin('unsuspend', '@ann')
  t.clock.advance(second)
  for (const app of all) expect((await t.request('GET', `/a/${app}`)).status).toBe(200)
})

test('no appeal stays open after a concurrent release', async () => {
  await admin('takedown', id, 'phishing')
  const text = 'It is fine.'
  await Promise.all([admin('restore', id), ann.call('POST', `/apps/${id}/appeal`, { text })])
  expect((await admin('appeals')).text).toBe('Nothing found.')
})

test('apps released concurrently with a suspension stay quarantined', async () => {
  const two = await ann.publish({ html: '<title>Two</title>', store: true })
  await admin('hold', id, 'a look')
  await admin('takedown', two, 'a look')
  const all = [
    ['suspend', '@ann', 'spam'],
    ['release', id],
    ['restore', two],
  ] as const
  await Promise.all(all.map((words) => admin(...words)))
  for (const app of [id, two]) expect((await admin('show', app)).text).toContain('quarantined')
  expect((await t.call('GET', '/explore')).body).toMatchObject({ items: [] })
})

test('rejects a page that is blocked during its publish', async () => {
  const own = await ben.publish()
  const page = { html: '<title>Bad</title>' }
  const bad = await ann.publish(page)
  for (const path of ['/apps', `/apps/${own}/versions`]) {
    const kept = pauseMethod(t.ctx.storage, 'put')
    const sent = ben.call('POST', path, page)
    await kept.begun
    await admin('takedown', bad, 'phishing')
    kept.go()
    expect((await sent).code).toBe('blocked_by_scan')
    await admin('restore', bad)
  }
  expect((await ben.call('GET', '/apps')).body).toMatchObject({ apps: [{ id: own, version: 1 }] })
})

test('quarantines a page that is blocked as its publish commits', async () => {
  const page = { html: '<title>Bad</title>' }
  const bad = await ann.publish(page)
  const { db } = t.ctx
  const { tx } = db
  const [worked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const late: typeof tx = (work) =>
    tx(async (unit) => {
      const done = await work(unit)
      worked.resolve()
      await gate.promise
      return done
    })
  Object.assign(db, { tx: late })
  const sent = ben.call('POST', '/apps', page)
  await worked.promise
  Object.assign(db, { tx })
  const down = admin('takedown', bad, 'phishing')
  await untilBlocked(tx)
  gate.resolve()
  await down
  await rescanOutdated(t.ctx)
  t.clock.advance(second)
  expect((await t.request('GET', `/a/${(await sent).text('app.id')}`)).status).toBe(403)
})

test('blocks and reports outlast a suspension', async () => {
  const twin = await ben.publish({ html, store: true })
  const reported = await ben.publish({ html: '<title>Reported</title>', store: true })
  await admin('suspend', '@ben', 'spam')
  await admin('takedown', id, 'phishing')
  await rescanOutdated(t.ctx)
  for (const from of ['203.0.113.1', '203.0.113.2', '203.0.113.3'])
    await t.call('POST', '/report', { body: { item: reported, reason: 'phishing' }, from })
  await admin('unsuspend', '@ben')

  t.clock.advance(second)
  for (const app of [twin, reported]) {
    expect((await t.request('GET', `/a/${app}`)).status).toBe(403)
    expect((await t.call('GET', `/explore/${app}`)).status).toBe(404)
  }
})

test('records decisions and deletes them after MODERATION_KEPT_DAYS', async () => {
  await t.call('POST', '/report', { body: { item: id, reason: 'other', text: 'a\n\tb' } })
  expect((await admin('reports')).text).toEndWith(`${id}  report  other  a b`)
  expect((await admin('dismiss', id, 'it is fine')).ok).toBe(true)
  expect((await admin('dismiss', id)).ok).toBe(false)
  await admin('takedown', id, 'spam')
  expect((await listAudit(t.ctx, 10)).map(({ by, did, why }) => [by, did, why])).toEqual(
    expect.arrayContaining([
      ['command line', 'takedown', 'spam'],
      ['command line', 'dismiss', 'it is fine'],
    ]),
  )
  const shown = (await admin('show', id)).text
  expect(shown).toContain('taken down  2026-05-04T12:00:00.000Z  spam')
  expect(shown).toMatch(/version 1 {2}clean {2}[0-9a-f]{64}/)
  t.clock.advance(401 * day)
  await deleteOldModeration(t.ctx)
  expect(await listAudit(t.ctx, 10)).toEqual([])
  expect(await listReports(t.ctx, 10)).toEqual([])
  expect((await admin('audit')).text).toBe('Nothing found.')
})

test("another agent's app returns the same body as an unknown id", async () => {
  const none = 'A'.repeat(12)
  for (const [method, path, body] of [
    ['GET', 'scan'],
    ['POST', 'rescan'],
    ['POST', 'appeal', { text: 'It is fine.' }],
  ] as const) {
    const call = (app: string) =>
      expectError(t, 404, 'not_found', () => ben.call(method, `/apps/${app}/${path}`, body))
    expect((await call(id)).body).toEqual((await call(none)).body)
    await expectError(t, 401, 'no_key', () => t.call(method, `/apps/${id}/${path}`))
  }
})
