import { afterEach, expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { takeDown } from '../apps/moderation/moderation.ts'
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

test('no_key, bad_key', async () => {
  const h = await open()
  const unknown = `ak_${'x'.repeat(40)}`
  for (const [method, path] of [
    ['GET', '/me'],
    ['POST', '/apps'],
    ['PATCH', `/apps/${nobody}`],
  ] as const) {
    const body = method === 'GET' ? undefined : { nonsense: [] }
    await expectError(h, 401, 'no_key', () => h.call(method, path, { body }))
    await expectError(h, 401, 'bad_key', () => h.call(method, path, { body, key: unknown }))
    await expectError(h, 401, 'bad_key', () => h.call(method, path, { body, key: 'nonsense' }))
  }
  await expectError(h, 401, 'no_key', () => h.call('POST', '/apps', { body: '{broken' }))
  // RFC 9110, section 15.5.2: a 401 names its authentication scheme.
  const responses = await Promise.all([h.call('GET', '/me'), h.request('GET', '/queries/history')])
  const schemes = responses.map(({ headers }) => headers.get('www-authenticate'))
  expect(schemes).toEqual(['Bearer', 'Bearer'])
})

test('bad_key: a revoked key', async () => {
  const h = await open()
  const ann = await h.agent('ann')
  const { body } = await ann.call('POST', '/me/keys', {})
  expect(body).toMatchObject({ prefix: expect.any(String) })
  expect((await ann.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`)).status).toBe(200)
  await expectError(h, 401, 'bad_key', () => ann.call('GET', '/me'))
})

test('wrong_key_kind, not_an_agent', async () => {
  const h = await open()
  const [gateway, person] = [await keyOf(h, 'gateway'), await keyOf(h, 'person')]
  await expectError(h, 403, 'wrong_key_kind', () => h.call('GET', '/me', { key: gateway }))
  await expectError(h, 403, 'wrong_key_kind', () => h.call('GET', '/apps', { key: person }))
  await expectError(h, 403, 'wrong_key_kind', () => h.call('POST', '/me/claim', { key: gateway }))
  await expectError(h, 400, 'not_an_agent', () => h.call('POST', '/me/claim', { key: person }))
})

test('account_closed', async () => {
  const h = await open()
  const ann = await h.agent('ann')
  expect((await ann.call('DELETE', '/me')).status).toBe(200)
  await expectError(h, 403, 'account_closed', () => ann.call('GET', '/me'))
  await expectError(h, 403, 'account_closed', () => ann.call('POST', '/apps', { html }))
})

test('agents_off closes every operation but /on', async () => {
  const h = await open({ AGENTS_ON: 'off' })
  for (const path of ['/', '/openapi.json', '/me', `/apps/${nobody}`]) {
    await expectError(h, 404, 'agents_off', () => h.call('GET', path))
  }
  await expectError(h, 404, 'agents_off', () => h.call('POST', '/keys'))
  expect((await h.call('GET', '/on')).body).toEqual({ on: false })
})

test('invite_only', async () => {
  const h = await open({ KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'come-in-please' })
  await expectError(h, 403, 'invite_only', () => h.call('POST', '/keys'))
  await expectError(h, 403, 'invite_only', () => h.call('POST', '/keys', { key: 'come-in-pleasf' }))
  expect((await h.call('POST', '/keys', { key: 'come-in-please' })).status).toBe(201)
})

test('not_found: unknown, malformed, deleted and another agent’s ids', async () => {
  const h = await open()
  const [ann, ben] = [await h.agent('ann'), await h.agent('ben')]
  const id = await ann.publish()
  const gone = await ben.publish()
  await ben.call('DELETE', `/apps/${gone}`)
  const wrong = ['x', 'A'.repeat(13), '%2e%2e%2fetc', "1'or'1'='1", 'A%00A', '🙂'.repeat(6)]
  for (const other of [id, gone, nobody, ...wrong]) {
    await expectError(h, 404, 'not_found', () => ben.call('GET', `/apps/${other}`))
    await expectError(h, 404, 'not_found', () =>
      ben.call('PATCH', `/apps/${other}`, { title: 'Mine' }),
    )
    await expectError(h, 404, 'not_found', () => ben.call('DELETE', `/apps/${other}`))
    await expectError(h, 404, 'not_found', () =>
      ben.call('POST', `/apps/${other}/versions`, { html }),
    )
    await expectError(h, 404, 'not_found', () =>
      ben.call('PUT', `/apps/${other}/assets/a.json`, '[]'),
    )
  }
  await expectError(h, 404, 'not_found', () => ben.call('DELETE', '/me/keys/ak_xxxxxxxx'))
  await expectError(h, 404, 'not_found', () =>
    ben.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`),
  )
  await expectError(h, 404, 'not_found', () => ben.call('GET', '/no/such/operation'))
  await expectError(h, 405, 'method_not_allowed', () => ben.call('PUT', '/me', {}))
})

test('bad_handle, handle_taken', async () => {
  const h = await open()
  const make = (handle: unknown) => () => h.call('POST', '/keys', { body: { handle } })
  expect((await make('paul-oliver')()).status).toBe(201)
  await expectError(h, 409, 'handle_taken', make('paul-oliver'))
  const bad = ['', 'ab', 'A-B-C', '-ann', 'ann-', 'a'.repeat(31), 'ann_b', 'änn', 'ann\n', '../ann']
  const reserved = ['admin', 'adm1n', 'api', 'supp0rt']
  const twins = ['pau1-oliver', 'paul-0liver', 'pauloliver', 'paul--oliver']
  for (const handle of [...bad, ...reserved, ...twins])
    await expectError(h, 400, 'bad_handle', make(handle))
  await expectError(h, 400, 'bad_request', make(7))
})

test('handle_taken: two agents claim one handle at the same time', async () => {
  const h = await open()
  const take = (from: string) => h.call('POST', '/keys', { body: { handle: 'only-one' }, from })
  const responses = await Promise.all([take('192.0.2.1'), take('192.0.2.2')])
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409])
  expect(responses.find(({ status }) => status === 409)?.code).toBe('handle_taken')
})

test('keys_address_limit, until the next day', async () => {
  const h = await open({ KEYS_PER_ADDRESS_DAY: '3' })
  const make = (from: string) => () => h.call('POST', '/keys', { from })
  for (const _ of [1, 2, 3]) expect((await make('2001:db8:1:2::1')()).status).toBe(201)
  // Addresses of one /64 count as one.
  await expectError(h, 429, 'keys_address_limit', make('2001:db8:1:2:ffff::9'))
  await expectError(h, 429, 'keys_address_limit', () =>
    h.call('POST', '/keys', {
      from: '2001:db8:1:2::1',
      headers: { 'x-forwarded-for': '198.51.100.7', 'x-real-ip': '198.51.100.8' },
    }),
  )
  expect((await make('2001:db8:1:3::1')()).status).toBe(201)
  h.clock.advance(day)
  expect((await make('2001:db8:1:2::1')()).status).toBe(201)
})

test('keys_daily_limit', async () => {
  const h = await open({ KEYS_PER_DAY: '2' })
  await Promise.all([h.agent('ann'), h.agent('ben')])
  const { headers } = await expectError(h, 429, 'keys_daily_limit', () => h.call('POST', '/keys'))
  expect(Number(headers.get('retry-after'))).toBe((12 * hour) / 1_000)
})

test('rate_limited, by address', async () => {
  const h = await open({ REQUESTS_PER_MINUTE: '5' })
  for (const _ of [1, 2, 3, 4, 5]) expect((await h.call('GET', '/on')).status).toBe(200)
  await expectError(h, 429, 'rate_limited', () => h.call('GET', '/on'))
  await expectError(h, 429, 'rate_limited', () => h.call('POST', '/keys'))
  expect((await h.call('GET', '/on', { from: '203.0.113.10' })).status).toBe(200)
  h.clock.advance(2 * minute)
  expect((await h.call('GET', '/on')).status).toBe(200)
})

test('publishes_limit, until one publish is an hour old', async () => {
  const h = await open({ PUBLISHES_PER_HOUR: '2' })
  const ann = await h.agent('ann')
  const id = await ann.publish()
  h.clock.advance(10 * minute)
  await ann.publish()
  const { headers } = await expectError(h, 429, 'publishes_limit', () =>
    ann.call('POST', '/apps', { html: `${html}!` }),
  )
  expect(Number(headers.get('retry-after'))).toBe(50 * 60)
  await expectError(h, 429, 'publishes_limit', () =>
    ann.call('POST', `/apps/${id}/versions`, { html }),
  )
  await expectError(h, 429, 'publishes_limit', () =>
    ann.call('POST', `/apps/${id}/versions/1/restore`),
  )
  expect((await ann.call('POST', '/apps', { html, dryRun: true })).status).toBe(200)
  h.clock.advance(50 * minute + 1)
  expect((await ann.call('POST', '/apps', { html })).status).toBe(201)
})

test('already_claimed', async () => {
  const h = await open()
  const ann = await h.agent('ann')
  expect((await ann.call('POST', '/me/claim')).status).toBe(201)
  await h.ctx.db.tx((db) =>
    db.update(agents).set({ owner: 'olga' }).where(eq(agents.handle, ann.handle)),
  )
  await expectError(h, 409, 'already_claimed', () => ann.call('POST', '/me/claim'))
})

test('games_off, prices_off', async () => {
  const h = await open({ GAMES_ON: 'off', PRICES_ON: 'off' })
  const ann = await h.agent('ann')
  const id = await ann.publish()
  const priced = { remix: 'price', priceRemix: 5 }
  await expectError(h, 400, 'games_off', () => ann.call('POST', '/apps', { html, kind: 'game' }))
  await expectError(h, 400, 'bad_request', () => ann.call('POST', '/apps', { html, ...priced }))
  await expectError(h, 400, 'bad_request', () => ann.call('PATCH', `/apps/${id}`, priced))
  expect((await ann.call('PATCH', `/apps/${id}`, { remix: 'off' })).status).toBe(200)
})

test('blocked_by_scan gives its reasons', async () => {
  const h = await open()
  const ann = await h.agent('ann')
  const id = await ann.publish()
  const post =
    (path: string, more = {}) =>
    () =>
      ann.call('POST', path, { html: phish, ...more })
  const { body } = await expectError(h, 422, 'blocked_by_scan', post('/apps'))
  expect(body).toMatchObject({ reasons: [expect.stringContaining('phish.credential_form')] })
  await expectError(h, 422, 'blocked_by_scan', post('/apps', { dryRun: true }))
  await expectError(h, 422, 'blocked_by_scan', post(`/apps/${id}/versions`))
})

test('not_listable keeps the other changes of the call', async () => {
  const h = await open()
  const ann = await h.agent('ann')
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
  const h = await open()
  const ann = await h.agent('ann')
  const id = await ann.publish({ html })
  await takeDown(h.ctx, id, 'phishing')
  const { body } = await expectError(h, 410, 'taken_down', () => ann.call('GET', `/apps/${id}`))
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
    await expectError(h, 410, 'taken_down', () => ann.call(method, `/apps/${id}${path}`, sent))
  }
  await expectError(h, 422, 'blocked_by_scan', () => ann.call('POST', '/apps', { html }))
  expect((await h.request('GET', `/a/${id}`)).status).toBe(410)
})

test('no_builder: a prompt is rejected without a charge', async () => {
  const h = await open({ BUILDER_MODEL: 'not/served' })
  const ann = await h.agent('ann')
  const id = await ann.publish()
  const prompt = 'a small game about boats'
  await expectError(h, 503, 'no_builder', () => ann.call('POST', '/apps', { prompt }))
  await expectError(h, 503, 'no_builder', () =>
    ann.call('POST', `/apps/${id}/versions`, { prompt }),
  )
  expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 400, held: 0 })
})

test('a ref replays its response, and is ref_conflict with another body', async () => {
  const h = await open()
  const [ann, ben] = [await h.agent('ann'), await h.agent('ben')]
  const first = await ann.call('POST', '/apps', { html, ref: 'monday-1' })
  const before = await h.snapshot()
  const again = await ann.call('POST', '/apps', { html, ref: 'monday-1' })
  const byHeader = await ann.call('POST', '/apps', { html }, { 'idempotency-key': 'monday-1' })
  expect([again.status, again.body]).toEqual([201, first.body])
  expect(byHeader.body).toEqual(first.body)
  expect(await h.snapshot()).toEqual(before)
  const other = { html: `${html}2`, ref: 'monday-1' }
  await expectError(h, 409, 'ref_conflict', () => ann.call('POST', '/apps', other))
  const id = first.text('app.id')
  await expectError(h, 409, 'ref_conflict', () =>
    ann.call('POST', `/apps/${id}/versions`, { html, ref: 'monday-1' }),
  )
  expect((await ben.call('POST', '/apps', { html, ref: 'monday-1' })).text('app.id')).not.toBe(id)
  expect((await ann.call('POST', '/apps', { html: phish, ref: 'tuesday-1' })).code).toBe(
    'blocked_by_scan',
  )
  expect((await ann.call('POST', '/apps', { html, ref: 'tuesday-1' })).status).toBe(201)
})

test('busy: an identical request is still running', async () => {
  const h = await open()
  const ann = await h.agent('ann')
  const post = () => ann.call('POST', '/apps', { html, ref: 'at-once-1' })
  const { begun, go } = pauseMethod(h.ctx.storage, 'put')
  const first = post()
  await begun
  for (let twin = 0; twin < 2; twin += 1) await expectError(h, 409, 'busy', post)
  go()
  expect((await first).status).toBe(201)
  expect((await ann.call('GET', '/apps')).body).toMatchObject({ apps: [{}] })
})

test('last_key', async () => {
  const h = await open()
  const ann = await h.agent('ann')
  await expectError(h, 409, 'last_key', () =>
    ann.call('DELETE', `/me/keys/${ann.key.slice(0, 11)}`),
  )
})

test('storage_full', async () => {
  const h = await open({ BYTES_PER_AGENT: '1000' })
  const ann = await h.agent('ann')
  const id = await ann.publish()
  const large = `${html}${'<!-- more -->'.repeat(100)}`
  await expectError(h, 409, 'storage_full', () => ann.call('POST', '/apps', { html: large }))
  await expectError(h, 409, 'storage_full', () =>
    ann.call('POST', `/apps/${id}/versions`, { html: large }),
  )
  expect((await ann.call('POST', '/apps', { html })).status).toBe(201)
})

test('assets_off', async () => {
  const h = await open({ ASSETS_ON: 'off' })
  const ann = await h.agent('ann')
  const id = await ann.publish()
  await expectError(h, 404, 'assets_off', () => ann.call('GET', `/apps/${id}/assets`))
  await expectError(h, 404, 'assets_off', () => ann.call('PUT', `/apps/${id}/assets/a.json`, '[]'))
})

test('try_again, not_ready: a read-only database', async () => {
  const db = await freshEngine()
  let full = false
  const engine = {
    ...db,
    tx: (work) => (full ? Promise.reject(new DatabaseBusy('full')) : db.tx(work)),
  } satisfies typeof db
  const h = await open({}, { db: engine })
  const ann = await h.agent('ann')
  const id = await ann.publish()
  full = true
  await expectError(h, 503, 'not_ready', () => ann.call('PATCH', '/me', { about: 'hello' }))
  await expectError(h, 503, 'try_again', () => h.call('POST', '/keys'))
  await expectError(h, 503, 'try_again', () => ann.call('PATCH', `/apps/${id}`, { title: 'New' }))
  await expectError(h, 503, 'try_again', () => ann.call('DELETE', `/apps/${id}`))
  await expectError(h, 503, 'try_again', () => ann.call('POST', '/me/claim'))
  full = false
})
