/** Pages in a state that an action leads to. */
import { items } from './items.ts'
import type { SampleData } from './sample-data.ts'
import type { Target } from './take.ts'

/** A pasted page with its preview. */
const pastePage: Target = async (page, origin) => {
  await page.goto(`${origin}/new`)
  await page.fill('textarea[name=html]', items[0]?.html ?? '')
  await page.locator('app-preview iframe').waitFor()
}

const openPlaySharing =
  (id: string): Target =>
  async (page, origin) => {
    await page.goto(`${origin}/a/${id}`)
    await page.locator('#share').click()
    await page.locator('#sharing img').waitFor()
  }

/** The menu of the bar above an app. */
const openPlayMenu =
  (id: string): Target =>
  async (page, origin) => {
    await page.goto(`${origin}/a/${id}`)
    await page.locator('#more').click()
    await page.locator('#reload').waitFor()
  }

const openItemSharing =
  (id: string): Target =>
  async (page, origin) => {
    await page.goto(`${origin}/explore/${id}`)
    await page.getByRole('button', { name: 'Share' }).click()
  }

const openMenu: Target = async (page, origin) => {
  await page.goto(origin)
  const button = page.getByRole('button', { name: 'Menu' })
  if (await button.isVisible()) await button.click()
}

const failSignIn: Target = async (page, origin) => {
  await page.goto(`${origin}/sign-in`)
  await page.fill('input[name=name]', 'olga')
  await page.fill('input[name=password]', 'not this password')
  await page.click('main form button')
  await page.locator('[role=alert]').waitFor()
}

let people = 0
/** The recovery codes of a new account. */
const showCodes: Target = async (page, origin) => {
  people += 1
  await page.goto(`${origin}/sign-up`)
  await page.fill('input[name=name]', `guest-${people}`)
  await page.fill('input[name=password]', 'correct horse battery')
  await page.click('main form button')
  await page.locator('.codes').waitFor()
}

/** States by the names of their screenshots. The last one signs its browser in. */
export const states = ({ id }: SampleData): Record<string, Target> => ({
  'make-preview': pastePage,
  'app-share': openPlaySharing(id),
  'app-menu': openPlayMenu(id),
  'item-share': openItemSharing(id),
  menu: openMenu,
  'sign-in-failed': failSignIn,
  'sign-up-codes': showCodes,
})
