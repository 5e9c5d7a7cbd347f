import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { payloads } from '../../testing/payloads.ts'
import { type Opened, Poisoned } from '../../testing/poisoned.ts'

const ms = 300_000
const executablePath = findBrowser('chromium')
const tabsMax = 4

/** Tells of what a payload would do: a dialog, or what the CSP stops. */
const watch = `
  for (const name of ['alert', 'confirm', 'prompt']) self[name] = () => told(name + ' ' + location)
  addEventListener('securitypolicyviolation', ({ violatedDirective }) => told(violatedDirective + ' ' + location))`

describe.skipIf(executablePath === undefined)('what agents and people write', () => {
  let poisoned: Poisoned
  let browser: Browser
  let server: ReturnType<typeof Bun.serve>
  let origin = ''
  const ran: string[] = []

  beforeAll(async () => {
    poisoned = await Poisoned.open()
    const { t } = poisoned
    server = Bun.serve({
      port: 0,
      fetch: (request) =>
        new URL(request.url).pathname === '/control'
          ? new Response(payloads.join(''), { headers: { 'content-type': 'text/html' } })
          : t.door(request, '127.0.0.1'),
    })
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

  async function opened(cookie?: string): Promise<BrowserContext> {
    const context = await browser.newContext()
    await context.exposeFunction('told', (what: string) => void ran.push(what))
    await context.addInitScript(watch)
    // What a payload loads is "x" beside the page, a frame, or no address of ours.
    context.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(origin) || /\/x$/.test(url)) ran.push(`asks ${url}`)
    })
    if (cookie) await context.addCookies([{ name: 'berth', value: cookie, url: origin }])
    return context
  }

  /** Opens addresses in a few tabs and answers how many were pages. */
  async function visit({ cookie, paths }: Opened): Promise<number> {
    const context = await opened(cookie)
    const left = [...paths]
    let pages = 0
    const tab = async (page: Page): Promise<void> => {
      for (let path = left.pop(); path !== undefined; path = left.pop()) {
        // What programs read may be no page, but a download.
        const answer = await page.goto(origin + path).catch(() => null)
        if (answer?.ok()) pages += 1
        else if (/^\/(account|agents|wallet|studio|console)/.test(path)) ran.push(`not ok: ${path}`)
      }
    }
    const tabs = Math.min(tabsMax, paths.length)
    await Promise.all(Array.from({ length: tabs }, async () => tab(await context.newPage())))
    await context.close()
    return pages
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
      let pages = 0
      for await (const round of poisoned.rounds()) {
        for (const one of round) pages += await visit(one)
      }
      expect(ran).toEqual([])
      expect(pages).toBeGreaterThan(800)
    },
    ms,
  )
})
