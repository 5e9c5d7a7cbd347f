import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { type Browser, chromium } from 'playwright-core'

import figures from '../../apps/generators/images/figures.svg' with { type: 'text' }
import { drawnThings } from '../../gateway/providers/demo/builder/game-contents.ts'
import { analyzePrompt } from '../../gateway/providers/demo/builder/prompt-analysis.ts'
import { renderPage } from '../../gateway/providers/demo/builder/render-page.ts'
import { templates } from '../../gateway/providers/demo/builder/templates/templates.ts'
import { isThorough } from '../thorough.ts'
import { findBrowser } from './browser.ts'

/** One prompt for each template of the demo builder. */
const templatePrompts = [
  'a fox collects coins and dodges rocks',
  'memory cards with fish',
  'breakout',
  'snake in neon',
  'a quiz about planets',
  'flappy bird',
  'a dinosaur jumps over cactuses',
  'car racing game',
  'space invaders',
  'tetris',
  '2048',
  'pong',
  'a maze with a mouse that looks for cheese',
  'whack a mole',
  'minesweeper',
  'tic tac toe',
  'connect four',
  'a wordle clone',
  'simon says',
  'hangman',
  'multiplication table trainer',
  'guess the number',
  'rock paper scissors',
  'game of life',
  'typing test',
  'sliding puzzle',
  'sudoku',
  'reaction test',
  'cookie clicker',
  'drum machine with 16 steps',
  'piano',
  'metronome',
  'drawing pad',
  'pixel art editor',
  'color palette generator',
  'dice roller',
  'spin the wheel: Ann, Bob, Cleo, Dan',
  'password generator',
  'kanban board',
  'budget planner',
  'countdown to christmas',
  'stopwatch',
  'breathing exercise',
  'spanish flashcards',
  'tip calculator',
  'unit converter',
  'calculator',
  'world clock',
  'word counter',
  'fireworks',
  'birthday card for Mia',
  'magic 8 ball',
  'scoreboard',
  'packing list with tent, boots and a map',
  'tea timer of 20 minutes',
  'journal',
  'habit tracker',
]

const ms = 300_000
/** CI opens every fourth page. Each template is a fixed file that rarely changes. */
const partInCi = 4
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
  expect(found.toSorted()).toEqual(Object.keys(templates).toSorted())
})

describe.skipIf(findBrowser('chromium') === undefined)('pages of the demo builder', () => {
  let browser: Browser
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
    const executablePath = findBrowser('chromium') ?? ''
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  }, ms)
  afterAll(async () => {
    await browser.close()
    await server.stop(true)
  })

  test(
    'run without an error, fit a phone and react to keys and clicks',
    async () => {
      const context = await browser.newContext({ viewport: { width: 360, height: 640 } })
      const problems: string[] = []
      for (const [at, prompt] of templatePrompts.entries()) {
        if (!isThorough && at % partInCi !== 0) continue
        const page = await context.newPage()
        const report = (text: string) => problems.push(`${prompt}: ${text}`)
        page.on('pageerror', (error) => report(error.message))
        page.on('console', (message) => {
          if (message.type() === 'error') report(message.text())
        })
        await page.goto(`${server.url}${at}`)
        const play = page.locator('#play')
        if ((await play.count()) > 0) await play.click({ timeout: 5_000 })
        for (const key of keys) await page.keyboard.press(key)
        for (const button of (await page.locator('main button:visible').all()).slice(0, 3)) {
          await button.click({ timeout: 1_000, force: true }).catch(() => undefined)
        }
        const sideways = 'document.documentElement.scrollWidth > innerWidth'
        if ((await page.evaluate(sideways)) === true) report('scrolls sideways')
        if ((await page.locator('h1').first().textContent()) === '') report('has no title')
        await page.close()
      }
      expect(problems).toEqual([])
    },
    ms,
  )
})
