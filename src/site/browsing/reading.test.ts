import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext, Page } from 'playwright-core'

import { languageCodes } from '../../kernel/words/words.ts'
import { findByName } from '../../people/people.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { fund, password } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000
const arabic = 'لعبة القوارب!'

/** Returns the left offset of the first occurrence of each text. */
const leftsOf = (page: Page, within: string, texts: string[]): Promise<number[]> =>
  page.evaluate<number[]>(`${JSON.stringify(texts)}.map((text) => {
    const walker = document.createTreeWalker(document.querySelector('${within}'), NodeFilter.SHOW_TEXT)
    for (let node; (node = walker.nextNode()); ) {
      const at = node.data.indexOf(text)
      if (at < 0) continue
      const range = document.createRange()
      range.setStart(node, at)
      range.setEnd(node, at + text.length)
      return range.getBoundingClientRect().left
    }
  })`)

describe.skipIf(findBrowser('chromium') === undefined)('reading in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let owner: BrowserContext
  let id = ''

  beforeAll(async () => {
    t = await startTestServer()
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    const ann = await t.agent('ann')
    const about = { title: arabic, description: `${arabic} @ann`, store: true }
    id = await ann.publish(about)
    const claim = new URL((await ann.call('POST', '/me/claim')).text('claim.url')).pathname
    owner = await browser.newContext({ viewport: { width: 320, height: 640 } })
    const page = await owner.newPage()
    await page.goto(`${origin}/sign-up?next=${encodeURIComponent(claim)}`)
    await page.fill('input[name=name]', 'olga')
    await page.fill('input[name=password]', password)
    await page.click('main form[action="/sign-up"] button')
    await page.click('.actions .button')
    await page.click('main form button')
    await page.goto(`${origin}/wallet`)
    await page.fill('.three-fields input[name=name]', 'laptop')
    await page.click('.three-fields button')
    await page.waitForSelector('main code')
    const olga = await findByName(t.ctx, 'olga')
    if (olga) await fund(t.ctx, olga, 1n)
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
  })

  test(
    'keeps the order of right-to-left text in fields, messages and quotes',
    async () => {
      const page = await owner.newPage()
      await page.goto(`${origin}/studio/${id}/listing`)
      const isRight = (name: string): Promise<boolean> =>
        page.locator(`[name=${name}]`).evaluate((field) => field.matches(':dir(rtl)'))
      expect([await isRight('title'), await isRight('description')]).toEqual([true, true])
      await page.goto(`${origin}/explore?q=${encodeURIComponent(arabic)}`)
      expect(await isRight('q')).toBe(true)

      await page.goto(`${origin}/wallet/playground?model=demo/chat`)
      await page.fill('textarea[name=text]', 'كم 3 km')
      await page.press('textarea[name=text]', 'Enter')
      await page.locator('.turn .small').waitFor()
      const [first = 0, last = 0] = await leftsOf(page, '.turn.assistant .turn-text', ['كم', 'km'])
      expect(first).toBeGreaterThan(last)

      await page.close()

      const guest = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      await guest.goto(`${origin}/explore/${id}`)
      const prompt = 'copy-line[data-label="Prompt for your agent"] code'
      const [word = 0, mark = 0] = await leftsOf(guest, prompt, ['لعبة', '!'])
      expect(word).toBeGreaterThan(mark)
      await guest.close()
    },
    ms,
  )

  test(
    'key forms and short names fit on a small phone',
    async () => {
      const page = await owner.newPage()
      await page.goto(`${origin}/wallet`)
      for (const button of await page.locator('.keys button:visible').all()) {
        expect((await button.boundingBox())?.width).toBeGreaterThan(40)
      }
      await page.goto(`${origin}/a/${id}`)
      const name = "document.querySelector('#who > :last-child')"
      expect(await page.evaluate(`${name}.scrollWidth <= ${name}.clientWidth`)).toBe(true)
      // A long mixed-direction title keeps its start and loses its end.
      const title = page.locator('h1')
      const long = `Harbour ${arabic} ${'في بحر الشمال العظيم '.repeat(3)}2026`
      await title.evaluate((head, text) => void (head.textContent = text), long)
      const { x = 0, width = 0 } = (await title.boundingBox()) ?? {}
      const [first = 0, year = 0] = await leftsOf(page, 'h1', ['لعبة', '2026'])
      expect([first > x, first < x + width, year > x && year < x + width]).toEqual([
        true,
        true,
        false,
      ])
      await page.close()
    },
    ms,
  )

  test(
    'a small phone has its header in one line, and the start of each title, in every language',
    async () => {
      const long = 'Harbour lights that nobody ever turns off at night, not even in 2026'
      await (await t.agent('ben')).publish({ title: long, store: true })
      for (const locale of languageCodes) {
        const context = await browser.newContext({ locale, viewport: { width: 320, height: 640 } })
        const page = await context.newPage()
        await page.goto(`${origin}/explore?q=harbour`)
        expect([locale, (await page.locator('.top').boundingBox())?.height]).toEqual([locale, 60])
        // The box that cuts the title has the direction of the title, so its end is cut.
        const title = page.locator('.tile h3 bdi')
        expect([
          locale,
          await title.evaluate((one) => one.clientWidth > 0 && one.matches(':dir(ltr)')),
        ]).toEqual([locale, true])
        const { x = 0, width = 0 } = (await title.boundingBox()) ?? {}
        const [first = -1] = await leftsOf(page, '.tile h3', ['Harbour'])
        expect([locale, first >= x - 1 && first < x + width]).toEqual([locale, true])
        await context.close()
      }
    },
    ms,
  )

  test('shows all model prices on a tablet', async () => {
    const page = await browser.newPage({ viewport: { width: 768, height: 1_024 } })
    await page.goto(`${origin}/catalogue`)
    const cut =
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-scroll'))"
    expect(await page.evaluate<number>(cut)).toBe(0)
    await page.close()
  })

  test(
    'does not clip, cover or scroll sideways with text at 150%',
    async () => {
      const page = await owner.newPage()
      const large = "document.documentElement.style.fontSize = '24px'"
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 844 })
        for (const path of ['/docs', '/explore', '/catalogue', '/wallet', `/studio/${id}`]) {
          await page.goto(origin + path)
          await page.evaluate(large)
          await page.evaluate(
            "document.querySelectorAll('.folded').forEach((one) => (one.open = true))",
          )
          const at = `${width} ${path}`
          expect([at, ...(await page.evaluate<string[]>(overflows))]).toEqual([at])
        }
      }
      await page.goto(`${origin}/a/AAAAAAAAAAAA`)
      await page.evaluate(large)
      const size = "getComputedStyle(document.querySelector('p')).fontSize"
      expect(await page.evaluate<string>(size)).toBe('24px')
      await page.close()
    },
    ms,
  )
})

/** Finds clipped selects, text below buttons and content beyond the page. */
const overflows = `(() => {
  const root = document.documentElement
  const found = root.scrollWidth > root.clientWidth ? ['scrolls sideways'] : []
  for (const one of document.querySelectorAll('.search select')) {
    const copy = document.createElement('select')
    const { font, padding } = getComputedStyle(one)
    copy.append(new Option(one.selectedOptions[0].text))
    Object.assign(copy.style, { font, padding, width: 'max-content' })
    document.body.append(copy)
    if (copy.offsetWidth > one.offsetWidth) found.push('cuts ' + one.name)
    copy.remove()
  }
  for (const line of document.querySelectorAll('copy-line')) {
    const button = line.querySelector('button')?.getBoundingClientRect()
    const range = document.createRange()
    range.selectNodeContents(line.querySelector('code'))
    const isUnder = ({ right, top }) => right > button?.left && top < button?.bottom
    if ([...range.getClientRects()].some(isUnder)) found.push('covers ' + line.dataset.what)
  }
  return found
})()`
