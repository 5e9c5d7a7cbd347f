import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { RULES } from '../../scan/rules.ts'
import { openTestHouse, type TestHouse } from '../../testing/test-server.ts'

let ctx: TestHouse
let html: string
let csp: string

beforeAll(async () => {
  ctx = await openTestHouse({ BASE_URL: 'https://api.berth.test/agents' })
  const page = await ctx.call('GET', '/docs')
  expect(page.status).toBe(200)
  html = String(page.body)
  csp = page.headers.get('content-security-policy') ?? ''
})
afterAll(() => ctx.close())

/** The addresses that the page loads or links to. */
const addresses = (): string[] =>
  [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = '']) => address)

describe('the docs page', () => {
  test('says first what this is and how to get a key', () => {
    const first = /<p>(.*?)<\/p>/s.exec(html)?.[1]
    expect(first).toContain('publish an html page')
    expect(first).toContain('POST https://api.berth.test/agents/keys')
    expect(first).toContain('Authorization: Bearer &lt;key&gt;')
  })

  test('has every code with its status and a sentence', () => {
    const row = /<td><code>(\w+)<\/code><\/td><td>(\d{3})<\/td><td>(.+?)<\/td>/g
    const rows = [...html.matchAll(row)].map(([, code = '', status, says]) => ({
      code,
      status,
      says,
    }))
    const codes = new Map(rows.map(({ code, status }) => [code, status]))
    expect(codes.get('no_key')).toBe('401')
    expect(codes.get('keys_address_limit')).toBe('429')
    expect(codes.get('internal')).toBe('500')
    expect(codes.size).toBeGreaterThan(30)
    for (const { says } of rows) expect(says).toMatch(/^\S.+([.]|x-request-id|phishing)$/)
  })

  test('has a way past its navigation', () => {
    expect(html).toMatch(/<body>\s*<a class="skip" href="#main">/)
    expect(html).toContain('<main id="main" tabindex="-1">')
  })

  test('has every rule of the safety check', () => {
    for (const { code } of RULES) expect(html).toContain(`<code>${code}</code>`)
  })

  test('loads only what lies beside it', () => {
    const own = ['http://localhost:3000/', 'http://localhost:3000/docs']
    const gateway = 'http://localhost:3000/v1/openapi.json'
    const elsewhere = addresses().filter((address) => /^[a-z]+:/.test(address))
    expect(elsewhere).toEqual(['data:,', ...own, gateway, gateway])
    expect(csp).toStartWith("default-src 'none'; script-src 'self'; ")
    expect(csp).toContain("connect-src 'self' https://api.berth.test http://localhost:3000;")
    expect(csp).not.toContain('unsafe')
    expect(html).not.toMatch(/<script(?! defer src="docs\/)/)
  })

  test('finds what it loads, behind the public address too', async () => {
    const parts = addresses().filter((address) => address.startsWith('docs/'))
    expect(parts).toHaveLength(4)
    const headers = { host: 'api.berth.test' }
    for (const part of parts) {
      const answer = await ctx.visit('GET', `/agents/${part}`, { headers })
      expect([part, answer.status]).toEqual([part, 200])
      expect(answer.headers.get('cache-control')).toContain('immutable')
      expect(answer.headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/)
      expect(answer.bytes.length).toBeGreaterThan(300)
    }
    const page = await ctx.visit('GET', '/agents/docs', { headers })
    expect(page.body).toBe(html)
    const described = await ctx.visit('GET', '/agents/openapi.json', { headers })
    expect(ctx.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(described.status).toBe(200)
  })

  test('has no other files beside it', async () => {
    for (const name of ['x.js', '..%2Fopenapi.json', 'built', '__proto__']) {
      const answer = await ctx.call('GET', `/docs/${name}`)
      expect([name, answer.status, answer.code]).toEqual([name, 404, 'not_found'])
    }
  })
})

test('the docs page is behind agents_off', async () => {
  const closed = await openTestHouse({ AGENTS_ON: 'off' })
  expect((await closed.call('GET', '/docs')).code).toBe('agents_off')
  expect((await closed.call('GET', '/on')).body).toEqual({ on: false })
  await closed.close()
})
