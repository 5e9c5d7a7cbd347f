import { expect, test } from 'bun:test'

import { listReports } from '../apps/moderation/reports.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('serves Explore to browsers and the guide to agents on the home page', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const empty = await request('GET', '/', { headers: browser })
  expect(shownPage(empty.body).byRole('link', 'Make the first app').attribute('href')).toBe('/new')
  await ann.publish({ title: 'Shown <b>', store: true })
  await ann.publish({ title: 'Kept back' })

  const page = await request('GET', '/', { headers: browser })
  expect(page.status).toBe(200)
  const home = shownPage(page.body).text
  expect(home).toContain('Shown <b>')
  expect(home).not.toContain('Kept back')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  // One URL has several responses, so caches must vary by what chooses one.
  expect(page.headers.get('vary')).toBe('Accept-Encoding, accept, accept-language, cookie')

  const guide = await request('GET', '/')
  expect(guide.headers.get('content-type')).toStartWith('text/markdown')
  expect(String(guide.body)).toContain('POST http://localhost:3000/api/keys')
  const reader = { accept: 'text/markdown, text/html, */*' }
  expect((await request('GET', '/', { headers: reader })).body).toEqual(guide.body)
  const program = { accept: 'application/json, text/plain, */*' }
  const { body } = await request('GET', '/', { headers: program })
  expect(body).toEqual((await request('GET', '/api', { headers: program })).body)
  await close()
  const closed = await startTestServer({ AGENTS_ON: 'off' })
  const front = await closed.request('GET', '/')
  expect(front.headers.get('content-type')).toStartWith('text/html')
  await closed.close()
})

test('serves a maker page once an app is on Explore', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  expect((await request('GET', `/explore/@${ann.handle}`)).status).toBe(404)
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  const page = await request('GET', `/explore/@${ann.handle}`)
  expect(page.status).toBe(200)
  expect(shownPage(page.body).hrefs).toContain(`/explore/${id}`)
  await ann.call('PATCH', `/apps/${id}`, { store: false })
  expect((await request('GET', `/explore/@${ann.handle}`)).status).toBe(404)
  await close()
})

test('accepts five reports a day without an account and stores only valid ones', async () => {
  const { ctx, request, agent, snapshot, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish()
  const send = (reason: string, text: string, to = id) =>
    request('POST', `/report/${to}`, {
      body: new URLSearchParams({ reason, text }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  const form = shownPage((await request('GET', `/report/${id}`)).body).form(`/report/${id}`)
  expect(form.attribute('method')).toBe('post')
  // Browsers may autofill the contact field (WCAG 2.2, 1.3.5).
  expect(form.byLabel('Email for follow-up questions (optional)').attribute('autocomplete')).toBe(
    'email',
  )

  const before = await snapshot()
  expect((await send('nonsense', 'text')).status).toBe(400)
  expect((await send('toString', 'text')).status).toBe(400)
  expect((await send('other', 'x'.repeat(20_000))).status).toBe(413)
  expect((await send('other', 'x'.repeat(1_001))).status).toBe(400)
  expect((await send('other', 'text', 'AAAAAAAAAAAA')).status).toBe(404)
  expect((await request('GET', '/report/nothing')).status).toBe(404)
  expect(await snapshot()).toEqual(before)

  for (let sent = 0; sent < 5; sent += 1)
    expect((await send('phishing', `look ${sent}`)).status).toBe(303)
  const sixth = await send('phishing', 'look')
  expect(sixth.status).toBe(429)
  expect(sixth.headers.get('retry-after')).toBe('43200')
  expect(await listReports(ctx, 10)).toHaveLength(5)
  await close()
})

test('accepts reports only from its own form, each field once', async () => {
  const { request, agent, snapshot, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ title: 'Boat <b>' })
  const form = 'application/x-www-form-urlencoded'
  const send = (body: string, more: Record<string, string> = {}, method = 'POST') =>
    request(method, `/report/${id}`, {
      ...(method === 'POST' && { body }),
      headers: { 'content-type': form, accept: 'text/html', ...more },
    })
  const fine = 'reason=phishing&text=look'
  const before = await snapshot()
  const rejected: [number, Promise<{ status: number }>][] = [
    [403, send(fine, { origin: 'https://evil.example' })],
    [403, send(fine, { origin: 'null' })],
    [403, send(fine, { 'sec-fetch-site': 'cross-site' })],
    [403, send(fine, { 'sec-fetch-site': 'same-site' })],
    [400, send('reason=phishing&reason=spam')],
    [400, send('reason=phishing&text=a&text=b')],
    [400, send(Array.from({ length: 30 }, (_, at) => `f${at}=1`).join('&'))],
    [400, send(JSON.stringify({ reason: 'phishing' }), { 'content-type': 'application/json' })],
    [400, send(fine, { 'content-type': 'text/plain' })],
    [400, send('reason=phishing&text=%00')],
    [413, send(`reason=phishing&text=${'x'.repeat(20_000)}`)],
    [200, send('', {}, 'GET')],
  ]
  for (const [status, response] of rejected) expect((await response).status).toBe(status)
  expect(await snapshot()).toEqual(before)

  const again = await send(`reason=nonsense&text=${encodeURIComponent('</textarea><b>')}`)
  const rejectedForm = shownPage(again.body)
  expect(rejectedForm.values('textbox')).toContain('</textarea><b>')
  expect(rejectedForm.allByRole('alert')).toHaveLength(1)
  expect((await send(fine, { origin: 'http://localhost:3000' })).status).toBe(303)
  await close()
})

test('sends the boats of open pages alone, and again only when they change', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  await ann.publish({ title: 'Fog', kind: 'game', store: true })
  for (const path of ['/boats', '/boats/@ann']) {
    const first = await t.request('GET', path)
    const page = await t.request('GET', '/', { headers: browser })
    expect(String(first.body)).toContain('Fog')
    expect(String(first.body).length).toBeLessThan(String(page.body).length / 10)
    const etag = first.headers.get('etag') ?? ''
    // The same for everyone, signed in or not.
    const headers = { 'if-none-match': etag, cookie: 'berth=x' }
    expect((await t.request('GET', path, { headers })).status).toBe(304)
    await ann.publish({ title: `More for ${path}`, kind: 'game', store: true })
    expect((await t.request('GET', path, { headers })).status).toBe(200)
  }
  expect((await t.request('GET', '/boats/@nobody')).status).toBe(404)
  await t.close()
})

test('denies framing and foreign scripts on every page', async () => {
  const { request, agent, close } = await startTestServer()
  const id = await (await agent('ann')).publish({ store: true })
  const paths = ['/', '/explore', '/explore?q=x', `/explore/${id}`, '/explore/@ann', '/catalogue']
  for (const path of [...paths, '/docs', `/report/${id}`, '/nowhere', '/explore?cursor=odd']) {
    const { headers } = await request('GET', path, { headers: browser })
    const csp = headers.get('content-security-policy') ?? ''
    expect([path, headers.get('x-frame-options')]).toEqual([path, 'DENY'])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(csp).toContain("frame-ancestors 'none'")
    expect(csp).toContain("default-src 'none'")
    expect(csp).not.toMatch(/unsafe|\*|https?:/)
  }
  await close()
})

test('does not reveal hidden apps', async () => {
  const { request, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const [snapshot, gone] = [await ann.publish(), await ann.publish({ store: true })]
  await ann.call('DELETE', `/apps/${gone}`)
  const bodies = new Set<string>()
  for (const id of [snapshot, gone, 'AAAAAAAAAAAA', 'x']) {
    const { status, body } = await request('GET', `/explore/${id}`, { headers: browser })
    expect(status).toBe(404)
    bodies.add(String(body))
  }
  expect(bodies.size).toBe(1)
  const unknown = await request('GET', '/explore/@nobody', { headers: browser })
  await agent('ben')
  const silent = await request('GET', '/explore/@ben', { headers: browser })
  expect([silent.status, silent.body]).toEqual([404, unknown.body])
  await close()
})

test('renders a 404 page for an unknown path', async () => {
  const { request, close } = await startTestServer()
  for (const odd of ['/explore/%ff', '/explore/@%00', '/explore/@..', '/report/%ff', '/a/%ff']) {
    expect((await request('GET', odd, { headers: browser })).status).toBe(404)
  }
  const page = await request('GET', '/nowhere', { headers: browser })
  expect(page.status).toBe(404)
  expect(String(page.body)).toContain('There is no page at this address.')
  await close()
})

test('an API client with a wrong base URL gets the right ones', async () => {
  const { request, close } = await startTestServer()
  const path = '/proxy/v1/chat/completions'
  const message =
    `POST ${path} does not exist. The base URL of models is http://localhost:3000/v1, ` +
    'that of the Agent API http://localhost:3000/api.'
  for (const accept of ['application/json', '*/*']) {
    const { status, body } = await request('POST', path, { headers: { accept }, body: {} })
    expect([accept, status, body]).toMatchObject([accept, 404, { error: { message } }])
  }
  const models = await request('GET', '/proxy/v1/models', {
    headers: { accept: 'application/json' },
  })
  expect(models.body).toMatchObject({ error: { code: 'unknown_url' } })
  expect(models.headers.get('cache-control')).toBe('no-store')
  for (const [method, accept] of [
    ['POST', browser.accept],
    ['GET', '*/*'],
  ] as const) {
    const page = await request(method, path, { headers: { accept } })
    expect([accept, page.status, String(page.body)]).toEqual([
      accept,
      404,
      expect.stringContaining('There is no page at this address.'),
    ])
  }
  await close()
})

test('serves the favicon', async () => {
  const { request, close } = await startTestServer()
  const icon = await request('GET', '/favicon.ico')
  expect(icon.status).toBe(200)
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  await close()
})
