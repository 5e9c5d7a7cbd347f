import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext, Page } from 'playwright-core'

import { findHistory } from '../../gateway/usage/operations.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
import { findByName } from '../../people/people.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import {
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import { fund, password } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'

const ms = 120_000
const path = '/wallet/playground'

describe.skipIf(findBrowser('chromium') === undefined)('the playground in chromium', () => {
  let browser: Browser
  let demo: TestServer
  let origin = ''
  let close: BrowserSession['close']
  let faked: FakeUpstreamServer

  beforeAll(async () => {
    demo = await startTestServer()
    ;({ browser, origin, close } = await openBrowserSession(() => demo))
    faked = await startFakeUpstreamServer()
  }, ms)
  afterAll(async () => {
    await close()
    await demo.close()
    await faked.close()
  })

  /** Signs up a person with 1 USD. */
  async function person(
    name: string,
    h: TestServer,
    at: string,
    usd = 1n,
  ): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
    const page = await context.newPage()
    await page.goto(`${at}/sign-up`)
    await page.fill('input[name=name]', name)
    await page.fill('input[name=password]', password)
    await page.click('main form[action="/sign-up"] button')
    await page.locator('.codes').waitFor()
    await page.close()
    const made = await findByName(h.ctx, name)
    if (made && usd > 0n) await fund(h.ctx, made, usd)
    return context
  }

  async function walletOf(h: TestServer, name: string) {
    const owner = {
      kind: 'gateway',
      owner: (await findByName(h.ctx, name))?.wallet ?? '',
    } as const
    const { data, total } = await findHistory(h.ctx, `gateway:${owner.owner}`, {})
    return { ...(await balanceOf(h.ctx, owner)), newest: data[0], total }
  }

  /** Opens the playground and collects CSP violations and errors. */
  async function play(context: BrowserContext, at: string, model: string) {
    const errors: string[] = []
    const page = await context.newPage()
    page.on('pageerror', (error) => void errors.push(error.message))
    page.on('console', (line) => {
      if (/Content.Security.Policy/i.test(line.text())) errors.push(line.text())
    })
    await page.goto(`${at}${path}?model=${encodeURIComponent(model)}`)
    return { page, errors }
  }

  const words = (page: Page) => page.locator('.turn-text').allInnerTexts()
  const stop = (page: Page) => page.getByRole('button', { name: 'Stop', exact: true })
  const summary = (page: Page, nth: number) => page.locator('.turn .summary').nth(nth)

  test(
    'renders replies as Markdown without HTML, keeps the history and shows the code',
    async () => {
      const context = await person('olga', demo, origin)
      const { page, errors } = await play(context, origin, 'demo/chat')
      const markup =
        '<img src=x onerror="alert(1)">\n\n**bold** [a](javascript:alert(2)) ![b](https://x.invalid/y.png)\n\n```js\nlet one\n```'
      await page.fill('textarea[name=system]', 'Be brief.')
      await page.fill('textarea[name=text]', markup)
      await page.press('textarea[name=text]', 'Enter')
      expect(await summary(page, 0).innerText()).toMatch(
        /^\d+ tokens in, \d+ out · [\d.]+ credits · /,
      )
      expect(await summary(page, 0).getAttribute('title')).toMatch(/^0\.\d+ credits, \$0\.0/)
      expect((await words(page))[0]).toBe(markup)
      const reply = page.locator('.turn.assistant .turn-text')
      expect(await reply.locator('strong').innerText()).toBe('bold')
      expect(await reply.innerText()).toContain('<img src=x onerror="alert(1)">')
      expect(await reply.locator('img, [href^=javascript]').count()).toBe(0)
      expect(await reply.locator('copy-line button').innerText()).toBe('Copy')
      expect(await page.locator('[data-left]').innerText()).toMatch(
        /^999\.9\d+ credits$|^1,000 credits$/,
      )
      await page.fill('textarea[name=text]', 'And again')
      await page.click('text=Send')
      await summary(page, 1).waitFor()
      expect((await words(page)).slice(2)).toEqual(['And again', 'And again'])
      const { newest, total, held, balance } = await walletOf(demo, 'olga')
      expect([total, Number(held), newest?.source]).toEqual([2, 0, 'web'])
      expect(balance < 1_000_000_000n).toBe(true)
      await page.getByRole('button', { name: 'Get code' }).click()
      const dialog = page.getByRole('dialog', { name: 'Code' })
      await dialog.getByText('Python', { exact: true }).click()
      expect(await dialog.locator('[data-language=python] code').innerText()).toContain(
        '"content": "Be brief.",',
      )
      await dialog.getByRole('button', { name: 'Close' }).click()
      // The conversation is in the history of this browser.
      await page.reload()
      expect(await words(page)).toEqual([])
      await page.getByRole('button', { name: 'History' }).click()
      expect(await findViolations(page)).toEqual([])
      await page.locator('.history-open').click()
      expect(await words(page)).toHaveLength(4)
      expect(errors).toEqual([])
      await context.close()
    },
    ms,
  )

  test(
    'compares two models, attaches a file and keeps the parameters of each kind',
    async () => {
      const context = await person('rita', demo, origin)
      const { page, errors } = await play(context, origin, 'demo/chat')
      // The links of results have the configured address of the server.
      await page.route('http://localhost:3000/**', async (route) => {
        const url = route.request().url().replace('http://localhost:3000', origin)
        await route.fulfill({ response: await route.fetch({ url }) })
      })
      await page.getByRole('button', { name: 'Compare', exact: true }).click()
      // The second model is one that chats, not the builder of pages.
      const models = page.locator('.pane select')
      expect(await models.nth(1).inputValue()).not.toBe(await models.first().inputValue())
      expect(await models.nth(1).locator('option[value="demo/builder"]').count()).toBe(0)
      await models.nth(1).selectOption('demo/omni')
      const notes = {
        name: 'notes.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('Low at nine'),
      }
      await page.locator('input[type=file]').setInputFiles(notes)
      await page.locator('.attach .files li', { hasText: /^notes\.txt/ }).waitFor()
      await page
        .locator('.attach .files li', { hasText: 'uploading' })
        .waitFor({ state: 'detached' })
      await page.fill('textarea[name=text]', 'When?')
      await page.press('textarea[name=text]', 'Enter')
      await summary(page, 1).waitFor()
      for (const pane of await page.locator('.pane').all()) {
        expect(await pane.locator('.turn.assistant').innerText()).toContain('Low at nine')
      }
      expect(await findViolations(page)).toEqual([])
      await page.locator('.pane select').first().selectOption('demo/image')
      expect(await page.locator('.pane').count()).toBe(1)
      await page.locator('fieldset:not([hidden]) select[name=size]').waitFor()
      await page.fill('textarea[name=text]', 'A boat')
      await page.press('textarea[name=text]', 'Enter')
      await page.locator('.turn img').waitFor()
      expect(await summary(page, 0).innerText()).toStartWith('1 image · ')
      await page.locator('.pane select').first().selectOption('demo/speech')
      await page.fill('textarea[name=text]', 'Ahoy')
      await page.press('textarea[name=text]', 'Enter')
      await page.locator('.turn audio').waitFor()
      const speech = await page.locator('.turn audio').getAttribute('src')
      const plays = `new Promise((resolve) => {
        const audio = new Audio(${JSON.stringify(speech)})
        audio.onloadedmetadata = () => resolve(true)
        audio.onerror = () => resolve(false)
      })`
      expect(await page.evaluate<boolean>(plays)).toBe(true)
      await page.locator('.pane select').first().selectOption('demo/transcription')
      // The audio of a closed conversation does not stay in memory.
      await page.locator('.turn audio').waitFor({ state: 'detached' })
      expect(await page.evaluate<boolean>(plays)).toBe(false)
      const sound = { name: 'a.wav', mimeType: 'audio/wav', buffer: Buffer.from(makeWav()) }
      await page.locator('input[type=file]').setInputFiles(sound)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      expect(await summary(page, 0).innerText()).toMatch(/^1 second · /)
      expect(errors).toEqual([])
      await context.close()
    },
    ms,
  )

  test(
    'says what is missing where there is no second model to compare with',
    async () => {
      const context = await person('single', demo, origin)
      const { page } = await play(context, origin, 'demo/transcription')
      await page.getByRole('button', { name: 'Compare', exact: true }).click()
      await page.getByText('Comparing needs a second model of this kind.').waitFor()
      await context.close()
    },
    ms,
  )

  test(
    'stops a stream, keeps its text and charges once',
    async () => {
      const context = await person('stopper', faked, faked.origin)
      const { page, errors } = await play(context, faked.origin, 'fake/hang-middle')
      await page.fill('textarea[name=text]', 'Say hello.')
      await page.press('textarea[name=text]', 'Enter')
      await page.locator('.turn.assistant .turn-text', { hasText: 'Hello' }).waitFor()
      expect((await walletOf(faked, 'stopper')).held > 0n).toBe(true)
      await stop(page).click()
      expect(await summary(page, 0).innerText()).toContain('stopped')
      const { newest, total, held } = await walletOf(faked, 'stopper')
      expect([total, Number(held), newest?.status]).toEqual([1, 0, 'interrupted'])
      expect(newest?.price_in_usd).toBeGreaterThan(0)
      expect(newest?.price_in_usd).toBeLessThanOrEqual(newest?.held_in_usd ?? 0)
      expect((await words(page))[1]).toStartWith('Hello')
      await stop(page).waitFor({ state: 'detached' })
      expect(errors).toEqual([])
      await context.close()
    },
    ms,
  )

  test(
    'keeps partial text after a stream error and restores the message after an early error',
    async () => {
      const context = await person('unlucky', faked, faked.origin)
      const { page } = await play(context, faked.origin, 'fake/error-event')
      await page.fill('textarea[name=text]', 'Say hello.')
      await page.press('textarea[name=text]', 'Enter')
      await page.locator('.alert').waitFor()
      expect(await summary(page, 0).innerText()).toContain('failed')
      expect((await words(page))[1]).toStartWith('Hello')
      await page.close()
      const poor = await person('broke', demo, origin, 0n)
      const other = (await play(poor, origin, 'demo/chat')).page
      await other.fill('textarea[name=text]', 'Say hello.')
      await other.press('textarea[name=text]', 'Enter')
      expect(await other.locator('.alert').innerText()).toMatch(
        /^This request can cost up to .* ask the operator/,
      )
      expect(await other.inputValue('textarea[name=text]')).toBe('Say hello.')
      expect(await words(other)).toEqual([])
      await poor.clearCookies()
      await other.press('textarea[name=text]', 'Enter')
      await other.waitForURL('**/sign-in?next=*')
      await poor.close()
      await context.close()
    },
    ms,
  )

  test(
    'passes axe-core on the wallet pages and does not scroll sideways',
    async () => {
      const context = await person('viewer', demo, origin)
      const page = await context.newPage()
      for (const place of ['/wallet', '/wallet/ledger', path, '/wallet/history']) {
        await page.goto(origin + place)
        if (place === path) {
          await page.fill('textarea[name=text]', 'Ahoy')
          await page.press('textarea[name=text]', 'Enter')
          await summary(page, 0).waitFor()
        }
        expect([place, ...(await findViolations(page))]).toEqual([place])
      }
      await page.evaluate("document.documentElement.style.fontSize = '200%'")
      const cut =
        '[...document.querySelectorAll("select")].every((one) => one.scrollHeight <= one.clientHeight)'
      expect(await page.evaluate<boolean>(cut)).toBe(true)
      await context.close()
    },
    ms,
  )

  test(
    'works without JavaScript, page by page',
    async () => {
      const signed = await person('plain', demo, origin)
      const context = await browser.newContext({ javaScriptEnabled: false })
      await context.addCookies(await signed.cookies())
      const page = await context.newPage()
      await page.goto(origin + path)
      await page.fill('textarea[name=text]', 'Ahoy\nthere')
      await page.click('text=Send')
      await page.fill('textarea[name=text]', 'Again')
      await page.click('text=Send')
      expect(await words(page)).toEqual(['Ahoy\nthere', 'Ahoy\nthere', 'Again', 'Again'])
      expect(await page.locator('.turn .small').count()).toBe(2)
      await context.close()
      await signed.close()
    },
    ms,
  )
})
