import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser, findWhole } from '../../testing/browsers/browser.ts'
import {
  borrowBrowser,
  type BrowserSession,
  openServedSession,
} from '../../testing/browsers/session.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000

/** Counts its clicks in storage, which only the shell of its own frame may keep. */
const counter = `<!doctype html><title>Counter</title><button style="font-size:60px">0</button><script>
const b = document.querySelector('button'); b.textContent = localStorage.n || 0
b.onclick = () => { localStorage.n = b.textContent = +b.textContent + 1 }</script>`

/** Plays a context and an element. */
const noise = `<!doctype html><title>Noise</title><button>0</button><audio id=tune loop
src="data:audio/wav;base64,UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
></audio><script>
var context = new AudioContext()
context.createOscillator().connect(context.destination)
var changes = 0
tune.onvolumechange = () => changes++
tune.play().catch(() => {})</script>`

describe.skipIf(findBrowser('chromium') === undefined)('shelves in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let id = ''

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    const ann = await t.agent('ann')
    await ann.publish({ title: 'Fog', kind: 'game', store: true })
    t.clock.advance(1_000)
    id = await ann.publish({ title: 'Counter', html: counter, kind: 'game', store: true })
  }, ms)
  afterAll(() => close())

  /** The button of the app below `path`, in the innermost frame. */
  const appButton = (page: Page) =>
    page
      .frames()
      .findLast((frame) => frame.url().endsWith('/frame'))
      ?.locator('button')

  async function waitForApp(page: Page, text: string) {
    await until(() => page.evaluate<boolean>('document.querySelector("iframe") !== null'))
    const shown = async (): Promise<boolean> =>
      (await appButton(page)
        ?.textContent()
        .catch(() => '')) === text
    await until(shown)
    return appButton(page)
  }

  test(
    'plays in place on the home page and keeps what the app saves',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 1_000 } })
      const reported: string[] = []
      page.on(
        'console',
        (message) => void (message.type() === 'error' && reported.push(message.text())),
      )
      await page.goto(origin)
      await page.evaluate('addEventListener("message", (e) => (self.leaked = e.data))')
      await page.locator('.poster').click()
      await (await waitForApp(page, '0'))?.click()
      await waitForApp(page, '1')
      // Saves go to the shell that shows the app, never to the page around it.
      expect(await page.evaluate('self.leaked ?? null')).toBeNull()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.locator('.poster').waitFor()
      await page.goto(`${origin}/a/${id}`)
      await waitForApp(page, '1')
      expect(reported).toEqual([])
      await page.close()
    },
    ms,
  )

  test(
    'the bar leaves after three seconds, comes back at the edge and by Esc, and shares the link',
    async () => {
      const { browser: whole, giveBack } = await borrowBrowser(findWhole() ?? '')
      const context = await whole.newContext()
      await context.grantPermissions(['clipboard-read'])
      await context.addInitScript('navigator.share = async (data) => { self.shared = data }')
      const page = await context.newPage()
      await page.clock.install()
      await page.goto(`${origin}/a/${id}`)
      const header = page.locator('header')
      await page.mouse.move(400, 400)
      await header.waitFor({ state: 'hidden' })
      // The app has the keyboard.
      await (await waitForApp(page, '0'))?.focus()
      await page.clock.pauseAt(new Date(2100, 0))
      await page.keyboard.press('Escape')
      await header.waitFor({ state: 'visible' })
      await page.clock.runFor(2_900)
      expect(await header.isVisible()).toBe(true)
      await page.clock.runFor(200)
      await header.waitFor({ state: 'hidden' })
      await page.clock.resume()
      await page.mouse.move(400, 2, { steps: 4 })
      await header.waitFor({ state: 'visible' })
      await page.locator('#share').click()
      await page.locator('#sharing img').waitFor()
      expect(await page.getByLabel('Link').inputValue()).toBe(`${origin}/a/${id}`)
      await page.getByRole('button', { name: 'Share with …' }).click()
      const shared = { url: `${origin}/a/${id}`, title: await page.title() }
      expect(await page.evaluate('self.shared')).toEqual(shared)
      await page.getByRole('button', { name: 'Copy link' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      // The policy of the play page blocks the clipboard API.
      const other = await context.newPage()
      await other.goto(`${origin}/explore/${id}`)
      await other.bringToFront()
      expect(await other.evaluate('navigator.clipboard.readText()')).toBe(`${origin}/a/${id}`)
      await page.bringToFront()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Next' }).click()
      await page.waitForURL((url) => url.pathname.startsWith('/a/') && !url.href.includes(id))
      await giveBack()
    },
    ms,
  )

  test(
    'the sound button mutes an app, and stays off for the next start and page',
    async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      const path = `/a/${await (await t.agent('cleo')).publish({ html: noise })}`
      /** Waits for a level of Web Audio, and changes of the element. It keeps the app's `muted`. */
      const waitForLevel = async (gain: number, changes: number) => {
        await waitForApp(page, '0')
        const level = async (): Promise<unknown> => {
          const app = page.frames().findLast((frame) => frame.url().endsWith('/frame'))
          return app?.evaluate('String([context.destination.gain.value, changes, tune.muted])')
        }
        await until(async () => (await level()) === `${gain},${changes},false`)
      }
      await page.goto(origin + path)
      await waitForLevel(1, 0)
      const button = page.getByRole('button', { name: 'Mute' })
      /** Presses the button, at the edge where the bar of a running app comes back. */
      const press = async (): Promise<void> => {
        await page.mouse.move(640, 400)
        await page.mouse.move(640, 3)
        await button.click()
      }
      await press()
      expect(await button.getAttribute('aria-pressed')).toBe('true')
      await waitForLevel(0, 1)
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('button', { name: 'Restart' }).click()
      await page.goto(origin + path)
      await waitForLevel(0, 1)
      await press()
      await waitForLevel(1, 2)
      await context.close()
    },
    ms,
  )

  test(
    'the slash moves to the search, and the menu opens without scripts',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      await page.goto(origin)
      await page.keyboard.press('/')
      await page.keyboard.type('fog')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/explore?q=fog')
      expect(await page.locator('.tile h3').allTextContents()).toEqual(['Fog'])
      await page.close()
      const context = await browser.newContext({
        javaScriptEnabled: false,
        viewport: { width: 390, height: 844 },
      })
      const phone = await context.newPage()
      await phone.goto(origin)
      await phone.getByRole('button', { name: 'Menu' }).click()
      await phone.getByRole('link', { name: 'Models', exact: true }).click()
      await phone.waitForURL('**/catalogue')
      await context.close()
    },
    ms,
  )

  test(
    'an item with its share panel has no violations',
    async () => {
      const page = await browser.newPage()
      await page.goto(`${origin}/explore/${id}`)
      await page.getByRole('button', { name: 'Share' }).click()
      expect(await findViolations(page)).toEqual([])
      await page.close()
    },
    ms,
  )
})
