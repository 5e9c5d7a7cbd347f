import { expect, spyOn, test } from 'bun:test'

import { newId } from '../../kernel/ids.ts'
import { keysPerAgentMax } from '../../kernel/limits.ts'
import { recordOf } from '../../kernel/schema.ts'
import { suspendAgent } from '../../people/agents/agents.ts'
import { getClient } from '../../people/connectors/clients.ts'
import { authorizationCodes, connectors, oauthClients } from '../../people/connectors/tables.ts'
import { suspendPerson } from '../../people/sessions.ts'
import { catchError } from '../../testing/catch-error.ts'
import { expectError } from '../../testing/expect-error.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import {
  callback,
  callWithToken,
  connect,
  register,
  SignIn,
  tokensIn,
} from '../../testing/fixtures/oauth-client.ts'
import { password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'

const open = startForEachTest()

async function openWithAgent() {
  const t = await open()
  const [ann, browser] = [await t.agent('ann'), await signUp(t, 'olga')]
  await claimAgent(browser, ann)
  return { t, ann, browser, client: await register(t) }
}

test('a request without S256, for another audience or scope gives no code, and no redirect', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  for (const [more, error] of [
    [{ code_challenge: '' }, 'invalid_request'],
    [{ code_challenge_method: '' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ response_type: 'token' }, 'invalid_request'],
    [{ scope: 'admin' }, 'invalid_scope'],
    [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    [{ resource: 'http://localhost:3000/api' }, 'invalid_target'],
  ] as const) {
    const { page } = new SignIn(t, client, more)
    const shown = await browser.open(page)
    expect([shown.status, shown.headers.get('location')]).toEqual([400, null])
    const link = shownPage(shown.body).byRole('link', 'Return to the program')
    expect(URL.parse(link.attribute('href') ?? '')?.searchParams.get('error')).toBe(error)
    const { token = '' } = hiddenFields(await browser.read('/account'), '/sign-out')
    const fields = Object.fromEntries(new URLSearchParams(page.split('?')[1]))
    const sent = await browser.send('/oauth/authorize', {
      ...fields,
      token,
      act: 'approve',
      handle: ann.handle,
    })
    expect([sent.status, sent.headers.get('location')]).toEqual([400, null])
  }
  expect(await t.ctx.db.read.select().from(authorizationCodes)).toEqual([])
})

test('nothing is sent to a redirect URI that differs in anything but the loopback port', async () => {
  const { t, browser, client } = await openWithAgent()
  const web = await register(t, { redirect_uris: ['https://chat.example/callback'] })
  for (const [id, redirect_uri] of [
    [client, 'http://127.0.0.1/callback/'],
    [client, 'http://127.0.0.1/callback?x=1'],
    [client, 'http://localhost/callback'],
    [client, 'http://127.0.0.1:80@evil.test/callback'],
    [client, 'http://127.0.0.1.evil.test/callback'],
    [client, 'https://evil.test/callback'],
    [web, 'https://chat.example:444/callback'],
    [web, 'https://chat.example/callback/../x'],
    [web, 'http://chat.example/callback'],
    [web, 'https://chat.example.evil.test/callback'],
  ] as const) {
    const shown = await browser.open(new SignIn(t, id, { redirect_uri }).page)
    expect([shown.status, shown.headers.get('location')]).toEqual([400, null])
    expect(shownPage(shown.body).text).toContain('Nothing was sent to it')
    expect(String(shown.body)).not.toContain('evil.test/callback"')
  }
  const port = new SignIn(t, client, { redirect_uri: 'http://127.0.0.1:49152/callback' })
  expect((await port.decide(browser, { act: 'deny' }))?.port).toBe('49152')
  const twice = await browser.open(`${port.page}&redirect_uri=https://evil.test`)
  expect([twice.status, shownPage(twice.body).text]).toEqual([
    400,
    expect.stringContaining('twice'),
  ])
  const unknown = await browser.open(new SignIn(t, 'AAAAAAAAAAAA').page)
  expect([unknown.status, unknown.headers.get('location')]).toEqual([400, null])
})

test('a port that does not exist, and a registration before the rules, lead nowhere', async () => {
  const { t, browser } = await openWithAgent()
  const local = await register(t, { redirect_uris: ['http://localhost/cb'] })
  const old = { id: newId(), name: 'Old', redirectUris: ['ms-msdt:/cb'], created: t.clock.now() }
  await t.ctx.db.tx((db) => db.insert(oauthClients).values(old))
  for (const [id, redirect_uri] of [
    [local, 'http://localhost:99999/cb'],
    [old.id, 'ms-msdt:/cb'],
  ] as const) {
    const shown = await browser.open(new SignIn(t, id, { redirect_uri }).page)
    expect([shown.status, shown.headers.get('location')]).toEqual([400, null])
    expect(shownPage(shown.body).text).toContain('Nothing was sent to it')
  }
})

test('a code works once, for its client, redirect URI and verifier', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  const signIn = new SignIn(t, client)
  const code = await signIn.approve(browser, ann.handle)
  const thief = new SignIn(t, await register(t))
  for (const attempt of [
    () => thief.redeem(code, { code_verifier: signIn.verifier }),
    () => thief.redeem(code, { client_id: client }),
    () => signIn.redeem(code, { redirect_uri: 'http://127.0.0.1:1/callback' }),
    () => signIn.redeem(code, { code_verifier: 'wrong' }),
    () => signIn.redeem('A'.repeat(40)),
  ])
    await expectError(t, 400, 'invalid_grant', attempt)
  const missing = await signIn.redeem(code, { code_verifier: '', grant_type: 'password' })
  expect(missing.text('error')).toBe('unsupported_grant_type')
  const target = await signIn.redeem(code, { resource: 'https://other.example' })
  expect(target.text('error')).toBe('invalid_target')
  const { access, refresh } = tokensIn(await signIn.redeem(code))
  expect((await callWithToken(t, access, 'get_me')).status).toBe(200)
  expect((await signIn.redeem(code)).text('error')).toBe('invalid_grant')
  expect((await callWithToken(t, access, 'get_me')).status).toBe(401)
  expect((await signIn.refresh(refresh)).text('error')).toBe('invalid_grant')
})

test('of three exchanges of one code at the same time, no connector is left', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  const signIn = new SignIn(t, client)
  const code = await signIn.approve(browser, ann.handle)
  const all = await Promise.all([signIn.redeem(code), signIn.redeem(code), signIn.redeem(code)])
  expect(all.filter(({ status }) => status === 200).length).toBe(1)
  expect(await t.ctx.db.read.select().from(connectors)).toEqual([])
})

test('a token works at the MCP endpoint alone', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { access, refresh } = await connect(t, browser, ann.handle, ['publish', 'spend'])
  const app = await ann.publish()
  await ann.call('PATCH', `/apps/${app}/audience`, { audience: 'people' })
  const authorization = `Bearer ${access}`
  expect((await t.call('GET', '/me', { key: access })).code).toBe('bad_key')
  expect((await t.call('GET', '/people/me', { key: access })).code).toBe('bad_key')
  expect((await t.request('GET', `/a/${app}`, { headers: { authorization } })).status).toBe(404)
  const body = { model: 'demo', messages: [{ role: 'user', content: 'Hi' }] }
  const chat = await t.request('POST', '/v1/chat/completions', { key: access, body })
  expect(chat.status).toBe(401)
  expect((await callWithToken(t, refresh, 'get_me')).text('result.structuredContent.code')).toBe(
    'bad_key',
  )
  const asArgument = await t.call('GET', '/me', { headers: { 'x-api-key': access } })
  expect(asArgument.code).toBe('bad_key')
})

test('a refresh token works for its client, and widens no scope', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { refresh, access, signIn } = await connect(t, browser, ann.handle)
  const thief = new SignIn(t, await register(t))
  await expectError(t, 400, 'invalid_grant', () => thief.refresh(refresh))
  await expectError(t, 400, 'invalid_grant', () => signIn.refresh(access))
  await expectError(t, 400, 'invalid_grant', () => signIn.refresh(`${refresh.slice(0, -1)}`))
  const wide = await expectError(t, 400, 'invalid_scope', () =>
    signIn.refresh(refresh, { scope: 'read publish spend' }),
  )
  expect(wide.text('error')).toBe('invalid_scope')
  // A made-up token of the family counts as one of long ago.
  await signIn.refresh(`${refresh.slice(0, -64)}${'0'.repeat(64)}`)
  expect((await callWithToken(t, access, 'get_me')).status).toBe(401)
})

test('a form gives no scope that the program did not ask for, and no agent of others', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  const signIn = new SignIn(t, client, { scope: 'read publish' })
  const code = await signIn.approve(browser, ann.handle, ['publish', 'spend'])
  expect((await signIn.redeem(code)).text('scope')).toBe('read publish')
  const ben = await t.agent('ben')
  const page = await browser.read(signIn.page)
  const sent = await browser.send('/oauth/authorize', {
    ...hiddenFields(page, '/oauth/authorize'),
    act: 'approve',
    handle: ben.handle,
  })
  expect([sent.status, sent.headers.get('location')]).toEqual([404, null])
  expect(alertText(sent)).toContain('agent')
})

test('only a session of this site approves', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  const fields = Object.fromEntries(new URLSearchParams(new SignIn(t, client).page.split('?')[1]))
  const body = { ...fields, handle: ann.handle, allow: ['publish'] }
  for (const path of ['/people/me/connectors', '/people/me/connectors/deny']) {
    await expectError(t, 401, 'no_key', () => t.call('POST', path, { body: fields }))
    await expectError(t, 401, 'no_key', () => ann.call('POST', path, fields))
    const headers = { cookie: `berth=${browser.cookie()}`, origin: 'https://evil.test' }
    await expectError(t, 403, 'cross_site', () => t.call('POST', path, { body: fields, headers }))
  }
  const headers = { cookie: `berth=${browser.cookie()}` }
  const approve = (more: object) => () =>
    t.call('POST', '/people/me/connectors', { body: { ...body, ...more }, headers })
  await expectError(t, 400, 'bad_request', approve({ allow: ['admin'] }))
  await expectError(t, 400, 'invalid_authorization', approve({ code_challenge_method: 'plain' }))
  await expectError(t, 400, 'invalid_authorization', approve({ redirect_uri: 'https://evil.test' }))
  await expectError(t, 400, 'invalid_client', approve({ client_id: 'AAAAAAAAAAAA' }))
  const forged = await browser.send('/oauth/authorize', { ...fields, act: 'approve', token: 'x' })
  expect([forged.status, forged.headers.get('location')]).toEqual([403, null])
  const guest = await new FormBrowser(t).send('/oauth/authorize', { ...fields, act: 'approve' })
  expect(guest.headers.get('location')).toStartWith('/sign-in')
})

test('a suspended person or agent stops the connector, and lifting it resumes', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { access } = await connect(t, browser, ann.handle)
  const code = async () => {
    const { body } = await callWithToken(t, access, 'get_me')
    return recordOf(recordOf(recordOf(body)['result'])['structuredContent'])['code']
  }
  await suspendPerson(t.ctx, 'olga', 'Spam.', 'operator')
  expect(await code()).toBe('account_closed')
  await suspendPerson(t.ctx, 'olga', null, 'operator')
  expect(await code()).toBeUndefined()
  await t.ctx.db.tx((db) => suspendAgent(t.ctx, db, ann.handle, 'Spam.'))
  t.ctx.keys.forget()
  expect(await code()).toBe('account_closed')
})

test('a suspended person redeems no code and refreshes no token', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  const { refresh, signIn } = await connect(t, browser, ann.handle)
  const waiting = new SignIn(t, client)
  const code = await waiting.approve(browser, ann.handle)
  await suspendPerson(t.ctx, 'olga', 'Spam.', 'operator')
  await expectError(t, 400, 'invalid_grant', () => waiting.redeem(code))
  await expectError(t, 400, 'invalid_grant', () => signIn.refresh(refresh))
})

test('a released agent loses its connectors and codes', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  const { access, refresh, signIn } = await connect(t, browser, ann.handle)
  const waiting = new SignIn(t, client)
  const code = await waiting.approve(browser, ann.handle)
  await browser.fill(`/agents/${ann.handle}/settings`, `/agents/${ann.handle}/release`, {})
  expect((await callWithToken(t, access, 'get_me')).status).toBe(401)
  expect((await signIn.refresh(refresh)).text('error')).toBe('invalid_grant')
  expect((await waiting.redeem(code)).text('error')).toBe('invalid_grant')
  expect((await ann.call('GET', '/me')).status).toBe(200)
})

test('a deleted account leaves no connector, and its export lists them before', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { access } = await connect(t, browser, ann.handle)
  const zip = await browser.open('/account/export')
  expect(new TextDecoder().decode(zip.bytes)).toContain('"connectors"')
  await browser.fill('/account', '/account/leave', { password })
  expect((await callWithToken(t, access, 'get_me')).status).toBe(401)
  expect(await t.ctx.db.read.select().from(connectors)).toEqual([])
  expect(await t.ctx.db.read.select().from(authorizationCodes)).toEqual([])
})

test('an agent with all its keys gets no connector, and the code stays', async () => {
  const { t, ann, browser, client } = await openWithAgent()
  const signIn = new SignIn(t, client)
  const code = await signIn.approve(browser, ann.handle)
  for (let count = 1; count < keysPerAgentMax; count += 1) await ann.call('POST', '/me/keys', {})
  await expectError(t, 400, 'bad_request', () => signIn.redeem(code))
  expect(await t.ctx.db.read.select().from(connectors)).toEqual([])
})

const network = { resolve: async () => ['93.184.216.34'], isPublic: () => true }

test('a client may be an https URL with a document that names it', async () => {
  const { t } = await openWithAgent()
  const id = 'https://chat.example/client.json'
  const document = { client_id: id, client_name: 'Chat', redirect_uris: [callback] }
  const fetch = spyOn(globalThis, 'fetch')
  try {
    const find = (response: unknown, status = 200) => {
      fetch.mockImplementation(
        Object.assign(async () => Response.json(response, { status }), { preconnect() {} }),
      )
      return getClient(t.ctx, id, 'olga', network)
    }
    expect(await find(document)).toEqual({ id, name: 'Chat', redirectUris: [callback] })
    for (const [response, status] of [
      [{ ...document, client_id: 'https://evil.test/client.json' }, 200],
      [{ ...document, token_endpoint_auth_method: 'client_secret_basic' }, 200],
      [{ ...document, client_secret: 'x' }, 200],
      [[document], 200],
      [document, 404],
      [{ ...document, client_name: 'x'.repeat(11_000) }, 200],
    ] as const)
      expect(await catchError(find(response, status))).toMatchObject({
        errorName: 'invalid_client',
      })
  } finally {
    fetch.mockRestore()
  }
})

test('the document of a client is fetched from no private address', async () => {
  const { t, browser } = await openWithAgent()
  for (const id of [
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://[::1]/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://chat.example',
    'https://chat.example/../x',
    'https://user@chat.example/x',
    'https://chat.example/x#y',
  ]) {
    const shown = await browser.open(new SignIn(t, id).page)
    expect([shown.status, shown.headers.get('location')]).toEqual([400, null])
  }
})
