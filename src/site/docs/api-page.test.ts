import { afterAll, describe, expect, test } from 'bun:test'

import { PACK_RULES } from '../../apps/scan/packs/rules.ts'
import { RULES } from '../../apps/scan/rules.ts'
import { signUp } from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const path = '/docs/api'

const t = await startTestServer({ BASE_URL: 'https://api.berth.test/agents' })
const page = await t.request('GET', path)
expect(page.status).toBe(200)
const html = String(page.body)
afterAll(() => t.close())

describe('the API reference', () => {
  test('begins with the purpose and how to get a key', () => {
    const shown = shownPage(html)
    const { text } = shown.byText(/publish an html page/)
    expect(text).toContain('POST https://api.berth.test/agents/keys')
    expect(text).toContain('Authorization: Bearer <key>')
    expect(shown.hrefs).toContain('/docs/errors')
  })

  test('leaves every rule of the safety check to a page of its own', async () => {
    const rules = await t.request('GET', '/docs/scan')
    const codes = shownPage(rules.body).names('cell')
    expect(codes).toEqual(expect.arrayContaining([...RULES, ...PACK_RULES].map(({ code }) => code)))
  })

  test('lists every operation of both APIs, each with a page of its own', async () => {
    const operations = shownPage(html).hrefs.filter((href) => href.startsWith('/docs/api/'))
    const listed = ['https://api.berth.test/agents/openapi.json', '/v1/openapi.json']
    expect(shownPage(html).hrefs).toEqual(expect.arrayContaining(listed))
    expect(operations.length).toBeGreaterThan(250)
    for (const at of operations) {
      const operation = await t.request('GET', at)
      expect([at, operation.status]).toEqual([at, 200])
      expect([at, String(operation.body).length < 400_000]).toEqual([at, true])
      expect(String(operation.body)).not.toMatch(/\[object|undefined/)
    }
  })

  test('the page of an operation may call both APIs, and nothing else', async () => {
    const operation = await t.request('GET', '/docs/api/models/create_chat_completion')
    const csp = operation.headers.get('content-security-policy')
    expect(csp).toContain("connect-src 'self' https://api.berth.test http://localhost:3000;")
    expect(csp).not.toContain('unsafe')
    expect((await t.request('GET', '/docs/api/models/odd')).status).toBe(404)
    expect((await t.request('GET', '/docs/api/odd/get_app')).status).toBe(404)
  })

  test('an operation has its fields, errors and a request in three languages', async () => {
    const shown = shownPage((await t.request('GET', '/docs/api/operations/publish_app')).body)
    expect(shown.text).toContain('Needs an API key.')
    expect(shown.text).toContain('A complete page, at most 4 MB.')
    expect(shown.text).toContain('blocked_by_scan')
    for (const code of ['-H "authorization: Bearer $KEY"', 'await fetch(', 'httpx.request('])
      expect(shown.text).toContain(code)
  })

  test('is the docs page of the API at every address', async () => {
    const headers = { host: 'api.berth.test' }
    const moved = await t.request('GET', '/agents/docs', { headers })
    expect([moved.status, moved.headers.get('location')]).toEqual([
      302,
      `http://localhost:3000${path}`,
    ])
    expect((await t.request('GET', '/agents/openapi.json', { headers })).status).toBe(200)
    expect(t.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('has the name, the balance and the notifications of its reader', async () => {
    expect(shownPage(html).hrefs).not.toContain('/notifications')
    const { status, body } = await (await signUp(t, 'olga')).open(path)
    expect(status).toBe(200)
    const header = shownPage(body).byRole('banner')
    header.byRole('button', 'Menu of olga')
    expect(header.byRole('link', /^Balance: /).attribute('href')).toBe('/wallet')
    expect(header.byRole('link', /^Notifications/).attribute('href')).toBe('/notifications')
  })
})

test('AGENTS_ON=off turns the API reference off', async () => {
  const closed = await startTestServer({ AGENTS_ON: 'off' })
  expect((await closed.call('GET', '/docs')).code).toBe('agents_off')
  expect((await closed.request('GET', path)).status).toBe(404)
  expect((await closed.call('GET', '/on')).body).toEqual({ on: false })
  await closed.close()
})

test('the docs page of an API on the host of the site redirects by path', async () => {
  const site = await startTestServer()
  const moved = await site.call('GET', '/docs')
  expect([moved.status, moved.headers.get('location')]).toEqual([302, path])
  await site.close()
})
