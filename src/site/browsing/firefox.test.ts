import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { findByName, operatorLink } from '../../people/people.ts'
import { sharedBrowsers } from '../../testing/browsers/all-browsers.ts'
import {
  type Browser,
  findBrowser,
  findInBrowser,
  type Tab,
} from '../../testing/browsers/browser.ts'
import { fund, password } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { isThorough } from '../../testing/thorough.ts'

const ms = 120_000
const waitMs = 30_000
/** The browser of the tests beside this one, unless they run in another. */
const firefox = sharedBrowsers.find(([name]) => name === 'firefox')
const path = firefox && findBrowser('firefox')

/** Saves the level of its sound. */
const humming = `<!doctype html><title>Hum</title><script>
const context = new AudioContext()
setInterval(() => { localStorage.level = context.destination.gain.value }, 100)</script>`

describe.skipIf(path === undefined)('pages in firefox', () => {
  let t: TestServer
  let browser: Browser
  let server: ReturnType<typeof Bun.serve>
  let origin = ''
  let harbour = ''
  let rows = ''

  beforeAll(async () => {
    t = await startTestServer({ BUILDER_BROWSER: 'off' })
    await t.ctx.jobs.start()
    server = Bun.serve({ port: 0, fetch: (request) => t.handle(request, '127.0.0.1') })
    origin = `http://localhost:${server.port}`
    const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
    harbour = await ann.publish({
      title: 'Harbour Lights',
      kind: 'game',
      store: true,
      html: humming,
    })
    rows = await ann.publish({ title: 'Row by Row', store: true })
    await ben.call('POST', `/apps/${harbour}/remix`, {})
    await ben.call('PUT', `/explore/${harbour}/review`, { stars: 5, text: 'Calm and quick.' })
    if (firefox && path) browser = await firefox[1](path)
  }, ms)
  afterAll(async () => {
    await browser.close()
    await server.stop(true)
    await t.close()
  })

  /** Waits for a condition in the page; navigations can interrupt the check. */
  const becomes = async (tab: Tab, expression: string): Promise<void> => {
    const isSo = async () => {
      const found = await tab.evaluate(expression).catch(() => undefined)
      return found === true ? true : undefined
    }
    expect([expression, await findInBrowser(isSo, waitMs)]).toEqual([expression, true])
  }
  /** Runs an action on an element when it exists. */
  async function use(tab: Tab, selector: string, what: string): Promise<void> {
    const found = `document.querySelector(${JSON.stringify(selector)})`
    await becomes(tab, `${found} !== null`)
    await tab.evaluate(`(() => { const found = ${found}; ${what} })()`)
  }
  const follow = (tab: Tab, selector: string) => use(tab, selector, 'found.click()')
  /** Signs out, because tabs share their cookies, and closes the tab. */
  async function leave(tab: Tab): Promise<void> {
    await tab.goto(`${origin}/account`)
    await follow(tab, 'form[action="/sign-out"] button')
    await becomes(tab, "location.pathname === '/'")
    await tab.close()
  }
  const fill = (tab: Tab, selector: string, text: string) =>
    use(
      tab,
      selector,
      `found.value = ${JSON.stringify(text)}
       found.dispatchEvent(new Event('input', { bubbles: true }))`,
    )

  test(
    'goes from home through search to an item, its reviews and the game, and mutes it',
    async () => {
      const tab = await browser.open()
      await tab.goto(origin)
      await becomes(tab, "document.querySelector('copy-line button')?.textContent === 'Copy'")
      await follow(tab, 'nav a[href="/explore"]')
      await becomes(
        tab,
        "location.pathname === '/explore' && document.querySelector('live-search:defined') !== null",
      )
      await fill(tab, 'input[type=search]', 'harb')
      await becomes(
        tab,
        "location.search === '?q=harb' && document.querySelectorAll('.tile').length === 1",
      )
      await follow(tab, '.tile .tile-link')
      await becomes(tab, "document.querySelector('h1')?.textContent === 'Harbour Lights'")
      await becomes(
        tab,
        "document.querySelector('.feedback')?.textContent.includes('Calm and quick.')",
      )
      await follow(tab, '.actions .button')
      await becomes(
        tab,
        "location.pathname.startsWith('/a/') && 'started' in document.documentElement.dataset",
      )
      await follow(tab, '#sound')
      await becomes(tab, `JSON.stringify(self.told).includes('["level","0"]')`)
      expect(tab.seen()).toEqual([])
      await tab.close()
    },
    ms,
  )

  test(
    'builds an app from the home page through sign-up',
    async () => {
      const tab = await browser.open()
      await tab.goto(origin)
      await becomes(tab, "document.querySelector('.segments [value=describe]') !== null")
      await tab.evaluate("document.querySelector('.segments [value=describe]').click()")
      await fill(tab, 'textarea[name=prompt]', 'snake in neon')
      await follow(tab, '.prompt-box button')
      await becomes(tab, "location.pathname === '/new'")
      await follow(tab, 'form[action="/new/prompt"] .prompt-send button')
      await fill(tab, 'input[name=name]', 'cleo')
      await fill(tab, 'input[name=password]', password)
      await follow(tab, 'form[action="/sign-up"] button')
      await becomes(tab, "document.querySelectorAll('.codes li').length === 8")
      await follow(tab, 'form[action="/new/draft"] button')
      await becomes(
        tab,
        "document.querySelector('textarea[name=prompt]')?.value === 'snake in neon'",
      )
      await follow(tab, 'form[action="/new/prompt"] .prompt-send button')
      await becomes(tab, "location.pathname.endsWith('/build')")
      await becomes(tab, "document.querySelector('app-preview iframe') !== null")
      await becomes(tab, "document.querySelector('h1')?.textContent === 'Snake in neon'")
      expect(tab.seen()).toEqual([])
      await leave(tab)
    },
    ms,
  )

  test.if(isThorough)(
    'creates an account, keeps the theme and signs out',
    async () => {
      const tab = await browser.open()
      await tab.goto(`${origin}/sign-up`)
      await fill(tab, 'input[name=name]', 'bea')
      await fill(tab, 'input[name=password]', password)
      await follow(tab, 'main form button')
      await becomes(tab, "document.querySelectorAll('.codes li').length === 8")
      await tab.goto(`${origin}/account`)
      await becomes(tab, "document.querySelector('h1')?.textContent === 'bea'")
      await follow(tab, 'theme-switch button')
      await becomes(tab, "document.documentElement.dataset.theme === 'light'")
      await tab.goto(`${origin}/wallet`)
      await becomes(tab, "document.documentElement.dataset.theme === 'light'")
      await leave(tab)
    },
    ms,
  )

  test(
    'compares models, chats with two in the playground and finds the calls in the wallet',
    async () => {
      const tab = await browser.open()
      await tab.goto(`${origin}/sign-up`)
      await fill(tab, 'input[name=name]', 'dora')
      await fill(tab, 'input[name=password]', password)
      await follow(tab, 'main form[action="/sign-up"] button')
      await becomes(tab, "document.querySelectorAll('.codes li').length === 8")
      const dora = await findByName(t.ctx, 'dora')
      if (dora) await fund(t.ctx, dora, 1n)

      await tab.goto(`${origin}/catalogue`)
      await follow(tab, 'th a[href*="sort=input"]')
      await becomes(
        tab,
        `location.search === '?sort=input' && document.querySelector('[aria-sort=ascending] a')?.textContent === 'Input'`,
      )
      await use(tab, 'input[value="demo/chat"]', 'found.checked = true')
      await use(tab, 'input[value="demo/omni"]', 'found.checked = true')
      await follow(tab, '.compare-bar button')
      const compared =
        '[...document.querySelectorAll("th[scope=col] code")].map((one) => one.textContent).join()'
      await becomes(tab, `${compared} === 'demo/chat,demo/omni'`)
      await follow(tab, 'a[href="/catalogue/demo/chat"]')
      await becomes(tab, "document.querySelector('copy-line button')?.textContent === 'Copy'")

      await follow(tab, 'a[href^="/wallet/playground?model="]')
      await becomes(tab, "document.querySelector('.pane select')?.value === 'demo/chat'")
      await use(
        tab,
        '.tools',
        "[...found.querySelectorAll('button')].find((one) => one.textContent === 'Compare').click()",
      )
      await becomes(tab, "document.querySelectorAll('.pane').length === 2")
      await use(
        tab,
        '.pane + .pane select',
        "found.value = 'demo/omni'; found.dispatchEvent(new Event('change', { bubbles: true }))",
      )
      await fill(tab, 'textarea[name=text]', 'Ahoy')
      await use(tab, 'chat-playground form', 'found.requestSubmit()')
      await becomes(tab, "document.querySelectorAll('.turn.assistant .summary').length === 2")

      await tab.goto(`${origin}/wallet/history`)
      await becomes(tab, "document.querySelectorAll('tbody tr').length === 2")
      await tab.goto(`${origin}/wallet`)
      await becomes(tab, "document.querySelector('h1')?.textContent.includes('Wallet')")
      expect(tab.seen()).toEqual([])
      await leave(tab)
    },
    ms,
  )

  test.if(isThorough)(
    'sets the server up as its operator, features an item and changes a setting',
    async () => {
      const tab = await browser.open()
      await tab.goto(origin + new URL((await operatorLink(t.ctx)) ?? '').pathname)
      await fill(tab, 'input[name=name]', 'olga')
      await fill(tab, 'input[name=password]', password)
      await follow(tab, 'main form button')
      await becomes(tab, "document.querySelectorAll('.codes li').length === 8")
      await tab.goto(`${origin}/console`)
      await becomes(tab, "document.querySelector('li.done')?.textContent.includes('first app')")

      await tab.goto(`${origin}/console/apps/${rows}`)
      await follow(tab, 'form[action$="/feature"] button')
      await becomes(tab, "document.body.textContent.includes('It is featured on the home page.')")
      await tab.goto(origin)
      await becomes(
        tab,
        "document.querySelector('.feature h2')?.textContent.includes('Row by Row')",
      )

      await tab.goto(`${origin}/console/settings/MARGIN_PERCENT`)
      await fill(tab, 'input[name=value]', '7')
      await follow(tab, 'main button[value=set]')
      await becomes(tab, "location.search === '?changed=MARGIN_PERCENT'")
      expect(t.ctx.config.marginPercent).toBe(7)
      await tab.goto(`${origin}/console/audit`)
      await becomes(tab, "document.querySelector('tbody')?.textContent.includes('MARGIN_PERCENT')")
      expect(tab.seen()).toEqual([])
      await leave(tab)
    },
    ms,
  )
})
