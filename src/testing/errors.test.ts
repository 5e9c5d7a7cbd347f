import { afterEach, expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { takeDown } from '../apps/moderation/moderation.ts'
import { apps } from '../apps/tables.ts'
import type { SettingName } from '../kernel/config/settings.ts'
import { DatabaseBusy } from '../kernel/db/error.ts'
import { day, hour, minute } from '../kernel/time.ts'
import { create, type Key } from '../money/keys/keys.ts'
import { agents } from '../people/agents/tables.ts'
import type { ContextOverrides } from '../server/context.ts'
import { expectError } from './expect-error.ts'
import { freshEngine } from './fixtures/engine.ts'
import { startTestServer, type TestServer } from './fixtures/test-server.ts'
import { pauseMethod } from './pause-method.ts'

/** Document 1, section 7, over HTTP: each code, and no stored change. */
let ctx: TestServer | undefined

async function open(
  settings: Partial<Record<SettingName, string>> = {},
  parts: ContextOverrides = {},
): Promise<TestServer> {
  ctx = await startTestServer(settings, parts)
  return ctx
}

afterEach(async () => {
  const { lines = [] } = ctx ?? {}
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  await ctx?.close()
  ctx = undefined
})

const html = '<!doctype html><title>Boats</title><p>hello</p>'
const phish =
  '<!doctype html><title>Sign in</title><form action="https://evil.test/x"><input type="password" name="p"></form>'
const packed =
  '<!doctype html><title>Go</title><meta http-equiv="refresh" content="0;url=https://elsewhere.test/">'
const nobody = 'A'.repeat(12)

async function keyOf({ ctx: { db, clock } }: TestServer, kind: Key['kind']): Promise<string> {
  const owner = 'someone-else'
  return (await db.tx((tx) => create(tx, clock, { kind, owner, dailyCap: null }))).text
}

test('no_key, bad_key: a missing and an unknown key', async () => {
  const t = await open()
  const unknown = `ak_${'x'.repeat(40)}`
  for (const [method, path] of [
    ['GET', '/me'],
    ['POST', '/apps'],
    ['PATCH', `/apps/${nobody}`],
  ] as const) {
    const body = method === 'GET' ? undefined : { nonsense: [] }
    await expectError(t, 401, 'no_key', () => t.call(method, path, { body }))
    await expectError(t, 401, 'bad_key', () => t.call(method, path, { body, key: unknown }))
    await expectError(t, 401, 'bad_key', () => t.call(method, path, { body, key: 'nonsense' }))
  }
  await expectError(t, 401, 'no_key', () => t.call('POST', '/apps', { body: '{broken' }))
  // RFC 9110, section 15.5.2: a 401 names its authentication scheme.
  const responses = await Promise.all([t.call('GET', '/me'), t.request('GET', '/queries/history')])
  const schemes = responses.map(({ headers }) => headers.get('www-authenticate'))
  expect(schemes).toEqual(['Bearer', 'Bearer'])
})

test('bad_key: a revoked key', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const { body } = await ann.call('POST', '/me/keys', {})
  expect(body).toMatchObject({ prefix: expect.any(String) })
  expect((await ann.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`)).status).toBe(200)
  await expectError(t, 401, 'bad_key', () => ann.call('GET', '/me'))
})

test('wrong_key_kind, not_an_agent: keys of gateway accounts and people', async () => {
  const t = await open()
  const [gateway, person] = [await keyOf(t, 'gateway'), await keyOf(t, 'person')]
  await expectError(t, 403, 'wrong_key_kind', () => t.call('GET', '/me', { key: gateway }))
  await expectError(t, 403, 'wrong_key_kind', () => t.call('GET', '/apps', { key: person }))
  await expectError(t, 403, 'wrong_key_kind', () => t.call('POST', '/me/claim', { key: gateway }))
  await expectError(t, 400, 'not_an_agent', () => t.call('POST', '/me/claim', { key: person }))
})

test('account_closed: a closed agent does nothing', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  expect((await ann.call('DELETE', '/me')).status).toBe(200)
  await expectError(t, 403, 'account_closed', () => ann.call('GET', '/me'))
  await expectError(t, 403, 'account_closed', () => ann.call('POST', '/apps', { html }))
})

test('agents_off closes every operation but /on', async () => {
  const t = await open({ AGENTS_ON: 'off' })
  for (const path of ['/', '/openapi.json', '/me', `/apps/${nobody}`]) {
    await expectError(t, 404, 'agents_off', () => t.call('GET', path))
  }
  await expectError(t, 404, 'agents_off', () => t.call('POST', '/keys'))
  expect((await t.call('GET', '/on')).body).toEqual({ on: false })
})

test('invite_only: new keys need the operator token', async () => {
  const t = await open({ KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'come-in-please' })
  await expectError(t, 403, 'invite_only', () => t.call('POST', '/keys'))
  await expectError(t, 403, 'invite_only', () => t.call('POST', '/keys', { key: 'come-in-pleasf' }))
  expect((await t.call('POST', '/keys', { key: 'come-in-please' })).status).toBe(201)
})

test('not_found: unknown, malformed, deleted and another agent’s ids', async () => {
  const t = await open()
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  const id = await ann.publish()
  const gone = await ben.publish()
  await ben.call('DELETE', `/apps/${gone}`)
  const wrong = ['x', 'A'.repeat(13), '%2e%2e%2fetc', "1'or'1'='1", 'A%00A', '🙂'.repeat(6)]
  for (const other of [id, gone, nobody, ...wrong]) {
    await expectError(t, 404, 'not_found', () => ben.call('GET', `/apps/${other}`))
    await expectError(t, 404, 'not_found', () =>
      ben.call('PATCH', `/apps/${other}`, { title: 'Mine' }),
    )
    await expectError(t, 404, 'not_found', () => ben.call('DELETE', `/apps/${other}`))
    await expectError(t, 404, 'not_found', () =>
      ben.call('POST', `/apps/${other}/versions`, { html }),
    )
    await expectError(t, 404, 'not_found', () =>
      ben.call('PUT', `/apps/${other}/assets/a.json`, '[]'),
    )
  }
  await expectError(t, 404, 'not_found', () => ben.call('DELETE', '/me/keys/ak_xxxxxxxx'))
  await expectError(t, 404, 'not_found', () =>
    ben.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`),
  )
  await expectError(t, 404, 'not_found', () => ben.call('GET', '/no/such/operation'))
  await expectError(t, 405, 'method_not_allowed', () => ben.call('PUT', '/me', {}))
})

test('bad_handle, handle_taken: invalid, reserved and similar handles', async () => {
  const t = await open()
  const make = (handle: unknown) => () => t.call('POST', '/keys', { body: { handle } })
  expect((await make('paul-oliver')()).status).toBe(201)
  await expectError(t, 409, 'handle_taken', make('paul-oliver'))
  const bad = ['', 'ab', 'A-B-C', '-ann', 'ann-', 'a'.repeat(31), 'ann_b', 'änn', 'ann\n', '../ann']
  const reserved = ['admin', 'adm1n', 'api', 'supp0rt']
  const twins = ['pau1-oliver', 'paul-0liver', 'pauloliver', 'paul--oliver']
  for (const handle of [...bad, ...reserved, ...twins])
    await expectError(t, 400, 'bad_handle', make(handle))
  await expectError(t, 400, 'bad_request', make(7))
})

test('handle_taken: two agents claim one handle at the same time', async () => {
  const t = await open()
  const take = (from: string) => t.call('POST', '/keys', { body: { handle: 'only-one' }, from })
  const responses = await Promise.all([take('192.0.2.1'), take('192.0.2.2')])
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409])
  expect(responses.find(({ status }) => status === 409)?.code).toBe('handle_taken')
})

test('keys_address_limit, until the next day', async () => {
  const t = await open({ KEYS_PER_ADDRESS_DAY: '3' })
  const make = (from: string) => () => t.call('POST', '/keys', { from })
  for (const _ of [1, 2, 3]) expect((await make('2001:db8:1:2::1')()).status).toBe(201)
  // Addresses of one /64 count as one.
  await expectError(t, 429, 'keys_address_limit', make('2001:db8:1:2:ffff::9'))
  await expectError(t, 429, 'keys_address_limit', () =>
    t.call('POST', '/keys', {
      from: '2001:db8:1:2::1',
      headers: { 'x-forwarded-for': '198.51.100.7', 'x-real-ip': '198.51.100.8' },
    }),
  )
  expect((await make('2001:db8:1:3::1')()).status).toBe(201)
  t.clock.advance(day)
  expect((await make('2001:db8:1:2::1')()).status).toBe(201)
})

test('keys_daily_limit: new keys of all addresses on a day', async () => {
  const t = await open({ KEYS_PER_DAY: '2' })
  await Promise.all([t.agent('ann'), t.agent('ben')])
  const { headers } = await expectError(t, 429, 'keys_daily_limit', () => t.call('POST', '/keys'))
  expect(Number(headers.get('retry-after'))).toBe((12 * hour) / 1_000)
})

test('rate_limited, by address', async () => {
  const t = await open({ REQUESTS_PER_MINUTE: '5' })
  for (const _ of [1, 2, 3, 4, 5]) expect((await t.call('GET', '/on')).status).toBe(200)
  await expectError(t, 429, 'rate_limited', () => t.call('GET', '/on'))
  await expectError(t, 429, 'rate_limited', () => t.call('POST', '/keys'))
  expect((await t.call('GET', '/on', { from: '203.0.113.10' })).status).toBe(200)
  t.clock.advance(2 * minute)
  expect((await t.call('GET', '/on')).status).toBe(200)
})

test('publishes_limit, until one publish is an hour old', async () => {
  const t = await open({ PUBLISHES_PER_HOUR: '2' })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  t.clock.advance(10 * minute)
  await ann.publish()
  const { headers } = await expectError(t, 429, 'publishes_limit', () =>
    ann.call('POST', '/apps', { html: `${html}!` }),
  )
  expect(Number(headers.get('retry-after'))).toBe(50 * 60)
  await expectError(t, 429, 'publishes_limit', () =>
    ann.call('POST', `/apps/${id}/versions`, { html }),
  )
  await expectError(t, 429, 'publishes_limit', () =>
    ann.call('POST', `/apps/${id}/versions/1/restore`),
  )
  expect((await ann.call('POST', '/apps', { html, dryRun: true })).status).toBe(200)
  t.clock.advance(50 * minute + 1)
  expect((await ann.call('POST', '/apps', { html })).status).toBe(201)
})

test('already_claimed: an owned agent has no claim link', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  expect((await ann.call('POST', '/me/claim')).status).toBe(201)
  await t.ctx.db.tx((db) =>
    db.update(agents).set({ owner: 'olga' }).where(eq(agents.handle, ann.handle)),
  )
  await expectError(t, 409, 'already_claimed', () => ann.call('POST', '/me/claim'))
})

test('games_off, prices_off: the operator forbids games and prices', async () => {
  const t = await open({ GAMES_ON: 'off', PRICES_ON: 'off' })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  const priced = { remix: 'price', priceRemix: 5 }
  await expectError(t, 400, 'games_off', () => ann.call('POST', '/apps', { html, kind: 'game' }))
  await expectError(t, 400, 'bad_request', () => ann.call('POST', '/apps', { html, ...priced }))
  await expectError(t, 400, 'bad_request', () => ann.call('PATCH', `/apps/${id}`, priced))
  expect((await ann.call('PATCH', `/apps/${id}`, { remix: 'off' })).status).toBe(200)

  // A form sends the terms that it does not change.
  const earlier = { remix: 'price', priceRemix: 5 } as const
  await t.ctx.db.tx((db) => db.update(apps).set(earlier).where(eq(apps.id, id)))
  const renamed = await ann.call('PATCH', `/apps/${id}`, { title: 'Boats', ...priced })
  expect([renamed.status, Object(renamed.body).app]).toMatchObject([
    200,
    { title: 'Boats', ...priced },
  ])
  const dearer = { ...priced, priceRemix: 6 }
  await expectError(t, 400, 'bad_request', () => ann.call('PATCH', `/apps/${id}`, dearer))
})

test('blocked_by_scan gives its reasons', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const id = await ann.publish()
  const post =
    (path: string, more = {}) =>
    () =>
      ann.call('POST', path, { html: phish, ...more })
  const { body } = await expectError(t, 422, 'blocked_by_scan', post('/apps'))
  expect(body).toMatchObject({ reasons: [expect.stringContaining('phish.credential_form')] })
  await expectError(t, 422, 'blocked_by_scan', post('/apps', { dryRun: true }))
  await expectError(t, 422, 'blocked_by_scan', post(`/apps/${id}/versions`))
})

test('not_listable keeps the other changes of the call', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const id = await ann.publish({ html: packed })
  const response = await ann.call('PATCH', `/apps/${id}`, {
    title: 'Gone',
    shelf: 'tools',
    store: true,
  })
  expect([response.status, response.code]).toEqual([422, 'not_listable'])
  expect(response.body).toMatchObject({ reasons: [expect.stringContaining('redirect.meta')] })
  expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({
    app: { title: 'Gone', shelf: 'tools', store: false, listed: 'off' },
  })
})

test('taken_down: every operation on the app, its link, and the same page published again', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const id = await ann.publish({ html })
  await takeDown(t.ctx, id, 'phishing', 'operator')
  const { body } = await expectError(t, 410, 'taken_down', () => ann.call('GET', `/apps/${id}`))
  expect(body).toMatchObject({ reason: 'phishing', at: '2026-05-04T12:00:00.000Z' })
  const calls: [string, string, unknown?][] = [
    ['PATCH', '', { title: 'Back' }],
    ['DELETE', ''],
    ['GET', '/html'],
    ['GET', '/export'],
    ['GET', '/versions'],
    ['POST', '/versions', { html: `${html}2` }],
    ['GET', '/assets'],
    ['PUT', '/assets/a.json', '[]'],
  ]
  for (const [method, path, sent] of calls) {
    await expectError(t, 410, 'taken_down', () => ann.call(method, `/apps/${id}${path}`, sent))
  }
  await expectError(t, 422, 'blocked_by_scan', () => ann.call('POST', '/apps', { html }))
  expect((await t.request('GET', `/a/${id}`)).status).toBe(410)
})

test('no_builder: a prompt is rejected without a charge', async () => {
  const t = await open({ BUILDER_MODEL: 'not/served' })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  const prompt = 'a small game about boats'
  await expectError(t, 503, 'no_builder', () => ann.call('POST', '/apps', { prompt }))
  await expectError(t, 503, 'no_builder', () =>
    ann.call('POST', `/apps/${id}/versions`, { prompt }),
  )
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400, held: 0 })
})

test('a ref replays its response, and is ref_conflict with another body', async () => {
  const t = await open()
  const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
  const first = await ann.call('POST', '/apps', { html, ref: 'monday-1' })
  const before = await t.snapshot()
  const again = await ann.call('POST', '/apps', { html, ref: 'monday-1' })
  const byHeader = await ann.call('POST', '/apps', { html }, { 'idempotency-key': 'monday-1' })
  expect([again.status, again.body]).toEqual([201, first.body])
  expect(byHeader.body).toEqual(first.body)
  expect(await t.snapshot()).toEqual(before)
  const other = { html: `${html}2`, ref: 'monday-1' }
  await expectError(t, 409, 'ref_conflict', () => ann.call('POST', '/apps', other))
  const id = first.text('app.id')
  await expectError(t, 409, 'ref_conflict', () =>
    ann.call('POST', `/apps/${id}/versions`, { html, ref: 'monday-1' }),
  )
  expect((await ben.call('POST', '/apps', { html, ref: 'monday-1' })).text('app.id')).not.toBe(id)
  expect((await ann.call('POST', '/apps', { html: phish, ref: 'tuesday-1' })).code).toBe(
    'blocked_by_scan',
  )
  expect((await ann.call('POST', '/apps', { html, ref: 'tuesday-1' })).status).toBe(201)
})

test('busy: an identical request is still running', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const post = () => ann.call('POST', '/apps', { html, ref: 'at-once-1' })
  const { begun, go } = pauseMethod(t.ctx.storage, 'put')
  const first = post()
  await begun
  for (let twin = 0; twin < 2; twin += 1) await expectError(t, 409, 'busy', post)
  go()
  expect((await first).status).toBe(201)
  expect((await ann.call('GET', '/apps')).body).toMatchObject({ apps: [{}] })
})

test('last_key: an agent cannot revoke its only key', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  await expectError(t, 409, 'last_key', () =>
    ann.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`),
  )
})

test('storage_full: apps and versions beyond the bytes of an agent', async () => {
  const t = await open({ BYTES_PER_AGENT: '1000' })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  const large = `${html}${'<!-- more -->'.repeat(100)}`
  await expectError(t, 409, 'storage_full', () => ann.call('POST', '/apps', { html: large }))
  await expectError(t, 409, 'storage_full', () =>
    ann.call('POST', `/apps/${id}/versions`, { html: large }),
  )
  expect((await ann.call('POST', '/apps', { html })).status).toBe(201)
})

test('assets_off: the operator turns assets off', async () => {
  const t = await open({ ASSETS_ON: 'off' })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  await expectError(t, 404, 'assets_off', () => ann.call('GET', `/apps/${id}/assets`))
  await expectError(t, 404, 'assets_off', () => ann.call('PUT', `/apps/${id}/assets/a.json`, '[]'))
})

test('try_again, not_ready: a read-only database', async () => {
  const db = await freshEngine()
  let full = false
  const engine = {
    ...db,
    tx: (work) => (full ? Promise.reject(new DatabaseBusy('full')) : db.tx(work)),
  } satisfies typeof db
  const t = await open({}, { db: engine })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  full = true
  await expectError(t, 503, 'not_ready', () => ann.call('PATCH', '/me', { about: 'hello' }))
  await expectError(t, 503, 'try_again', () => t.call('POST', '/keys'))
  await expectError(t, 503, 'try_again', () => ann.call('PATCH', `/apps/${id}`, { title: 'New' }))
  await expectError(t, 503, 'try_again', () => ann.call('DELETE', `/apps/${id}`))
  await expectError(t, 503, 'try_again', () => ann.call('POST', '/me/claim'))
  full = false
})
