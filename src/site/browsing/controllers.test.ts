import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Frame, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const html = `<!doctype html><title>Tanks</title><script>
self.events = []
self.start = async (layout) => {
  try {
    self.pads = await service.room.controller(layout)
    for (const type of ['join', 'leave', 'input'])
      pads.on(type, (event) => events.push({ type, ...event }))
  } catch ({ code }) { return code }
}
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('phones as controllers in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  async function openScreen(): Promise<{ app: string; page: Page; frame: Frame }> {
    const app = await (await t.agent('ann')).publish({ html })
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${origin}/a/${app}`)
    const frame = await until(async (): Promise<Frame | undefined> => {
      const inner = page.mainFrame().childFrames()[0]
      const isReady = await inner?.evaluate(`typeof start`).catch(() => '')
      return isReady === 'function' ? inner : undefined
    })
    return { app, page, frame }
  }

  /** Agrees on the screen, and returns the code that the shell shows. */
  async function readCode(page: Page): Promise<string> {
    const bar = page.getByRole('alertdialog')
    await until(async () => {
      await bar.getByRole('button', { name: 'Share and play' }).click()
      return (await bar.count()) === 0
    })
    const phones = page.getByRole('region', { name: 'Phones as controllers' })
    await phones.waitFor()
    const image = phones.getByRole('img')
    await until(() =>
      image.evaluate((one) => 'naturalWidth' in one && Number(one.naturalWidth) > 0),
    )
    const code = /enter ([A-Z2-9]{5})/.exec((await phones.textContent()) ?? '')?.[1] ?? ''
    expect(await image.getAttribute('src')).toContain(`controller=${code}`)
    return code
  }

  async function openPhone(app: string, code: string): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 390, height: 760 },
      hasTouch: true,
    })
    const page = await context.newPage()
    await page.goto(`${origin}/a/${app}/controller?code=${code}`)
    await page.getByRole('button', { name: 'Connect' }).click()
    return page
  }

  const eventsOf = (frame: Frame): Promise<Record<string, unknown>[]> => frame.evaluate('events')

  test(
    'a phone joins by the code, plays as a numbered player, and leaves',
    async () => {
      const { app, page, frame } = await openScreen()
      await frame.evaluate(`void start({ buttons: ['Fire', 'Jump'], stick: true })`)
      const code = await readCode(page)
      const phone = await openPhone(app, code)
      await phone.getByText('Player 1').waitFor()
      expect(await eventsOf(frame)).toEqual([{ type: 'join', player: 1 }])
      await page.getByText('1 of 8 phones').waitFor()

      await phone.getByRole('button', { name: 'Jump' }).tap()
      const pressed = await until(async () =>
        (await eventsOf(frame)).find(({ pressed }) => String(pressed) === 'Jump'),
      )
      expect(pressed).toMatchObject({ type: 'input', player: 1, stick: { x: 0, y: 0 } })
      await until(async () => Object((await eventsOf(frame)).at(-1)).buttons?.Jump === false)
      // Of fast changes the newest arrives, so the key is held until the stick has moved.
      await phone.getByRole('application').focus()
      await phone.keyboard.down('ArrowLeft')
      await until(async () => (await eventsOf(frame)).some((one) => Object(one['stick']).x === -1))
      await phone.keyboard.up('ArrowLeft')

      const other = await openPhone(app, code)
      await other.getByText('Player 2').waitFor()
      await phone.context().close()
      await until(async () => (await eventsOf(frame)).some(({ type }) => type === 'leave'))
      expect(await frame.evaluate('pads.players.map(({ player }) => player)')).toEqual([2])

      await frame.evaluate('pads.close()')
      await page
        .getByRole('region', { name: 'Phones as controllers' })
        .waitFor({ state: 'detached' })
    },
    ms,
  )

  test(
    'a wrong code and a wrong layout are errors that say so',
    async () => {
      const { app, frame } = await openScreen()
      const codes = await frame.evaluate(
        `Promise.all([{}, { buttons: ['A', 'A'] }, { buttons: Array(9).fill('B') }].map(async (layout) => {
          try { await service.room.controller(layout) } catch ({ code }) { return code }
        }))`,
      )
      expect(codes).toEqual(['bad_request', 'bad_request', 'bad_request'])
      const phone = await openPhone(app, 'ZZZZZ')
      await phone.getByText('No screen has this code').waitFor()
    },
    ms,
  )
})
