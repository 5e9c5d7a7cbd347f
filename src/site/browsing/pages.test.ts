import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { operatorLink } from '../../people/people.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { isThorough } from '../../testing/thorough.ts'
import { until } from '../../testing/until.ts'
import { words } from '../docs/words.ts'

const ms = 300_000
/** Phrases that have another word in the table of words. */
const clashing = new RegExp(`\\b(?:${words.flatMap(({ not = [] }) => not).join('|')})\\b`, 'i')
const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1_280, height: 900 } }

describe.skipIf(findBrowser('chromium') === undefined)('pages in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let id = ''
  let copied = ''
  let collection = ''
  let welcome = ''

  beforeAll(async () => {
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    t = await startTestServer({ APP_URL: origin, GATEWAY_URL: origin })
    // A two-digit day is the widest case.
    t.clock.advance(24 * 86_400_000)
    const [ann, ben] = [await t.agent('ann'), await t.agent('ben')]
    await ann.call('PATCH', '/me', { about: 'Small games about weather.' })
    id = await ann.publish({ title: 'Harbour Lights', kind: 'game', store: true })
    await ann.publish({ title: 'Row by Row', description: 'See a table.', store: true })
    await ann.call('PUT', `/apps/${id}/icon`, { make: true })
    copied = (await ben.call('POST', `/apps/${id}/remix`, {})).text('app.id')
    await ben.call('PATCH', `/apps/${copied}`, { store: true })
    await ann.call('POST', `/apps/${id}/versions`, { html: '<h1>2</h1>', note: 'W'.repeat(100) })
    await ben.call('PUT', `/explore/${id}/review`, { stars: 5, text: 'Calm and quick.' })
    await ben.call('POST', `/explore/${id}/comments`, { text: 'How far does it go?' })
    const made = await ann.call('POST', '/me/collections', { title: 'Rainy evenings' })
    collection = made.text('collection.id')
    await ann.call('PUT', `/collections/${collection}/items/${id}`)
    welcome = new URL((await operatorLink(t.ctx)) ?? '').pathname
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
  })

  const paths = (): string[] => [
    '/',
    '/explore',
    '/explore?q=zeppelin',
    `/explore/${id}`,
    `/explore/${copied}`,
    '/explore?sort=new',
    '/explore/@ann',
    `/collections/${collection}`,
    '/catalogue',
    `/catalogue?q=${'W'.repeat(100)}`,
    '/catalogue?type=image',
    `/report/${id}`,
    '/nowhere',
    '/explore?cursor=odd',
    '/sign-in',
    '/sign-up',
    '/recover',
    welcome,
    '/docs',
    '/docs/api',
    '/docs/api/operations/publish_app',
    '/docs/errors',
    '/docs/mcp',
    '/docs/words',
    `/a/${id}`,
    '/a/AAAAAAAAAAAA',
  ]

  // Each page is opened once for all of these, because that takes longest.
  test(
    'fits, passes axe-core, can be skipped to its content, does not shift, loads no other host, and has the words of the table',
    async () => {
      const context = await browser.newContext()
      const found: string[] = []
      // One page for all, because a new one starts a cold process.
      const page = await context.newPage()
      page.on('request', (request) => {
        const url = request.url()
        // A blob: URL is a text of the page itself.
        if (!url.startsWith(origin) && !url.startsWith('blob:')) found.push(`loads ${url}`)
      })
      for (const path of paths()) {
        const problems = [
          ...(await findShifts(
            page,
            origin + path,
            isThorough ? Object.values(sizes) : [sizes.phone],
          )),
          ...(await findViolations(page)),
          ...(path.startsWith('/a/') ? [] : await skipNavigation(page)),
          ...(clashing.exec(await page.locator('body').innerText()) ?? []).slice(0, 1),
        ]
        found.push(...problems.map((problem) => `${path}: ${problem}`))
      }
      await context.close()
      expect(found).toEqual([])
    },
    ms,
  )

  test(
    'searches while typing, copies code and keeps the theme',
    async () => {
      const context = await browser.newContext({ viewport: sizes.desk })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      const page = await context.newPage()
      await page.goto(`${origin}/explore`)
      await page.fill('input[type=search]', 'row')
      await page.waitForURL('**/explore?q=row')
      expect(await page.locator('.tile').count()).toBe(1)
      expect(await page.evaluate('document.activeElement.name')).toBe('q')
      expect(await page.title()).toBe('row · Explore · Berth')

      // Results stay while a proxy restarts.
      await page.evaluate(`self.titles = []; new MutationObserver(() => titles.push(document.title))
        .observe(document.querySelector('title'), { childList: true })`)
      await page.route('**/explore?q=harbour', (route) =>
        route.fulfill({
          status: 502,
          contentType: 'text/html',
          body: '<title>Bad Gateway</title>',
        }),
      )
      const rejected = page.waitForResponse('**/explore?q=harbour')
      await page.fill('input[type=search]', 'harbour')
      await (await rejected).finished()
      await page.fill('input[type=search]', 'row by')
      await page.waitForURL('**/explore?q=row+by')
      await until(() => page.evaluate<boolean>("document.title.startsWith('row by ·')"))
      expect(await page.evaluate<string[]>('titles')).toEqual(['row by · Explore · Berth'])

      // "Copied" disappears after a delay that this test controls.
      await page.clock.install({ time: 0 })
      await page.goto(origin)
      await page.clock.pauseAt(3_600_000)
      const copy = page.locator('copy-line button').filter({ visible: true }).first()
      await copy.click()
      await copy.filter({ hasText: 'Copied' }).waitFor()
      await page.clock.runFor(2_000)
      await copy.filter({ hasText: /^Copy$/ }).waitFor()
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toStartWith('Read http')

      await page.click('theme-switch button')
      await page.click('theme-switch button')
      await page.goto(`${origin}/explore`)
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
      await context.close()
    },
    ms,
  )

  test(
    'searches, pages and reports without JavaScript',
    async () => {
      const context = await browser.newContext({ javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(`${origin}/explore`)
      await page.fill('input[type=search]', 'row')
      await page.click('.search button')
      await page.waitForURL('**q=row**')
      expect(await page.locator('.tile').count()).toBe(1)
      await page.goto(`${origin}/report/${id}`)
      await page.fill('textarea', 'It is too calm.')
      // No reason is preselected.
      expect(await page.inputValue('select')).toBe('')
      await page.selectOption('select', 'other')
      await page.click('main form button')
      expect(await page.textContent('h1')).toBe('Report sent')
      await context.close()
    },
    ms,
  )
})

/** A change of the size of the window is input, and can take effect after the page has loaded. */
const measure = `new Promise((resolve) => {
  let moved = 0
  const add = ({ value, hadRecentInput }) => (moved += hadRecentInput ? 0 : value)
  new PerformanceObserver((list) => list.getEntries().forEach(add))
    .observe({ type: 'layout-shift', buffered: true })
  const frames = (count) => count ? requestAnimationFrame(() => frames(count - 1)) : resolve(moved)
  document.fonts.ready.then(() => frames(6))
})`

/** Loads a page at some sizes and returns how far its content moved. */
async function findShifts(
  page: Page,
  url: string,
  viewports: { width: number; height: number }[],
): Promise<string[]> {
  const found: string[] = []
  for (const viewport of viewports) {
    await page.setViewportSize(viewport)
    await page.goto(url)
    const moved = Number(await page.evaluate(measure))
    if (moved > 0.01) found.push(`${viewport.width}: moved by ${moved}`)
  }
  return found
}

/** Presses the first link with the keyboard. Returns a problem unless it leads to the content. */
async function skipNavigation(page: Page): Promise<string[]> {
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const at = await page.evaluate('document.activeElement?.id')
  return at === 'main' ? [] : ['the focus stays']
}
