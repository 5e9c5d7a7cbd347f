import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { type Browser, type BrowserContext, chromium } from 'playwright-core'

import { html } from '../../core/markup.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import type { TestHouse } from '../../testing/house.ts'
import { payloads } from '../../testing/payloads.ts'
import { type Opened, Poisoned } from '../../testing/poisoned.ts'

const ms = 300_000
const unframed = "frame-ancestors 'none'"
const ownPages = /^\/(?:account|agents|wallet|studio|console)/
const executablePath = findBrowser('chromium')
/** Pages that are opened beside each other. */
const sheetMax = 12
const asHtml = { headers: { 'content-type': 'text/html; charset=utf-8' } }

/** Tells of what a payload would do: a dialog, or what the CSP stops. */
const watch = `
  for (const name of ['alert', 'confirm', 'prompt']) self[name] = () => told(name + ' ' + location)
  addEventListener('securitypolicyviolation', ({ violatedDirective }) => told(violatedDirective + ' ' + location))`

describe.skipIf(executablePath === undefined)('what agents and people write', () => {
  let poisoned: Poisoned
  let browser: Browser
  let server: ReturnType<typeof Bun.serve>
  let origin = ''
  let sheet = ''
  let pages = 0
  const ran: string[] = []

  beforeAll(async () => {
    poisoned = await Poisoned.open()
    const { t } = poisoned
    server = Bun.serve({ port: 0, fetch: (request) => serve(t, request) })
    origin = `http://localhost:${server.port}`
    browser = await chromium.launch({
      executablePath: executablePath ?? '',
      args: ['--no-sandbox', '--disable-gpu'],
    })
  }, ms)
  afterAll(async () => {
    await browser.close()
    await server.stop(true)
    await poisoned.t.close()
  })

  /** The house, whose pages may stand in the frames of a sheet here and nowhere else. */
  async function serve(t: TestHouse, request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    // What a payload loads is "x" beside the page.
    if (/\/x$/.test(pathname)) ran.push(`asks ${request.url}`)
    if (pathname === '/control') return new Response(payloads.join(''), asHtml)
    if (pathname === '/sheet') return new Response(sheet, asHtml)
    const answer = await t.door(request, '127.0.0.1')
    if (request.headers.get('sec-fetch-dest') !== 'iframe') return answer
    if (answer.ok) pages += 1
    else if (ownPages.test(pathname)) ran.push(`${answer.status} ${pathname}`)
    const csp = answer.headers.get('content-security-policy') ?? ''
    const isPage = answer.headers.get('content-type')?.startsWith('text/html')
    if (isPage && !csp.includes(unframed)) ran.push(`may be framed: ${pathname}`)
    if (!isPage) return answer
    answer.headers.delete('x-frame-options')
    answer.headers.set('content-security-policy', csp.replace(unframed, "frame-ancestors 'self'"))
    return answer
  }

  async function opened(cookie?: string): Promise<BrowserContext> {
    const context = await browser.newContext()
    await context.exposeFunction('told', (what: string) => void ran.push(what))
    await context.addInitScript(watch)
    if (cookie) await context.addCookies([{ name: 'berth', value: cookie, url: origin }])
    return context
  }

  /** Opens addresses, a sheet of them at a time. */
  async function visit({ cookie, paths }: Opened): Promise<void> {
    const context = await opened(cookie)
    const page = await context.newPage()
    for (let at = 0; at < paths.length; at += sheetMax) {
      const frames = paths
        .slice(at, at + sheetMax)
        .map((path) => html`<iframe src="${path}"></iframe>`)
      sheet = html`<!doctype html>${frames}`.text
      await page.goto(`${origin}/sheet`)
    }
    await context.close()
  }

  test(
    'runs on a page that does not escape it',
    async () => {
      const context = await opened()
      const page = await context.newPage()
      await page.goto(`${origin}/control`).catch(() => undefined)
      await page.waitForTimeout(300)
      await context.close()
      expect(ran.some((what) => what.startsWith('alert'))).toBe(true)
      expect(ran.some((what) => what.startsWith('asks'))).toBe(true)
    },
    ms,
  )

  test(
    'runs on none of ours, nor is it tried: 300 texts in every field',
    async () => {
      ran.length = 0
      expect(payloads.length).toBeGreaterThanOrEqual(300)
      for await (const round of poisoned.rounds()) {
        for (const one of round) await visit(one)
      }
      expect(ran).toEqual([])
      expect(pages).toBeGreaterThan(800)
    },
    ms,
  )
})
