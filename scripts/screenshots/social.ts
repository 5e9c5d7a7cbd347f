/** A collection, followed makers and notifications of a person. */
import type { Browser } from 'playwright-core'

import { asRecord, type BerthServer } from '../bench/load/served.ts'
import type { SessionState } from './owner.ts'

const maker = 'reef-light'

/** A page with a cover that shows something. */
const pageOf = (title: string): string =>
  `<!doctype html><title>${title}</title><style>body{margin:0;min-height:100vh;display:grid;place-content:center;background:linear-gradient(#f6d7a7,#7fb7be 55%,#1f5f6b);color:#10333f;font:9vmin system-ui}</style><h1>${title}</h1>`

/** Follows a maker, who then publishes, and saves items to two collections. Returns the pages. */
export async function fillSocial(browser: Browser, ctx: BerthServer, storageState: SessionState) {
  const key = String((await ctx.call('POST', '/keys', { handle: maker }))['key'])
  const publish = async (title: string): Promise<string> => {
    const app = { html: pageOf(title), title, store: true }
    const made = await ctx.call('POST', '/apps', app, key)
    return String(asRecord(made['app'])['id'])
  }
  const first = await publish('Low Water')
  const at = `http://localhost:${ctx.port}`
  const context = await browser.newContext({ storageState })
  const page = await context.newPage()
  await page.goto(`${at}/explore/@${maker}`)
  await page.getByRole('button', { name: 'Follow' }).click()
  await publish('High Water')
  const { items } = await ctx.call('GET', '/explore?limit=9&sort=played')
  const ids = Array.isArray(items) ? items.map((one) => String(asRecord(one)['id'])) : []
  await page.goto(`${at}/explore/${first}`)
  await page.getByLabel('Save to a collection').click()
  await page.getByLabel('New collection').fill('One for the train')
  await page.getByRole('button', { name: 'Create and save' }).click()
  await page.goto(`${at}/collections`)
  await page.getByRole('button', { name: 'New collection' }).click()
  await page.getByLabel('Title').fill('Rainy evenings')
  await page.getByLabel('Description').fill('Quiet games that need no sound and no hurry.')
  await page.getByRole('button', { name: 'Create collection' }).click()
  await page.waitForURL('**/collections/*')
  const { pathname } = new URL(page.url())
  for (const id of ids) {
    await page.goto(`${at}/explore/${id}`)
    await page.getByLabel('Save to a collection').click()
    await page.getByRole('button', { name: 'Rainy evenings' }).click()
    await page.waitForURL(`**${pathname}`)
  }
  await page.goto(`${at}${pathname}?edit=yes`)
  await page.getByRole('button', { name: 'Remove' }).first().click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  const [removed = ''] = ids
  const [, other = ''] = ids
  await context.close()
  return {
    collection: pathname,
    'collection-edit': `${pathname}?edit=yes`,
    'collection-removed': `${pathname}?edit=yes&removed=${removed}`,
    following: '/notifications/following',
    'item-signed-in': `/explore/${other}`,
    'item-remix': `/explore/${other}/remix`,
  }
}
