/** A wallet with credits, API keys and usage of some models. */
import { join } from 'node:path'

import type { Browser } from 'playwright-core'

import type { BerthServer } from '../bench/load/served.ts'
import type { SessionState } from './owner.ts'

const main = join(import.meta.dir, '../../src/main.ts')

/** The pages of a wallet by the names of their screenshots. */
export const walletPaths = {
  wallet: '/wallet',
  'wallet-90-days': '/wallet?days=90',
  'wallet-add': '/wallet/add',
  'wallet-usage': '/wallet/history',
  'wallet-ledger': '/wallet/ledger',
  'wallet-none': '/wallet/history?to=2026-01-01',
  'wallet-playground': '/wallet/playground',
}

/** Grants 5 USD to a person. */
export async function grantCredits({ dataDir }: BerthServer, name: string): Promise<void> {
  const command = [process.execPath, main, 'grant', name, '5']
  const grant = Bun.spawn(command, { env: { PATH: Bun.env.PATH, DATA_DIR: dataDir } })
  if ((await grant.exited) !== 0) throw new Error('The grant failed.')
}

/**
 * Grants 5 USD to olga, creates two keys, calls each chat model twice and creates an invoice.
 * Returns the pages of the invoice and of a key.
 */
export async function fillWallet(
  browser: Browser,
  ctx: BerthServer,
  storageState: SessionState,
): Promise<Record<string, string>> {
  await grantCredits(ctx, 'olga')
  const context = await browser.newContext({ storageState, javaScriptEnabled: false })
  const page = await context.newPage()
  const at = `http://localhost:${ctx.port}/wallet`
  for (const [name, cap] of [
    ['laptop', '500'],
    ['nightly build', ''],
  ] as const) {
    await page.goto(at)
    await page.fill('.three-fields input[name=name]', name)
    await page.fill('.three-fields input[name=dailyCap]', cap)
    await page.click('.three-fields button')
  }
  for (const model of ['demo/chat', 'demo/omni', 'demo/small']) {
    await page.goto(`${at}/playground?model=${model}`)
    for (const text of ['How far is the harbour?', 'And by night?']) {
      await page.fill('textarea[name=text]', text)
      await page.click('.actions .button')
    }
  }
  await page.goto(`${at}/add`)
  await page.fill('input[name=amount]', '20')
  await page.click('main form button')
  await page.waitForSelector('.invoice')
  const { pathname } = new URL(page.url())
  await page.goto(at)
  const key = await page.locator('main a[href^="/wallet/keys/"]').first().getAttribute('href')
  await context.close()
  return { 'wallet-invoice': pathname, 'wallet-key': key ?? '' }
}
