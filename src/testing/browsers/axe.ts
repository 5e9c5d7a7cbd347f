import axe from 'axe-core'
import type { Page } from 'playwright-core'

const themes = ['light', 'dark'] as const
const sizes = [
  { width: 1_280, height: 900 },
  { width: 390, height: 844 },
]
/** What still has to fit without scrolling sideways (WCAG 2.2, 1.4.10). */
const narrow = { width: 320, height: 640 }

/** A page hears of another theme with its next frame, and is drawn so with the one after. */
const frame = 'new Promise(requestAnimationFrame)'
/** Of WCAG 2.2, and off unless it is asked for. */
const rules = "{ rules: { 'target-size': { enabled: true } } }"
const violations = `${frame}.then(() => ${frame}).then(() => axe.run(${rules})).then((all) =>
  all.violations.map((one) => one.id + ' ' + one.nodes[0].html))`
const sideways = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'

/**
 * What is wrong with a page in both themes, on a desk and on a phone: what axe-core finds against
 * accessibility, each rule with the element it is about, and that it scrolls sideways.
 */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found: string[] = []
  for (const size of sizes) {
    await page.setViewportSize(size)
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      const faults = await page.evaluate<string[]>(violations)
      found.push(...faults.map((fault) => `${size.width} ${colorScheme}: ${fault}`))
    }
  }
  for (const size of [...sizes, narrow]) {
    await page.setViewportSize(size)
    if (await page.evaluate<boolean>(sideways)) found.push(`${size.width}: scrolls sideways`)
  }
  return found
}
