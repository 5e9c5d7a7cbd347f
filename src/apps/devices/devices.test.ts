import { expect, test } from 'bun:test'

import { hour, minute } from '../../kernel/time.ts'
import { expectError } from '../../testing/expect-error.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { deleteExpiredDeviceCodes } from './devices.ts'
import { deviceCodes } from './tables.ts'

const open = startForEachTest()

const client_id = 'berth on laptop'
const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
const formType = { 'content-type': 'application/x-www-form-urlencoded' }

const send = (t: TestServer, path: string, fields: Record<string, string>, from = '192.0.2.7') =>
  t.call('POST', path, { body: `${new URLSearchParams(fields)}`, headers: formType, from })

async function start(t: TestServer, from?: string) {
  const { text, ...response } = await send(t, '/device/authorization', { client_id }, from)
  const [device, user] = [text('device_code'), text('user_code')]
  const ask = (more = {}) =>
    send(t, '/device/token', { grant_type, client_id, device_code: device, ...more })
  return { response, device, user, ask }
}

const decide = (browser: FormBrowser, code: string, values: Record<string, string>) =>
  browser.fill(`/device?code=${code}`, '/device', { code, ...values })

test('a person approves the code of a device for an agent, which gets a key once', async () => {
  const t = await open()
  const [ann, browser] = [await t.agent('ann'), await signUp(t, 'olga')]
  await claimAgent(browser, ann)
  const { response, device, user, ask } = await start(t)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.body).toEqual({
    device_code: device,
    user_code: user,
    verification_uri: 'http://localhost:3000/device',
    verification_uri_complete: `http://localhost:3000/device?code=${user}`,
    expires_in: 900,
    interval: 5,
  })
  const waiting = await ask()
  expect([waiting.status, waiting.body]).toEqual([
    400,
    {
      error: 'authorization_pending',
      code: 'authorization_pending',
      error_description: expect.stringContaining('not approved'),
    },
  ])
  const page = await browser.show(`/device?code=${user.toLowerCase().replaceAll('-', ' ')}`)
  expect(page.text).toContain('berth on laptop wants an API key')
  const approved = await decide(browser, user, { handle: ann.handle, act: 'approve' })
  expect(shownPage(approved.body).text).toContain(`now has a key of @${ann.handle}`)
  const { status, text, headers } = await ask()
  expect([status, text('token_type'), headers.get('cache-control')]).toEqual([
    200,
    'Bearer',
    'no-store',
  ])
  const key = text('access_token')
  expect((await t.call('GET', '/me', { key })).body).toMatchObject({ handle: ann.handle })
  const keys = await t.call('GET', '/me/keys', { key })
  expect(keys.body).toMatchObject({
    keys: expect.arrayContaining([expect.objectContaining({ name: client_id })]),
  })
  expect((await ask()).code).toBe('expired_token')
  expect(alertText(await browser.open(`/device?code=${user}`))).toContain('was used')
})

test('a person approves a code for a new agent', async () => {
  const t = await open()
  const browser = await signUp(t, 'olga')
  const { user, ask } = await start(t)
  const approved = await decide(browser, user, { handle: '', act: 'approve' })
  const [, handle] = /@([\w-]+)/.exec(shownPage(approved.body).text) ?? []
  const key = (await ask()).text('access_token')
  expect((await t.call('GET', '/me', { key })).body).toMatchObject({ handle, owner: 'olga' })
})

test('only hashes of the codes are stored', async () => {
  const t = await open()
  const { device, user } = await start(t)
  const rows = JSON.stringify(await t.ctx.db.read.select().from(deviceCodes))
  expect(rows).toContain(client_id)
  expect(rows).not.toContain(device)
  expect(rows).not.toContain(user)
})

test('a denied sign-in gets no key', async () => {
  const t = await open()
  const browser = await signUp(t, 'olga')
  const { user, ask } = await start(t)
  const { token = '' } = hiddenFields(await browser.read(`/device?code=${user}`), '/device')
  const send = (act: string) => browser.send('/device', { token, code: user, act })
  expect(shownPage((await send('deny')).body).text).toContain('denied')
  expect((await ask()).code).toBe('access_denied')
  expect(alertText(await send('approve'))).toContain('was used')
})

test('a code expires after 15 minutes, approved or not', async () => {
  const t = await open()
  const browser = await signUp(t, 'olga')
  const [first, second] = [await start(t), await start(t)]
  await decide(browser, first.user, { act: 'approve', handle: '' })
  t.clock.advance(15 * minute)
  expect((await first.ask()).code).toBe('expired_token')
  expect((await second.ask()).code).toBe('expired_token')
  expect(alertText(await browser.open(`/device?code=${second.user}`))).toContain('expired')
  await deleteExpiredDeviceCodes(t.ctx)
  expect(await t.ctx.db.read.select().from(deviceCodes)).toEqual([])
})

test('of two devices with one code only one gets the key', async () => {
  const t = await open()
  const browser = await signUp(t, 'olga')
  const { user, ask } = await start(t)
  await decide(browser, user, { act: 'approve', handle: '' })
  const all = await Promise.all([ask(), ask(), ask()])
  expect(all.map(({ status }) => status).sort()).toEqual([200, 400, 400])
})

test('another program, a released agent and an agent without room get no key', async () => {
  const t = await open()
  const [ann, browser] = [await t.agent('ann'), await signUp(t, 'olga')]
  await claimAgent(browser, ann)
  const { user, ask } = await start(t)
  await decide(browser, user, { act: 'approve', handle: ann.handle })
  expect((await ask({ client_id: 'another' })).code).toBe('expired_token')
  for (let count = 1; count < 20; count += 1) await ann.call('POST', '/me/keys', {})
  const full = await ask()
  expect(full.text('error')).toContain('limit of 20 keys')
  await browser.fill(`/agents/${ann.handle}/settings`, `/agents/${ann.handle}/release`, {})
  expect((await ask()).code).toBe('access_denied')
})

test('an invalid form or an agent of another person stores nothing', async () => {
  const t = await open()
  const [ben, browser] = [await t.agent('ben'), await signUp(t, 'olga')]
  const { user } = await start(t)
  const cookie = { cookie: `berth=${browser.cookie()}` }
  const approve = (body: unknown) => () =>
    t.call('POST', '/people/me/devices', { body, headers: cookie })
  await expectError(t, 404, 'not_found', approve({ code: user, handle: ben.handle }))
  await expectError(t, 404, 'bad_device_code', approve({ code: 'AAAA-AAAA-AAAA' }))
  await expectError(t, 400, 'bad_request', approve({ code: 7 }))
  for (const fields of [
    {},
    { client_id: '' },
    { client_id: 'x'.repeat(81) },
    { client_id: 'a\nb' },
  ])
    await expectError(t, 400, 'bad_request', () => send(t, '/device/authorization', { ...fields }))
  await expectError(t, 400, 'bad_request', () =>
    send(t, '/device/token', { grant_type: 'password', client_id, device_code: 'x' }),
  )
  for (const [body, type] of [
    ['client_id=a&client_id=b', formType['content-type']],
    ['{"client_id":"a"}', 'application/json'],
  ] as const) {
    const headers = { 'content-type': type }
    await expectError(t, 400, 'bad_request', () =>
      t.call('POST', '/device/authorization', { body, headers }),
    )
  }
})

test('only a session approves: no key, no stranger, no other site', async () => {
  const t = await open()
  const [ann, browser] = [await t.agent('ann'), await signUp(t, 'olga')]
  const { user } = await start(t)
  const body = { code: user }
  for (const path of ['/people/me/devices', '/people/me/devices/deny']) {
    await expectError(t, 401, 'no_key', () => t.call('POST', path, { body }))
    await expectError(t, 401, 'no_key', () => ann.call('POST', path, body))
    const headers = { cookie: `berth=${browser.cookie()}`, origin: 'https://evil.test' }
    await expectError(t, 403, 'cross_site', () => t.call('POST', path, { body, headers }))
  }
  const guest = await new FormBrowser(t).open(`/device?code=${user}`)
  expect(guest.headers.get('location')).toBe(
    `/sign-in?next=${encodeURIComponent(`/device?code=${user}`)}`,
  )
})

test('an address starts at most 30 sign-ins and tries at most 10 codes an hour', async () => {
  const t = await open()
  const browser = await signUp(t, 'olga')
  for (let count = 0; count < 30; count += 1) await start(t)
  const { headers } = await expectError(t, 429, 'device_codes_limit', () =>
    send(t, '/device/authorization', { client_id }),
  )
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  const { user } = await start(t, '192.0.2.8')
  for (let count = 0; count < 10; count += 1)
    await browser.open(`/device?code=AAAA-AAAA-AAA${count}`)
  expect(alertText(await browser.open(`/device?code=${user}`))).toContain('10 wrong codes')
  t.clock.advance(2 * hour)
  const fresh = await start(t)
  expect((await browser.show(`/device?code=${fresh.user}`)).text).toContain('wants an API key')
})
