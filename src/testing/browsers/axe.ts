import { readFileSync } from 'node:fs'

import type { Page } from 'playwright-core'

import { isThorough } from '../thorough.ts'

/** Each page parses it, so it is the small one. */
const axeScript = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8')

const desktop = { width: 1_280, height: 900 }
const phone = { width: 390, height: 844 }
/** Viewport that a page must fit without horizontal scrolling (WCAG 2.2, 1.4.10). */
const narrow = { width: 320, height: 640 }

/** A theme change reaches the page with the next frame and is painted with the one after. */
const frame = 'new Promise(requestAnimationFrame)'
const painted = `${frame}.then(() => ${frame})`
/** Only violations are described, which is faster. axe-core leaves off this rule of WCAG 2.2. */
const allRules = "rules: { 'target-size': { enabled: true } }"
/** A theme changes colors only. */
const rulesOfColors = "runOnly: ['color-contrast', 'link-in-text-block']"
const looks = [
  [desktop, 'light', allRules],
  [phone, 'dark', allRules],
  [desktop, 'dark', rulesOfColors],
  [phone, 'light', allRules],
] as const
/** CI checks a page in the first or the second look, by the length of its path. */
const looksOf = (page: Page) => {
  const at = new URL(page.url()).pathname.length % 2
  return isThorough ? looks : looks.slice(at, at + 1)
}
const violations = (rules: string, within: string): string =>
  `${painted}.then(() => axe.run('${within}', { resultTypes: ['violations'], preload: false, ${rules} }))
    .then((all) => all.violations.map((one) => one.id + ' ' + one.nodes[0].html))`
/** Charts take a new width with the next frame. */
const sideways = `${painted}.then(() =>
  document.documentElement.scrollWidth > document.documentElement.clientWidth)`

/** Checks whether a page is wider than its window. */
export const scrollsSideways = (page: Page): Promise<boolean> => page.evaluate<boolean>(sideways)

/** Returns the axe-core violations of a page as it is shown, each with an element. */
export async function runAxe(page: Page, rules = allRules, within = 'html'): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in self"))) await page.evaluate(axeScript)
  return page.evaluate<string[]>(violations(rules, within))
}

/**
 * Returns the problems of a page: each axe-core violation with its element, in both themes on a
 * desktop and on a phone (in CI, in one of these), and horizontal scrolling. `within` selects the
 * elements to check.
 */
export async function findViolations(page: Page, within?: string): Promise<string[]> {
  const violationsFound: string[] = []
  for (const [size, colorScheme, rules] of looksOf(page)) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme })
    const texts = await runAxe(page, rules, within)
    violationsFound.push(...texts.map((text) => `${size.width} ${colorScheme}: ${text}`))
  }
  for (const size of [desktop, phone, narrow]) {
    await page.setViewportSize(size)
    if (await scrollsSideways(page)) violationsFound.push(`${size.width}: scrolls sideways`)
  }
  return violationsFound
}
