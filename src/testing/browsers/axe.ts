import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe-core finds against accessibility on a page: each rule with the element it is about. */
export async function violationsOn(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const of = '(all) => all.violations.map((one) => one.id + " " + one.nodes[0].html)'
  return page.evaluate<string[]>(`axe.run().then(${of})`)
}
