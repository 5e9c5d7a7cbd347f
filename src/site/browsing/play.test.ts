import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { minute } from '../../kernel/time.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser, findWhole } from '../../testing/browsers/browser.ts'
import {
  borrowBrowser,
  type BrowserSession,
  openServedSession,
} from '../../testing/browsers/session.ts'
import { touchPhone } from '../../testing/browsers/targets.ts'
import { createTestPerson, createTestSession, password } from '../../testing/fixtures/people.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const title = 'One More Sunrise Over the Bay'
/** A game of a fixed size, as many are. */
const html = `<!doctype html><title>${title}</title><style>body{margin:0}
  main{width:900px;height:560px;background:#357}</style><main>board</main>`

/** The icons of a page whose drawing leaves its box. */
const cutIcons = `[...document.querySelectorAll('header svg')].filter((icon) => {
  const { x, y, width, height } = icon.firstElementChild.getBBox()
  return x < 0 || y < 0 || x + width > 20 || y + height > 20
}).map((icon) => icon.parentElement.title)`
const frameSize =
  "(({ clientWidth, clientHeight }) => [clientWidth, clientHeight])(document.querySelector('play-here iframe'))"
const frameWidth = "document.querySelector('iframe').clientWidth"
/** Makes a promise that resolves when the bar returns, also if it hides again soon. */
const watchBar = `void (self.barReturns = new Promise((resolve) => new MutationObserver(
  () => 'playing' in document.documentElement.dataset || resolve())
  .observe(document.documentElement, { attributeFilter: ['data-playing'] })))`
/** The social card of a page: its title, and the size of its picture as a browser loads it. */
const cardOf = `(async () => {
  const read = (name) => document.querySelector('meta[property="' + name + '"], meta[name="' + name + '"]').content
  const picture = Object.assign(new Image(), { src: read('og:image') })
  await picture.decode()
  const size = [picture.naturalWidth, picture.naturalHeight]
  return { title: read('og:title'), twitter: read('twitter:card'), size }
})()`
/** The element that a press at a point of the window reaches. */
const elementAt = (x: number, y: number): string => `document.elementFromPoint(${x}, ${y})?.tagName`

describe.skipIf(findBrowser('chromium') === undefined)('playing in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let ann: TestAgent
  let id = ''

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    ann = await t.agent('ann')
    id = await ann.publish({ title, html, store: true })
  }, ms)
  afterAll(() => close())

  test(
    'gives a game all pixels of a phone, and its bar the whole title',
    async () => {
      const { browser: whole, giveBack } = await borrowBrowser(findWhole() ?? '')
      const context = await whole.newContext(touchPhone)
      const page = await context.newPage()
      await page.goto(`${origin}/a/${id}`)
      await page.locator('header h1').waitFor()
      expect(await page.evaluate<string[]>(cutIcons)).toEqual([])
      const cut =
        "(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector('h1'))"
      expect(await page.evaluate<boolean>(cut)).toBe(false)
      await page.locator('html[data-playing]').waitFor({ state: 'attached' })
      // The bar covers its edge until it has slid away.
      await until(() => page.evaluate<boolean>("document.elementFromPoint(195, 8)?.id === 'edge'"))
      const { x, y, width, height } = (await page.locator('iframe').boundingBox()) ?? {}
      expect([x, y, width, height]).toEqual([0, 0, 390, 844])
      expect(await page.evaluate<string>(elementAt(40, 20))).toBe('IFRAME')
      await page.evaluate(watchBar)
      await page.evaluate("addEventListener('click', () => (self.isPressed = true))")
      await page.touchscreen.tap(195, 8)
      await page.evaluate('self.barReturns')
      // The press that brings the bar opens nothing of it.
      expect(await page.evaluate('self.isPressed ?? false')).toBe(false)
      await giveBack()
    },
    ms,
  )

  test(
    'hides its bar where a browser has no full screen, and says how to lose the browser’s',
    async () => {
      const context = await browser.newContext(touchPhone)
      const page = await context.newPage()
      await page.addInitScript('delete Element.prototype.requestFullscreen')
      await page.goto(`${origin}/a/${id}`)
      await page.frameLocator('iframe').locator('main').waitFor()
      // The bar may be hidden already.
      await page.locator('#full').dispatchEvent('click')
      await page.getByText('Add it to the home screen').waitFor()
      expect(await page.evaluate<boolean>("'playing' in document.documentElement.dataset")).toBe(
        true,
      )
      await context.close()
    },
    ms,
  )

  test(
    'gives an app a frame below the wrapper only where the browser does not limit connections',
    async () => {
      const older =
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/151.0.0.0 Safari/537.36'
      for (const [options, frames, isFree] of [
        [{}, 2, true],
        [{ userAgent: older }, 3, false],
      ] as const) {
        const context = await browser.newContext(options)
        const page = await context.newPage()
        await page.goto(`${origin}/a/${id}`)
        await page.locator('html[data-started]').waitFor({ state: 'attached' })
        expect(page.frames()).toHaveLength(frames)
        const made = "document.createElement('iframe').localName === 'iframe'"
        expect(await page.frames().at(-1)?.evaluate<boolean>(made)).toBe(isFree)
        await context.close()
      }
    },
    ms,
  )

  test(
    'names the actions of its bar, and has the rare ones, and on a phone more, in a menu',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      await page.goto(`${origin}/a/${id}`)
      for (const name of ['Remix', 'Share', 'Next'])
        await page.locator('nav').getByText(name, { exact: true }).waitFor()
      await page.close()
      const context = await browser.newContext(touchPhone)
      const small = await context.newPage()
      await small.goto(`${origin}/a/${id}`)
      await small.getByRole('button', { name: 'More' }).tap()
      const menu = small.locator('#menu')
      for (const name of ['Remix', 'Next', 'Restart', 'Report this app'])
        await menu.getByText(name, { exact: true }).waitFor()
      // The bar stays for as long as its menu is open.
      await small.locator('html[data-playing]').waitFor({ state: 'attached' })
      const low = `[...document.querySelectorAll('#menu > *, nav > *')].filter((one) =>
        one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().height < 44)`
      expect(await small.evaluate<number>(`${low}.length`)).toBe(0)
      expect(await findViolations(small)).toEqual([])
      await menu.getByRole('button', { name: 'Restart' }).tap()
      await menu.waitFor({ state: 'hidden' })
      await context.close()
    },
    ms,
  )

  test(
    'restarts an app without an entry in the history, whatever it says to the viewer',
    async () => {
      const mode = "{ type: 'mode', depth: 3 }"
      const count = `sessionStorage.n = Number(sessionStorage.n ?? 0) + 1`
      const app = await (
        await t.agent('ann')
      ).publish({
        html: `<!doctype html><title>Count</title><main></main><script>top.postMessage(${mode}, '*')
          document.querySelector('main').textContent = ${count}</script>`,
      })
      const page = await browser.newPage()
      await page.goto(`${origin}/a/${app}`)
      const main = page.frameLocator('iframe').locator('main')
      await main.getByText('1').waitFor()
      const entries = await page.evaluate<number>('history.length')
      for (const run of ['2', '3']) {
        // The bar may be hidden already.
        await page.locator('#reload').dispatchEvent('click')
        await main.getByText(run).waitFor()
      }
      expect(await page.evaluate<number>('history.length')).toBe(entries)
      await page.close()
    },
    ms,
  )

  test(
    'starts an app that keeps leaving three times again, and then asks',
    async () => {
      const app = await ann.publish({
        html: `<!doctype html><title>Gone</title><script>
          sessionStorage.n = Number(sessionStorage.n ?? 0) + 1
          if (sessionStorage.n < 5) location.reload()
          else document.write('stays')</script>`,
      })
      const page = await browser.newPage()
      await page.goto(`${origin}/a/${app}`)
      await page.getByText('This app keeps leaving.').waitFor()
      // A run that leaves at once may not save its number, and then leaves once more.
      await until(async () => {
        const offer = page.locator('#offer', { hasText: 'Restart' })
        await offer.click({ timeout: 500 }).catch(() => undefined)
        return (await page.frameLocator('iframe').getByText('stays').count()) > 0
      })
      await page.close()
    },
    ms,
  )

  test(
    'offers another start where the wrapper does not load, and keeps the page',
    async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(`${origin}/a/${id}`)
      const board = page.frameLocator('iframe').getByText('board')
      await board.waitFor()
      await page.evaluate('void (self.isKept = true)')
      await context.setOffline(true)
      await page.locator('#reload').dispatchEvent('click')
      await page.getByText('The app did not load.').waitFor()
      await context.setOffline(false)
      // The notice takes no press at once.
      await until(async () => {
        await page.locator('#offer').dispatchEvent('click')
        return page.locator('#notice').isHidden()
      })
      await board.waitFor()
      expect(await page.evaluate<boolean>('self.isKept')).toBe(true)
      await context.close()
    },
    ms,
  )

  test(
    'lets a page of a folder save as it is left for another one',
    async () => {
      const save = `addEventListener('pagehide', () => { localStorage.word = 'saved' })`
      const files = [
        {
          path: 'index.html',
          text: `<body style="padding-top:6rem"><a href=two.html>on</a><script>${save}</script>`,
        },
        {
          path: 'two.html',
          text: '<p></p><script>document.querySelector("p").textContent = localStorage.word</script>',
        },
      ]
      const app = await (await t.agent('ann')).publish({ html: undefined, title: 'Two', files })
      const page = await browser.newPage()
      await page.goto(`${origin}/a/${app}`)
      const inner = page.frameLocator('iframe')
      await inner.getByRole('link', { name: 'on' }).click()
      await inner.getByText('saved').waitFor()
      await page.close()
    },
    ms,
  )

  test(
    'shows a whole game in place, also in full screen, and opens it on a phone',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      await page.goto(`${origin}/explore/${id}`)
      await page.locator('play-here a').click()
      const frame = page.locator('play-here iframe')
      const inner = page.frameLocator('play-here iframe').locator('main')
      await inner.waitFor()
      const size = await page.evaluate<[number, number]>(frameSize)
      expect(size).toEqual([960, 600])
      const stage = await page.locator('.screen').boundingBox()
      const shown = await frame.boundingBox()
      expect(Math.abs((shown?.width ?? 0) - (stage?.width ?? 0))).toBeLessThan(1)
      await page.getByRole('button', { name: 'Full screen' }).first().click()
      await until(() => page.evaluate<boolean>("document.fullscreenElement?.tagName === 'IFRAME'"))
      expect((await page.evaluate<[number, number]>(frameSize))[0]).toBe(1_280)
      await page.goto(`${origin}/a/${id}`)
      await page.frameLocator('iframe').locator('main').waitFor()
      await page.getByRole('button', { name: 'Full screen' }).click()
      await until(() => page.evaluate<boolean>("document.fullscreenElement?.tagName === 'MAIN'"))
      expect((await page.locator('iframe').boundingBox())?.height).toBe(900)
      await page.close()

      const context = await browser.newContext(touchPhone)
      const small = await context.newPage()
      await small.goto(`${origin}/explore/${id}`)
      await small.locator('play-here a').click()
      await small.waitForURL(`**/a/${id}`)
      await context.close()
    },
    ms,
  )

  test(
    'plays in a frame of another site, by the code that it offers there',
    async () => {
      const response = await fetch(
        `${origin}/oembed?url=${encodeURIComponent(`${origin}/a/${id}`)}`,
      )
      const { html: code } = Object(await response.json())
      const headers = { 'content-type': 'text/html' }
      const blog = Bun.serve({ port: 0, fetch: () => new Response(String(code), { headers }) })
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${blog.port}/`)
      const shell = page.frameLocator('iframe')
      await shell.frameLocator('iframe').locator('main').waitFor()
      expect(await page.evaluate<number>(frameWidth)).toBe(960)
      await page.close()
      await blog.stop(true)
    },
    ms,
  )

  test(
    'shares a card, a QR code and a code to embed, which the maker can turn off',
    async () => {
      const mona = await createTestPerson(t, 'mona')
      await mona.call('POST', '/claim', {
        code: (await ann.call('POST', '/me/claim')).text('claim.code'),
      })
      const item = await ann.publish({ title: 'Buoy', html, store: true })
      const context = await browser.newContext()
      const [name = '', value = ''] = (await createTestSession(t, mona)).cookie.split('=')
      await context.addCookies([{ name, value, url: origin }])
      const [guest, own] = [await browser.newPage(), await context.newPage()]
      const share = guest.getByRole('dialog', { name: 'Share' })
      const openShare = async (): Promise<void> => {
        await guest.goto(`${origin}/explore/${item}`)
        await guest.getByRole('button', { name: 'Share' }).click()
        await share.getByLabel('Link').waitFor()
      }
      await openShare()
      expect(await guest.evaluate<unknown>(cardOf)).toEqual({
        title: 'Buoy by @ann',
        twitter: 'summary_large_image',
        size: [1_200, 630],
      })
      const hasCode = "document.querySelector('#sharing img').decode().then(() => true)"
      expect(await guest.evaluate<boolean>(hasCode)).toBe(true)
      const code = await share.getByLabel('Embed code').inputValue()
      expect(code).toContain(
        `src="${origin}/a/${item}/embed" title="Buoy" width="960" height="600"`,
      )

      t.clock.advance(minute)
      await own.goto(`${origin}/studio/${item}/listing`)
      await own.getByLabel('Embedding on other sites').selectOption('Only this site shows it')
      await own.getByRole('button', { name: 'Save', exact: true }).first().click()
      await own.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
      await openShare()
      expect(await share.getByLabel('Embed code').count()).toBe(0)
      const link = await fetch(`${origin}/oembed?url=${encodeURIComponent(`${origin}/a/${item}`)}`)
      expect(await link.json()).toMatchObject({ type: 'link', title: 'Buoy' })
      // A page that has the code already gets a message in its frame.
      await guest.goto(`${origin}/a/${item}/embed`)
      await guest.getByRole('heading', { name: 'Not shown on other sites' }).waitFor()
      await Promise.all([context.close(), guest.close()])
    },
    ms,
  )

  test(
    'lets a person rate an app as soon as it plays in place, without a reload',
    async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(`${origin}/sign-up`)
      await page.getByLabel('Username or email').fill('olga')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByRole('link', { name: 'I saved my codes' }).waitFor()
      await page.goto(`${origin}/explore/${id}`)
      await page.getByText('it first, then rate it.').waitFor()
      await page.locator('play-here a').click()
      await page.frameLocator('play-here iframe').frameLocator('iframe').locator('body').waitFor()
      await page.getByRole('radio', { name: '5 of 5' }).click()
      await page.getByRole('heading', { name: 'Your review' }).waitFor()
      expect(await page.getByText('1 rating').count()).toBeGreaterThan(0)
      await context.close()
    },
    ms,
  )
})
