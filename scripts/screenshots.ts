/**
 * `bun scripts/screenshots.ts [folder [prefix]]`: fills a server with sample data and takes
 * screenshots of every page, light and dark, on phone and desktop, in English, Arabic and German,
 * into the folder or dist/screenshots. `prefix` selects pages by name. Prints the pages that scroll
 * sideways, shift while they load, request another host or violate a rule of axe-core, and exits 1
 * when there is one.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { chromium } from 'playwright-core'

import { chromiumFlags, findBrowser } from '../src/testing/browsers/browser.ts'
import { startEvmChain } from '../src/testing/fixtures/evm-chain.ts'
import { fixedRates, testXpub } from '../src/testing/fixtures/topups.ts'
import { startBerthServer } from './bench/load/served.ts'
import { emptyConsolePages, emptyPages } from './screenshots/empty.ts'
import { breakCollections, errorPages, ownErrorPages } from './screenshots/errors.ts'
import { consolePages, fillConsole, operatorPath } from './screenshots/operator.ts'
import { fillStudio, ownerPages, signUp } from './screenshots/owner.ts'
import { fillPacks, operatorPackPages, ownPackPages, packPages } from './screenshots/packs.ts'
import { fillPlaying } from './screenshots/playing.ts'
import { publicPages } from './screenshots/public-pages.ts'
import { createSampleData } from './screenshots/sample-data.ts'
import { fillSocial } from './screenshots/social.ts'
import { states } from './screenshots/states.ts'
import { type Run, takeScreenshots } from './screenshots/take.ts'
import { fillWallet, walletPaths } from './screenshots/wallet.ts'

const folder = Bun.argv[2] ?? join(import.meta.dir, '../dist/screenshots')
const prefix = Bun.argv[3] ?? ''
const executablePath = findBrowser('chromium')
if (executablePath === undefined) process.exit(1)
mkdirSync(folder, { recursive: true })
const empty = await startBerthServer()
const chain = await startEvmChain()
const server = await startBerthServer(undefined, {
  TRUSTED_PROXIES: '127.0.0.1,::1',
  TOPUP_RATES: fixedRates,
  TOPUP_EVM_XPUB: testXpub,
  TOPUP_EVM_RPC_URLS: chain.url,
})
const browser = await chromium.launch({ executablePath, args: chromiumFlags })
const runOf = ({ port }: { port: number }): Run => ({
  browser,
  folder,
  prefix,
  origin: `http://localhost:${port}`,
})
try {
  const problems: string[] = []
  const first = runOf(empty)
  problems.push(...(await takeScreenshots(first, { ...emptyPages, welcome: operatorPath(empty) })))
  const operator = { name: 'opal', path: operatorPath(empty) }
  const state = await signUp(browser, first.origin, operator)
  problems.push(...(await takeScreenshots(first, emptyConsolePages, state)))
  if ('play-'.startsWith(prefix) || prefix.startsWith('play-'))
    problems.push(...(await takePlaying()))
  if (!/^(?:empty|play)-/.test(prefix)) problems.push(...(await takeFilled()))
  for (const problem of problems) console.log(problem)
  console.log(`${folder}: ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await browser.close()
  await server.stop()
  await empty.stop()
  await chain.stop()
}

/** Takes what the shell shows beside apps, and what a person spent in them. */
async function takePlaying(): Promise<string[]> {
  const run = runOf(server)
  const name = 'paul'
  const state = await signUp(browser, run.origin, { name })
  const { guest, own } = await fillPlaying(browser, server, { name, state })
  return [...(await takeScreenshots(run, guest)), ...(await takeScreenshots(run, own, state))]
}

/** Fills the server, and takes the pages of visitors, a person and the operator. */
async function takeFilled(): Promise<string[]> {
  const run = runOf(server)
  const data = await createSampleData(server)
  const owner = await signUp(browser, run.origin)
  const studio = await fillStudio(browser, server, owner)
  const wallet = await fillWallet(browser, server, owner)
  const social = await fillSocial(browser, server, owner)
  const packs = await fillPacks(browser, server, owner)
  const cases = await fillConsole(browser, server)
  const own = {
    ...ownerPages(studio),
    ...ownPackPages(packs),
    ...walletPaths,
    ...social,
    ...wallet,
    ...ownErrorPages(cases.down),
  }
  const { down, state } = cases
  const guest = {
    ...publicPages(data, down),
    ...packPages(packs),
    'collection-public': social.collection,
    ...errorPages(down),
    // The last one signs its browser in.
    ...states(data),
  }
  const operator = { ...consolePages(cases), ...operatorPackPages(packs) }
  const problems = [
    ...(await takeScreenshots(run, guest)),
    ...(await takeScreenshots(run, operator, state)),
    ...(await takeScreenshots(run, own, owner)),
  ]
  breakCollections(server)
  return [...problems, ...(await takeScreenshots(run, { 'error-own-500': '/collections' }, owner))]
}
