import { type Browser, chromium, type Page } from 'playwright-core'

import { origin } from '../fixtures/form-browser.ts'
import type { PageSet } from '../fixtures/script-canaries.ts'
import { payloads } from '../fixtures/script-payloads.ts'
import type { TestServer } from '../fixtures/test-server.ts'
import { chromiumFlags, findForPages } from './browser.ts'

const unframed = "frame-ancestors 'none'"
/** Pages of the site play an app in a frame. */
const framedHere = "frame-ancestors 'self';"
const shells = /^\/a\/[\w-]{12}(?:\/versions\/1)?$/
const ownPages = /^\/(?:account|agents|wallet|studio|console)/
/** The number of pages to open in parallel. */
const sheetMax = 12
/** The number of pages to parse at once. */
const parsedMax = 40
/** Loads URLs in frames of one page. */
const sheet = (paths: string[]): string => `Promise.all(${JSON.stringify(paths)}.map((path) =>
  new Promise((loaded) => {
    const frame = document.createElement('iframe')
    frame.src = path
    frame.onload = loaded
    document.body.append(frame)
  }))).then(() => document.body.replaceChildren())`
const asHtml = { headers: { 'content-type': 'text/html; charset=utf-8' } }

/** Records dialogs and CSP violations. */
const watch = `
  for (const name of ['alert', 'confirm', 'prompt']) self[name] = () => told(name + ' ' + location)
  addEventListener('securitypolicyviolation', ({ violatedDirective }) => told(violatedDirective + ' ' + location))`

/** The markup of a page, and its policy. */
interface Markup {
  text: string
  csp: string
}

const hashOf = (script: string): string =>
  new Bun.CryptoHasher('sha256').update(script).digest('base64')

/** Chromium with the pages of a server. It records which scripts ran, or would run. */
export class PayloadBrowser {
  readonly ran: string[] = []
  /** Pages that were opened. */
  opened = 0
  /** Pages that were parsed. */
  parsed = 0
  readonly #visitors: Page[] = []

  private constructor(
    private readonly t: TestServer,
    private readonly browser: Browser,
    private readonly server: ReturnType<typeof Bun.serve>,
  ) {}

  static async open(t: TestServer): Promise<PayloadBrowser> {
    const proxy: { answer?: (request: Request) => Promise<Response> } = {}
    const fetch = (request: Request) => proxy.answer?.(request) ?? new Response()
    const server = Bun.serve({ port: 0, fetch })
    // Pages of apps name the address of the server, so it is fixed.
    const rules = `--host-resolver-rules=MAP localhost:3000 localhost:${server.port}`
    const browser = await chromium.launch({
      executablePath: findForPages() ?? '',
      args: [...chromiumFlags, rules],
    })
    const made = new PayloadBrowser(t, browser, server)
    proxy.answer = (request) => made.#serve(request)
    return made
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.server.stop(true)
  }

  /** Opens a page that contains the payloads without escaping. */
  async openControl(): Promise<Page> {
    return this.#open('/control')
  }

  /**
   * Opens the pages of each set in frames. Each browser page stays on one document: a navigation
   * would start a new, cold process.
   */
  async openPages(sets: PageSet[]): Promise<void> {
    await Promise.all(
      sets.map(async ({ cookie, paths }, at) => {
        const page = (this.#visitors[at] ??= await this.#open('/sheet'))
        await page.context().clearCookies()
        const cookies = cookie ? [{ name: 'berth', value: cookie, url: origin }] : []
        await page.context().addCookies(cookies)
        for (let from = 0; from < paths.length; from += sheetMax) {
          await page.evaluate(sheet(paths.slice(from, from + sheetMax)))
        }
      }),
    )
  }

  /** Parses the pages of each set with Chromium, without running anything of them. */
  async parsePages(sets: PageSet[]): Promise<void> {
    for (const { cookie, paths } of sets) {
      const headers = { accept: 'text/html', ...(cookie && { cookie: `berth=${cookie}` }) }
      for (let from = 0; from < paths.length; from += parsedMax) {
        const part = paths.slice(from, from + parsedMax)
        const read = part.map((path) => this.#read(new Request(origin + path, { headers })))
        const pages = (await Promise.all(read)).flatMap((page) => page ?? [])
        const found = await this.findRunnable(pages)
        for (const [at, { path }] of pages.entries()) {
          this.ran.push(...(found[at] ?? []).map((what) => `would run in ${path}: ${what}`))
        }
        this.parsed += pages.length
      }
    }
  }

  /** Returns what would run in each page. */
  async findRunnable(pages: Markup[]): Promise<string[][]> {
    const parser = (this.#visitors[0] ??= await this.#open('/sheet'))
    const texts = JSON.stringify(pages.map(({ text }) => text))
    const found = await parser.evaluate<{ runs: string[]; scripts: string[] }[]>(
      `(${findRunnable})(${texts})`,
    )
    return pages.map(({ csp }, at) => {
      const { runs = [], scripts = [] } = found[at] ?? {}
      return [...runs, ...scripts.filter((script) => !csp.includes(`'sha256-${hashOf(script)}'`))]
    })
  }

  /** Returns a page if it is HTML, and records headers that do not protect it. */
  async #read(request: Request): Promise<(Markup & { path: string }) | undefined> {
    const { pathname, search } = new URL(request.url)
    const response = await this.t.handle(request, '127.0.0.1')
    this.#check(request, response)
    const path = pathname + search
    const isPage = response.headers.get('content-type')?.startsWith('text/html')
    if (!isPage) {
      const isSniffed = response.headers.get('x-content-type-options') !== 'nosniff'
      // A redirect has no content.
      if (isSniffed && response.body !== null) this.ran.push(`may be sniffed: ${path}`)
      return undefined
    }
    const csp = response.headers.get('content-security-policy') ?? ''
    return { path, text: await response.text(), csp }
  }

  #check({ url }: Request, { ok, status, headers }: Response): void {
    const { pathname, search } = new URL(url)
    if (!ok && ownPages.test(pathname) && search === '') this.ran.push(`${status} ${pathname}`)
    if (!headers.get('content-type')?.startsWith('text/html')) return
    const isFramed = headers
      .get('content-security-policy')
      ?.includes(shells.test(pathname) ? framedHere : unframed)
    if (!isFramed) this.ran.push(`may be framed: ${pathname}`)
  }

  /** Proxies the server and allows framing in this browser only. */
  async #serve(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    // Payloads load "x" relative to the page.
    if (/\/x$/.test(pathname)) this.ran.push(`asks ${request.url}`)
    if (pathname === '/control') return new Response(payloads.join(''), asHtml)
    // Tests the viewer shell without the app.
    if (pathname === '/frame') return new Response(null, { status: 204 })
    if (pathname === '/sheet') return new Response('<!doctype html>', asHtml)
    const response = await this.t.handle(request, '127.0.0.1')
    if (request.headers.get('sec-fetch-dest') !== 'iframe') return response
    if (response.ok) this.opened += 1
    this.#check(request, response)
    if (!response.headers.get('content-type')?.startsWith('text/html')) return response
    const csp = response.headers.get('content-security-policy') ?? ''
    response.headers.delete('x-frame-options')
    response.headers.set('content-security-policy', csp.replace(unframed, "frame-ancestors 'self'"))
    return response
  }

  async #open(path: string): Promise<Page> {
    const context = await this.browser.newContext()
    await context.exposeFunction('told', (what: string) => void this.ran.push(what))
    await context.addInitScript(watch)
    const page = await context.newPage()
    await page.goto(origin + path).catch(() => undefined)
    return page
  }
}

/**
 * Source of a function that parses pages with the browser's own parser and returns, for each, what
 * would run in it (event handlers, addresses that are scripts, elements that load or redirect), and
 * the inline scripts. Nothing of a parsed page runs or loads.
 */
const findRunnable = String.raw`(texts) => {
  const addresses = ['href', 'src', 'action', 'formaction', 'data', 'poster', 'xlink:href']
  const isHarmless = (address, element) => {
    if (address.startsWith('data:image/')) return element.localName === 'img'
    // A browser drops these signs from an address.
    const plain = address.replace(/[\u0000-\u0020]/g, '')
    if (!URL.canParse(plain, 'https://site.test/')) return true
    return ['http:', 'https:', 'mailto:'].includes(new URL(plain, 'https://site.test/').protocol)
  }
  const findIn = (root) => {
    const runs = []
    const scripts = []
    for (const element of root.querySelectorAll('*')) {
      const name = element.localName
      if (/^(?:base|object|embed|frame|frameset|applet|portal)$/.test(name)) runs.push(name)
      for (const { name: attribute, value } of element.attributes) {
        if (/^on|^srcdoc$/.test(attribute)) runs.push(name + ' ' + attribute)
        const isAddress = addresses.includes(attribute)
        if (isAddress && !isHarmless(value, element)) runs.push(name + ' ' + attribute + '=' + value)
      }
      const refresh = name === 'meta' && /refresh/i.test(element.httpEquiv)
      if (refresh && !/^\d+$/.test(element.content)) runs.push('meta refresh')
      if (name === 'script' && !/^application\/(?:ld\+)?json$/.test(element.type)) {
        const src = element.getAttribute('src')
        if (src !== null && !src.startsWith('/static/') && !src.startsWith('/frame/')) runs.push('script ' + src)
        if (element.textContent !== '') scripts.push(element.textContent)
      }
      if (element.content instanceof DocumentFragment) {
        const inside = findIn(element.content)
        runs.push(...inside.runs)
        scripts.push(...inside.scripts)
      }
    }
    return { runs, scripts }
  }
  return texts.map((text) => findIn(new DOMParser().parseFromString(text, 'text/html')))
}`
