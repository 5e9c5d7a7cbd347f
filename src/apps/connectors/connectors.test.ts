import { expect, test } from 'bun:test'

import { connectorMs, connectorTokenMs, refreshLeewayMs } from '../../kernel/limits.ts'
import { day, minute } from '../../kernel/time.ts'
import { deleteOldClients } from '../../people/connectors/clients.ts'
import { deleteExpiredConnectors } from '../../people/connectors/connectors.ts'
import { authorizationCodes, connectors, oauthClients } from '../../people/connectors/tables.ts'
import { expectError } from '../../testing/expect-error.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import { claimAgent, FormBrowser, signUp } from '../../testing/fixtures/form-browser.ts'
import { send } from '../../testing/fixtures/mcp-server.ts'
import {
  callback,
  callWithToken,
  connect,
  register,
  revokeFirst,
  sendForm,
  SignIn,
  tokensIn,
} from '../../testing/fixtures/oauth-client.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const open = startForEachTest()

async function openWithAgent() {
  const t = await open()
  const [ann, browser] = [await t.agent('ann'), await signUp(t, 'olga')]
  await claimAgent(browser, ann)
  return { t, ann, browser }
}

const getJson = async (t: TestServer, path: string, headers = {}) =>
  (await t.request('GET', path, { headers })).body

test('a program finds the sign-in, and acts as the agent that the person chose', async () => {
  const { t, ann, browser } = await openWithAgent()
  const rejected = await send(t, 'tools/list', {}, { query: '/connect' })
  expect(rejected.status).toBe(401)
  expect(rejected.headers.get('www-authenticate')).toBe(
    'Bearer scope="read publish", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp/connect"',
  )
  const resource = '/.well-known/oauth-protected-resource/mcp/connect'
  expect(await getJson(t, resource)).toMatchObject({
    resource: 'http://localhost:3000/mcp/connect',
    authorization_servers: ['http://localhost:3000'],
  })
  expect(await getJson(t, '/.well-known/oauth-authorization-server')).toMatchObject({
    issuer: 'http://localhost:3000',
    authorization_endpoint: 'http://localhost:3000/oauth/authorize',
    token_endpoint: 'http://localhost:3000/api/oauth/token',
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  })
  const signIn = new SignIn(t, await register(t), { resource: 'http://localhost:3000/mcp/connect' })
  const page = await browser.show(signIn.page)
  expect(page.text).toContain('Probe wants to act as one of your agents')
  expect(page.text).toContain('a program on this computer (127.0.0.1)')
  const back = await signIn.decide(browser, {
    handle: ann.handle,
    act: 'approve',
    'allow-publish': 'yes',
  })
  expect(`${back?.origin}${back?.pathname}`).toBe(callback)
  expect(back?.searchParams.get('state')).toBe(signIn.state)
  expect(back?.searchParams.get('iss')).toBe('http://localhost:3000')
  const issued = await signIn.redeem(back?.searchParams.get('code') ?? '')
  expect([issued.status, issued.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(issued.body).toMatchObject({
    token_type: 'Bearer',
    expires_in: 3_600,
    scope: 'read publish',
  })
  const me = await callWithToken(t, tokensIn(issued).access, 'get_me')
  expect(me.text('result.structuredContent.handle')).toBe(ann.handle)
  const listed = await send(
    t,
    'tools/list',
    {},
    { query: '/connect', key: tokensIn(issued).access },
  )
  expect(listed.status).toBe(200)
})

test('a person revokes a connector on the account page, and its next call fails', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { access, refresh, signIn } = await connect(t, browser, ann.handle)
  expect((await browser.show('/account')).text).toContain('Probe')
  expect((await callWithToken(t, access, 'get_me')).status).toBe(200)
  await revokeFirst(browser)
  const rejected = await callWithToken(t, access, 'get_me')
  expect([rejected.status, rejected.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ])
  expect((await signIn.refresh(refresh)).text('error')).toBe('invalid_grant')
  expect((await browser.show('/account')).text).not.toContain('Probe')
})

test('scopes bound what a connector may do, and never let it make a key', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { access, scope } = await connect(t, browser, ann.handle, [])
  expect(scope).toBe('read')
  const html = '<!doctype html><title>Hi</title><h1>Hi</h1>'
  const rejected = await callWithToken(t, access, 'publish_app', { html })
  expect([rejected.status, rejected.headers.get('www-authenticate')]).toEqual([
    403,
    expect.stringContaining('error="insufficient_scope", scope="read publish"'),
  ])
  const publisher = await connect(t, browser, ann.handle, ['publish'])
  const published = await callWithToken(t, publisher.access, 'publish_app', { html })
  expect(published.text('result.structuredContent.app.id')).toMatch(/\w{12}/)
  for (const name of ['publish_app', 'build_app']) {
    const built = await callWithToken(t, publisher.access, name, { prompt: 'A clock.' })
    expect(built.text('result.structuredContent.code')).toBe('insufficient_scope')
    const barred = await callWithToken(t, access, name, { prompt: 'A clock.' })
    expect([name, barred.status]).toEqual([name, 403])
  }
  const spender = await connect(t, browser, ann.handle, ['publish', 'spend'])
  for (const [name, args] of [
    ['add_key', {}],
    ['revoke_key', { prefix: ann.key.slice(0, 11) }],
    ['close_me', {}],
    ['add_hook', { url: 'https://example.com/hook' }],
    ['create_share_link', { id: published.text('result.structuredContent.app.id'), name: 'Board' }],
  ] as const) {
    const barred = await callWithToken(t, spender.access, name, args)
    expect(JSON.stringify(barred.body)).toContain('insufficient_scope')
  }
  expect((await ann.call('GET', '/me')).status).toBe(200)
})

test('in a chat, a connector plays within its scopes', async () => {
  const { t, ann, browser } = await openWithAgent()
  const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`
  const id = await ann.publish({ html })
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people' })
  const read = (await connect(t, browser, ann.handle, [])).access
  const publish = (await connect(t, browser, ann.handle, ['publish'])).access
  const opened = Object((await callWithToken(t, read, 'open_app_page', { id })).body)
  const view = { id, pass: opened.result.structuredContent.pass }
  const save = { ...view, method: 'PUT', path: '/value/own', body: { key: 'level', value: 3 } }
  const model = { ...view, path: 'v1/chat/completions', body: '{"messages":[]}' }
  const code = async (token: string, name: string, args: object) =>
    JSON.stringify((await callWithToken(t, token, name, { ...args })).body)
  const player = await callWithToken(t, read, 'use_app_data', {
    ...view,
    method: 'GET',
    path: '/player',
  })
  expect(JSON.stringify(player.body)).toContain('signedIn')
  expect(await code(read, 'use_app_data', save)).toContain('insufficient_scope')
  expect(await code(publish, 'use_app_data', save)).not.toContain('insufficient_scope')
  expect(await code(publish, 'use_app_model', model)).toContain('insufficient_scope')
  const body = { uses: ['ai'], dailyCap: 100, remember: true }
  const consent = { ...view, method: 'PUT', path: '/consent', body }
  expect(await code(publish, 'use_app_data', consent)).toContain('insufficient_scope')
  const spend = (await connect(t, browser, ann.handle, ['spend'])).access
  expect(await code(spend, 'use_app_data', consent)).toContain('dailyCap')
})

test('a refresh replaces both tokens, and one of long ago ends the connector', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { access, refresh, signIn } = await connect(t, browser, ann.handle)
  t.clock.advance(connectorTokenMs)
  expect((await callWithToken(t, access, 'get_me')).status).toBe(401)
  const second = tokensIn(await signIn.refresh(refresh))
  expect(second.refresh).not.toBe(refresh)
  expect((await callWithToken(t, second.access, 'get_me')).status).toBe(200)
  // A client that lost the response, or refreshed twice at once, gets the same tokens.
  expect(tokensIn(await signIn.refresh(refresh))).toEqual(second)
  const narrowed = tokensIn(await signIn.refresh(second.refresh, { scope: 'read' }))
  expect(narrowed.scope).toBe('read')
  const widened = tokensIn(await signIn.refresh(narrowed.refresh))
  expect(widened.scope).toBe('read publish')
  t.clock.advance(refreshLeewayMs)
  expect((await signIn.refresh(second.refresh)).text('error')).toBe('invalid_grant')
  expect((await callWithToken(t, widened.access, 'get_me')).status).toBe(401)
  expect((await signIn.refresh(widened.refresh)).text('error')).toBe('invalid_grant')
})

test('a program revokes its own tokens', async () => {
  const { t, ann, browser } = await openWithAgent()
  for (const name of ['access', 'refresh'] as const) {
    const tokens = await connect(t, browser, ann.handle)
    expect((await sendForm(t, '/oauth/revoke', { token: tokens[name] })).status).toBe(200)
    expect((await callWithToken(t, tokens.access, 'get_me')).status).toBe(401)
  }
  expect((await sendForm(t, '/oauth/revoke', { token: 'unknown' })).status).toBe(200)
  expect(await t.ctx.db.read.select().from(connectors)).toEqual([])
})

test('a person denies, or connects a new agent', async () => {
  const t = await open()
  const browser = await signUp(t, 'olga')
  const client = await register(t)
  const denied = await new SignIn(t, client).decide(browser, { act: 'deny' })
  expect(denied?.searchParams.get('error')).toBe('access_denied')
  const signIn = new SignIn(t, client)
  const { access } = tokensIn(await signIn.redeem(await signIn.approve(browser, '')))
  const { body } = await callWithToken(t, access, 'get_me')
  expect(body).toMatchObject({ result: { structuredContent: { owner: 'olga' } } })
})

test('the person signs in first and comes back to the page', async () => {
  const { t, browser } = await openWithAgent()
  const signIn = new SignIn(t, await register(t), { state: 's'.repeat(1_000) })
  const guest = await new FormBrowser(t).open(signIn.page)
  const next = new URL(guest.headers.get('location') ?? '', 'http://localhost').searchParams
  expect(next.get('next')).toBe(signIn.page)
  expect((await browser.open(next.get('next') ?? '')).status).toBe(200)
})

test('the API lists and revokes connectors of the person alone', async () => {
  const { t, ann, browser } = await openWithAgent()
  await connect(t, browser, ann.handle)
  const cookie = { cookie: `berth=${browser.cookie()}` }
  const listed = await t.call('GET', '/people/me/connectors', { headers: cookie })
  expect(listed.body).toEqual({
    connectors: [
      {
        id: listed.text('connectors.0.id'),
        name: 'Probe',
        handle: ann.handle,
        scopes: ['read', 'publish'],
        created: '2026-05-04T12:00:00.000Z',
        used: '2026-05-04T12:00:00.000Z',
      },
    ],
  })
  const path = `/people/me/connectors/${listed.text('connectors.0.id')}`
  const other = { cookie: `berth=${(await signUp(t, 'otto', '203.0.113.51')).cookie()}` }
  await expectError(t, 404, 'not_found', () => t.call('DELETE', path, { headers: other }))
  await expectError(t, 401, 'no_key', () => t.call('DELETE', path))
  expect((await t.call('DELETE', path, { headers: cookie })).status).toBe(200)
  await expectError(t, 404, 'not_found', () => t.call('DELETE', path, { headers: cookie }))
})

test('only hashes are stored, and expired rows are deleted', async () => {
  const { t, ann, browser } = await openWithAgent()
  const { access, refresh } = await connect(t, browser, ann.handle)
  const unused = new SignIn(t, await register(t))
  const code = await unused.approve(browser, ann.handle)
  const tables = [oauthClients, authorizationCodes, connectors]
  const read = () => Promise.all(tables.map((table) => t.ctx.db.read.select().from(table)))
  const rows = JSON.stringify(await read())
  for (const secret of [access, refresh, code, refresh.slice(3, 43)])
    expect(rows).not.toContain(secret)
  t.clock.advance(2 * minute)
  expect((await unused.redeem(code)).text('error')).toBe('invalid_grant')
  t.clock.advance(connectorMs + 180 * day)
  await deleteExpiredConnectors(t.ctx)
  await deleteOldClients(t.ctx)
  expect(await read()).toEqual([[], [], []])
})

test('a network registers 20 clients an hour, with valid redirect URIs alone', async () => {
  const { t } = await openWithAgent()
  const post = (body: unknown) => () => t.call('POST', '/oauth/register', { body })
  for (const uri of [
    'http://example.com/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://example.com/#x',
    'https://user@example.com/',
    'https://example.com\\@evil.test/',
    '/callback',
    'http://127.0.0.1.evil.test/',
    'x'.repeat(501),
    'https://a;sandbox/cb',
    'https://*/cb',
    "https://a$'b/cb",
    'https:a/cb',
    'https://[::2]/cb',
    'ms-msdt:/cb',
    'search-ms:query',
    'ms-appinstaller:?source=https://x',
    'shell:startup',
    'cmd:/cb',
    'tel:1',
    'ldap://x/cb',
    'ssh://x/cb',
    'jar:https://x',
    'chrome-extension://x/cb',
    'feed:javascript:alert(1)',
    'cursors:/cb',
  ])
    await expectError(t, 400, 'invalid_redirect_uri', post({ redirect_uris: [uri] }))
  await expectError(t, 400, 'invalid_redirect_uri', post({ redirect_uris: [] }))
  await expectError(
    t,
    400,
    'invalid_client_metadata',
    post({ redirect_uris: [callback], client_name: 'a\nb' }),
  )
  await expectError(t, 400, 'bad_request', post({ redirect_uris: callback }))
  const redirect_uris = [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode-insiders://host/cb',
    'com.example.app:/callback',
    'https://chat.example:8443/cb?x=1',
    'https://chat.example',
    'http://[::1]:7000/cb',
  ]
  expect(await register(t, { redirect_uris })).toMatch(/^\w{12}$/)
  for (let count = 1; count < 20; count += 1) await register(t)
  const from = '192.0.2.70'
  const body = { redirect_uris: ['cursor://callback'] }
  await expectError(t, 429, 'client_registrations_limit', () =>
    t.call('POST', '/oauth/register', { body, from }),
  )
  const nameless = { body: { ...body, client_name: ' ' }, from: '192.0.2.71' }
  const other = await t.call('POST', '/oauth/register', nameless)
  expect(other.body).toMatchObject({ client_name: 'the program that opens cursor: links' })
})

test('without APP_URL, the metadata names the local host that was requested', async () => {
  const t = await open()
  const host = 'app.localhost:4000'
  const path = '/.well-known/oauth-authorization-server'
  expect(await getJson(t, path, { host })).toMatchObject({ issuer: `http://${host}` })
  const away = await t.request('GET', path, { headers: { host: 'evil.test' } })
  expect(away.status).toBe(421)
})

test('behind a proxy, the metadata names the configured hosts and paths', async () => {
  const t = await open({
    APP_URL: 'https://berth.example',
    BASE_URL: 'https://api.berth.example/agents',
    MCP_URL: 'https://mcp.berth.example/v1/mcp',
  })
  const hidden = { host: '10.0.0.7:3000' }
  const path = '/.well-known/oauth-authorization-server'
  expect(await getJson(t, path, hidden)).toMatchObject({
    issuer: 'https://berth.example',
    token_endpoint: 'https://api.berth.example/agents/oauth/token',
  })
  const host = { host: 'mcp.berth.example' }
  const resource = '/.well-known/oauth-protected-resource/v1/mcp/connect'
  expect(await getJson(t, resource, host)).toMatchObject({
    resource: 'https://mcp.berth.example/v1/mcp/connect',
  })
  const rejected = await t.request('POST', '/v1/mcp/connect', { headers: host, body: {} })
  expect(rejected.headers.get('www-authenticate')).toContain(
    'resource_metadata="https://mcp.berth.example/.well-known/oauth-protected-resource/v1/mcp/connect"',
  )
})

test('keys and calls without sign-in work at the MCP endpoint as before', async () => {
  const { t, ann } = await openWithAgent()
  expect((await send(t, 'tools/list')).status).toBe(200)
  const noKey = await send(t, 'tools/call', { name: 'get_me', arguments: {} })
  expect(noKey.text('result.structuredContent.code')).toBe('no_key')
  for (const query of ['', '/connect']) {
    const sent = { key: ann.key, query }
    const me = await send(t, 'tools/call', { name: 'get_me', arguments: {} }, sent)
    expect(me.text('result.structuredContent.handle')).toBe(ann.handle)
  }
})

test('the consent page cannot be framed, and says who is connected', async () => {
  const { t, browser } = await openWithAgent()
  const redirect_uri = 'https://chat.example/callback'
  const client = await register(t, {
    redirect_uris: [redirect_uri],
    client_name: '<b>Official</b>',
  })
  const { headers, body } = await browser.open(new SignIn(t, client, { redirect_uri }).page)
  const policy = headers.get('content-security-policy')
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("form-action 'self' https://chat.example")
  expect(headers.get('x-frame-options')).toBe('DENY')
  const { text } = shownPage(body)
  expect(text).toContain('<b>Official</b> wants to act')
  expect(text).toContain('It continues at chat.example')
})
