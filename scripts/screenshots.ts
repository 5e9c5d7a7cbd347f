/**
 * `bun scripts/screenshots.ts [--folder=path] [name ...]`: fills a server with sample data and
 * takes screenshots of every page, light and dark, on phone and desktop, in English, Arabic and
 * German, into the folder or dist/screenshots. Names select pages by the start of theirs, such as
 * `home` or `wallet`, and only the servers of those are started. Prints each step, and the pages
 * that fail, scroll sideways, shift while they load, request another host or violate a rule of
 * axe-core, and exits 1 when there is one.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { chromium } from 'playwright-core'

import { chromiumFlags, findBrowser } from '../src/testing/browsers/browser.ts'
import { startEvmChain } from '../src/testing/fixtures/evm-chain.ts'
import { fixedRates, testXpub } from '../src/testing/fixtures/topups.ts'
import { type BerthServer, startBerthServer } from './bench/load/served.ts'
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
import { type Run, takeScreenshots, within } from './screenshots/take.ts'
import { fillWallet, walletPaths } from './screenshots/wallet.ts'

/** The longest step waits for the covers of all items on a busy machine. */
const stepMsMax = 900_000

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string', default: join(import.meta.dir, '../dist/screenshots') } },
})
const { folder } = values
const isChosen = (name: string): boolean =>
  names.length === 0 || names.some((start) => name.startsWith(start))
/** Pages that start with these words have a server or an app of their own. */
const parts = ['empty', 'welcome', 'play-']
const hasChosen = (part: string): boolean =>
  isChosen(part) || names.some((start) => start.startsWith(part))
const isSite = !names.length || names.some((one) => !parts.some((part) => one.startsWith(part)))
const executablePath = findBrowser('chromium')
if (executablePath === undefined) process.exit(1)
mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({ executablePath, args: chromiumFlags })
const runOf = ({ port }: BerthServer): Run => ({
  browser,
  folder,
  isChosen,
  origin: `http://localhost:${port}`,
})
const problems: string[] = []
try {
  if (hasChosen('empty') || hasChosen('welcome')) await takeEmpty()
  if (hasChosen('play-') || isSite) await takeFilled()
  for (const problem of problems) console.log(problem)
  console.log(`${folder}: ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await browser.close()
}

/** Runs a step that may wait for a server. Throws when it does not end. */
async function step<T>(name: string, work: Promise<T>): Promise<T> {
  console.log(name)
  return within(stepMsMax, name, work)
}

async function take(...args: Parameters<typeof takeScreenshots>): Promise<void> {
  problems.push(...(await takeScreenshots(...args)))
}

/** Takes a server that has just started. */
async function takeEmpty(): Promise<void> {
  const empty = await startBerthServer()
  try {
    const run = runOf(empty)
    await take(run, { ...emptyPages, welcome: operatorPath(empty) })
    if (!hasChosen('empty')) return
    const operator = { name: 'opal', path: operatorPath(empty) }
    await take(run, emptyConsolePages, await signUp(browser, run.origin, operator))
  } finally {
    await empty.stop()
  }
}

/** Takes a server with the data of the chosen pages. */
async function takeFilled(): Promise<void> {
  const chain = await startEvmChain()
  const server = await startBerthServer(undefined, {
    TRUSTED_PROXIES: '127.0.0.1,::1',
    TOPUP_RATES: fixedRates,
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: chain.url,
  })
  try {
    if (hasChosen('play-')) await takePlaying(server)
    if (isSite) await takeSite(server)
  } finally {
    await server.stop()
    await chain.stop()
  }
}

/** Takes what the shell shows beside apps, and what a person spent in them. */
async function takePlaying(server: BerthServer): Promise<void> {
  const run = runOf(server)
  const name = 'paul'
  const state = await signUp(browser, run.origin, { name })
  const filling = fillPlaying(browser, server, { name, state })
  const { guest, own } = await step('Apps to play', filling)
  await take(run, guest)
  await take(run, own, state)
}

/** Fills the server, and takes the pages of visitors, a person and the operator. */
async function takeSite(server: BerthServer): Promise<void> {
  const run = runOf(server)
  const data = await step('Items with covers', createSampleData(server))
  const owner = await signUp(browser, run.origin)
  const studio = await step('Studio', fillStudio(browser, server, owner))
  const wallet = await step('Wallet', fillWallet(browser, server, owner))
  const social = await step('Collections', fillSocial(browser, server, owner))
  const packs = await step('Skills', fillPacks(browser, server, owner))
  const cases = await step('Console', fillConsole(browser, server))
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
  await take(run, guest)
  await take(run, { ...consolePages(cases), ...operatorPackPages(packs) }, state)
  await take(run, own, owner)
  breakCollections(server)
  await take(run, { 'error-own-500': '/collections' }, owner)
}
