import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { PACK_RULES } from '../../scan/packs/rules.ts'
import { RULES } from '../../scan/rules.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let ctx: TestServer
let html: string
let csp: string

beforeAll(async () => {
  ctx = await startTestServer({ BASE_URL: 'https://api.berth.test/agents' })
  const page = await ctx.call('GET', '/docs')
  expect(page.status).toBe(200)
  html = String(page.body)
  csp = page.headers.get('content-security-policy') ?? ''
})
afterAll(() => ctx.close())

/** Returns the URLs that the page loads or links to. */
const linkedUrls = (): string[] =>
  [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = '']) => address)

describe('the docs page', () => {
  test('begins with the purpose and how to get a key', () => {
    const first = /<p>(.*?)<\/p>/s.exec(html)?.[1]
    expect(first).toContain('publish an html page')
    expect(first).toContain('POST https://api.berth.test/agents/keys')
    expect(first).toContain('Authorization: Bearer &lt;key&gt;')
  })

  test('has every code with its status and a message', () => {
    const row = /<td><code>(\w+)<\/code><\/td><td>(\d{3})<\/td><td>(.+?)<\/td>/g
    const rows = [...html.matchAll(row)].map(([, code = '', status, message]) => ({
      code,
      status,
      message,
    }))
    const codes = new Map(rows.map(({ code, status }) => [code, status]))
    expect(codes.get('no_key')).toBe('401')
    expect(codes.get('keys_address_limit')).toBe('429')
    expect(codes.get('internal')).toBe('500')
    expect(codes.size).toBeGreaterThan(30)
    for (const { message } of rows) expect(message).toMatch(/^\S.+([.]|x-request-id|phishing)$/)
  })

  test('has a skip link', () => {
    expect(html).toMatch(/<body>\s*<a class="skip" href="#main">/)
    expect(html).toContain('<main id="main" tabindex="-1">')
  })

  test('has every rule of the safety check', () => {
    for (const { code } of [...RULES, ...PACK_RULES]) expect(html).toContain(`<code>${code}</code>`)
  })

  test('loads only files below its own URL', () => {
    const own = ['/', '/explore', '/catalogue', '/docs'].map(
      (path) => `http://localhost:3000${path}`,
    )
    const gateway = 'http://localhost:3000/v1/openapi.json'
    const elsewhere = linkedUrls().filter((address) => /^[a-z]+:/.test(address))
    expect(elsewhere).toEqual(['data:,', ...own, gateway, gateway])
    expect(csp).toStartWith("default-src 'none'; script-src 'self'; ")
    expect(csp).toContain("connect-src 'self' https://api.berth.test http://localhost:3000;")
    expect(csp).not.toContain('unsafe')
    expect(html).not.toMatch(/<script(?! defer src="docs\/)/)
  })

  test('loads its files through the public base URL', async () => {
    const parts = linkedUrls().filter((address) => address.startsWith('docs/'))
    expect(parts).toHaveLength(4)
    const headers = { host: 'api.berth.test' }
    for (const part of parts) {
      const response = await ctx.request('GET', `/agents/${part}`, { headers })
      expect([part, response.status]).toEqual([part, 200])
      expect(response.headers.get('cache-control')).toContain('immutable')
      expect(response.headers.get('content-type')).toMatch(
        /^text\/(css|javascript); charset=utf-8$/,
      )
      expect(response.bytes.length).toBeGreaterThan(300)
    }
    const page = await ctx.request('GET', '/agents/docs', { headers })
    expect(page.body).toBe(html)
    const described = await ctx.request('GET', '/agents/openapi.json', { headers })
    expect(ctx.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(described.status).toBe(200)
  })

  test('has no other files', async () => {
    for (const name of ['x.js', '..%2Fopenapi.json', 'built', '__proto__']) {
      const response = await ctx.call('GET', `/docs/${name}`)
      expect([name, response.status, response.code]).toEqual([name, 404, 'not_found'])
    }
  })
})

test('AGENTS_ON=off turns the docs page off', async () => {
  const closed = await startTestServer({ AGENTS_ON: 'off' })
  expect((await closed.call('GET', '/docs')).code).toBe('agents_off')
  expect((await closed.call('GET', '/on')).body).toEqual({ on: false })
  await closed.close()
})
