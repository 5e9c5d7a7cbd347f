import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Browser, BrowserContext, Frame, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 180_000
const samples = join(import.meta.dir, '../../../public/samples')

describe.skipIf(findBrowser('chromium') === undefined)('samples that use service', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  const publish = async (name: string): Promise<string> =>
    (await t.agent('ann')).publish({
      html: readFileSync(join(samples, name, 'index.html'), 'utf8'),
    })
  /** Returns the frame of the app, which some browsers have inside another one. */
  const appOf = (page: Page): Frame => page.frames().at(-1) ?? page.mainFrame()

  /** Opens an app, and agrees in its bar. The first moment counts no press. */
  async function open(context: BrowserContext, id: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`${origin}/a/${id}`)
    await page.locator('html[data-started]').waitFor({ state: 'attached' })
    return page
  }
  async function agree(page: Page, name: string): Promise<void> {
    const bar = page.getByRole('alertdialog')
    await bar.waitFor()
    await until(async () => {
      await bar
        .getByRole('button', { name })
        .click({ timeout: 500 })
        .catch(() => undefined)
      return (await bar.count()) === 0
    })
  }

  test(
    'two windows stitch one quilt, and a third finds it',
    async () => {
      const id = await publish('patchwork')
      const join = async (): Promise<Page> => {
        const page = await open(await browser.newContext(), id)
        await agree(page, 'Share')
        return page
      }
      /** The thread of the stitch in the middle. */
      const middle = (page: Page): Promise<number> =>
        appOf(page).evaluate<number>('cells.get(keyOf(wide >> 1, high >> 1))')
      const stitch = async (page: Page, thread: string): Promise<void> => {
        await appOf(page).getByRole('button', { name: thread }).click()
        await appOf(page).locator('#quilt').focus()
        await page.keyboard.press('Space')
      }
      const [first, second] = [await join(), await join()]
      await appOf(first).getByText('2 are stitching').waitFor()
      await stitch(first, 'Teal')
      await until(async () => (await middle(second)) === 7)
      await stitch(second, 'Moss')
      await until(async () => (await middle(first)) === 5)
      const third = await join()
      await until(async () => (await middle(third)) === 5)
    },
    ms,
  )

  test(
    'the ferry is told by a demo model, and knows the player on the next visit',
    async () => {
      const id = await publish('last-ferry')
      const { cookie } = await createTestSession(t, await createTestPerson(t, 'ada', 1n))
      const context = await browser.newContext()
      const [key = '', value = ''] = cookie.split('=')
      await context.addCookies([{ name: key, value, url: origin }])
      const page = await open(context, id)
      await appOf(page).getByRole('button', { name: 'Play with a game master' }).click()
      await agree(page, 'Allow')
      const words = appOf(page).getByRole('textbox', { name: 'What do you do?' })
      await until(() => words.isEnabled())
      await words.fill('my name is Ada')
      await words.press('Enter')
      await appOf(page).getByText('“Ada,” says the fog').waitFor()
      await until(() => words.isEnabled())
      const again = await open(context, id)
      await appOf(again).getByText('The pier remembers you, Ada.').waitFor()
      // All choices are one row, which scrolls by itself on a phone.
      await page.setViewportSize({ width: 390, height: 844 })
      const widthOf = (of: string): Promise<number> => appOf(page).evaluate<number>(of)
      await until(async () => (await widthOf('innerWidth')) === 390)
      expect(await widthOf('document.documentElement.scrollWidth')).toBe(390)
    },
    ms,
  )
})
