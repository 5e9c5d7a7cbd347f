import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import figures from '../../apps/generators/images/figures.svg' with { type: 'text' }
import { templateNames } from '../../gateway/providers/demo/builder/catalog.ts'
import { drawnThings } from '../../gateway/providers/demo/builder/game-contents.ts'
import { analyzePrompt } from '../../gateway/providers/demo/builder/prompt-analysis.ts'
import { renderPage } from '../../gateway/providers/demo/builder/render-page.ts'
import { isThorough } from '../thorough.ts'
import { findBrowser, findForPages } from './browser.ts'
import { borrowBrowser } from './session.ts'

/** One prompt for each template of the demo builder. */
const templatePrompts = [
  'a fox collects coins and dodges rocks',
  'a snake that eats strawberries',
  'a quiz about planets',
  'packing list with tent, boots and a map',
  'tea timer of 20 minutes',
  'a game master that talks and remembers me',
]

const schemes = ['light', 'dark'] as const
/** CI opens each page in one theme. */
const views = schemes
  .flatMap((scheme) => templatePrompts.map((prompt, at) => [scheme, at, prompt] as const))
  .filter(([scheme, at]) => isThorough || scheme === schemes[at % 2])
const viewport = { width: 360, height: 640 }
/** Compares the lightness of the text and of the page: `oklch(0.27 ...)`. */
const isTextDarker = `((text, page) => text < page)(
  ...[getComputedStyle(document.body).color, getComputedStyle(document.documentElement).backgroundColor]
    .map((color) => Number(/oklch\\(([.\\d]+)/.exec(color)[1])))`

const ms = 300_000
const keys = ['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown', ' ', '1', '5', 'a', 'Enter']

test('has a drawing of every thing that games show', () => {
  const classes = [...String(figures).matchAll(/<symbol class="(.*?)">/g)]
  const drawn = new Set(classes.flatMap(([, words = '']) => words.split(' ')))
  expect(drawnThings.filter((thing) => !drawn.has(thing))).toEqual([])
})

test('has a prompt for every template', () => {
  const found = templatePrompts.map((prompt) => {
    const spec = analyzePrompt(prompt)
    return 'declined' in spec ? spec.declined : spec.template
  })
  expect(found.toSorted()).toEqual(templateNames.toSorted())
})

describe.skipIf(findBrowser('chromium') === undefined)('pages of the demo builder', () => {
  let browser: Browser
  let giveBack: () => Promise<void>
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const at = Number(new URL(request.url).pathname.slice(1))
      const spec = analyzePrompt(templatePrompts[at] ?? '')
      const page = 'declined' in spec ? '' : renderPage(spec)
      return new Response(page, { headers: { 'content-type': 'text/html' } })
    },
  })

  beforeAll(async () => {
    ;({ browser, giveBack } = await borrowBrowser(findForPages() ?? ''))
  }, ms)
  afterAll(async () => {
    await giveBack()
    await server.stop(true)
  })

  test(
    'run without an error, fit a phone and react to keys and clicks, in light and dark',
    async () => {
      const problems: string[] = []
      for (const colorScheme of schemes) {
        // One page for all of a theme, because a new one starts a cold process.
        const context = await browser.newContext({ viewport, colorScheme })
        const page = await context.newPage()
        let shown = ''
        const report = (text: string) => problems.push(`${shown}, ${colorScheme}: ${text}`)
        page.on('pageerror', (error) => report(error.message))
        page.on('console', (message) => {
          if (message.type() === 'error') report(message.text())
        })
        for (const [scheme, at, prompt] of views) {
          if (scheme !== colorScheme) continue
          shown = prompt
          await page.goto(`${server.url}${at}`)
          for (const problem of await tryPage(page, colorScheme)) report(problem)
        }
        await context.close()
      }
      expect(problems).toEqual([])
    },
    ms,
  )
})

/** Plays a page with keys and clicks. Returns its problems. */
async function tryPage(page: Page, colorScheme: (typeof schemes)[number]): Promise<string[]> {
  const problems: string[] = []
  const play = page.locator('#play')
  if ((await play.count()) > 0) await play.click({ timeout: 5_000 })
  for (const key of keys) await page.keyboard.press(key)
  for (const button of (await page.locator('main button:visible').all()).slice(0, 3)) {
    await button.click({ timeout: 1_000, force: true }).catch(() => undefined)
  }
  const sideways = 'document.documentElement.scrollWidth > innerWidth'
  if ((await page.evaluate(sideways)) === true) problems.push('scrolls sideways')
  if ((await page.locator('h1').first().textContent()) === '') problems.push('has no title')
  const isDarkOnLight = await page.evaluate(isTextDarker)
  const isOfTheme = isDarkOnLight === (colorScheme === 'light')
  if (!isOfTheme) problems.push('has the colors of the other theme')
  return problems
}
