import { agentOrders, slurs } from '../../kernel/forbidden-text.ts'
import { readAssetRequests } from './asset-requests.ts'
import { type Hit, type Scan, takeHits, toScan } from './findings.ts'
import { emptyPage, joinWords, newScanBudget, type Page, placeOfWord } from './page.ts'
import { readHtml } from './read-html.ts'
import { readScript } from './read-script.ts'
import { newBudget, newReading } from './reading.ts'
import { getRule } from './rules.ts'
import { droppers } from './rules/dropper.ts'
import { external, ownFiles } from './rules/external.ts'
import { frameBreaks } from './rules/frame.ts'
import { miners } from './rules/miner.ts'
import { decodedEvals, obfuscation } from './rules/obfuscation.ts'
import { phishing } from './rules/phish.ts'
import { redirects } from './rules/redirect.ts'
import { sandboxDifferences } from './rules/sandbox-differences.ts'
import { scams } from './rules/scam.ts'
import { webrtc } from './rules/webrtc.ts'
import { findSecrets } from './secret-patterns.ts'

/** Slurs in visible text, and instructions to agents anywhere, since agents read the source. */
function* textPolicy(page: Page): Generator<Hit> {
  for (const found of page.words.matchAll(slurs))
    yield { code: 'text.policy', at: placeOfWord(page, found.index) }
  for (const orders of agentOrders)
    for (const found of page.html.matchAll(orders))
      yield {
        code: 'text.policy',
        at: found.index,
        help:
          'Remove the instructions to agents. The text of a page must not give orders to the agents ' +
          'that read it.',
      }
}

const families: readonly ((page: Page) => Iterable<Hit>)[] = [
  phishing,
  scams,
  miners,
  droppers,
  obfuscation,
  frameBreaks,
  webrtc,
  secrets,
  redirects,
  textPolicy,
  external,
  ownFiles,
  sandboxDifferences,
  assetLists,
]

/**
 * Scans a page (document 1, section 4, operations 9 and 11). Pure, linear in the page, never
 * throws. The sandbox is the first line of defense, this the second. Lines and excerpts refer to
 * the page, also for decoded text.
 */
export function scan(html: string): Scan {
  return scanPage(readPage(html))
}

/** Reads the facts of a page, for `scanPage`, its title and its asset list. */
export function readPage(html: string, budget = newScanBudget(html)): Page {
  const page = emptyPage(html, budget)
  const reading = newReading(page, (offset) => offset, newBudget({ readHtml, readScript }))
  readHtml(html, reading)
  joinWords(page)
  return page
}

/** Applies the rules to the facts of a page. */
export function scanPage(page: Page): Scan {
  const hits = families.flatMap((family) => takeHits(family(page)))
  return toScan(page.html, [...hits, ...takeHits(decodedEvals(page, hits))])
}

/** Invalid asset lists: the page works, but its assets cannot be generated. */
function* assetLists(page: Page): Generator<Hit> {
  for (const { at, help } of readAssetRequests(page).problems)
    yield { code: 'assets.malformed', at, help }
}

const publicGoogleKey = /firebaseapp|messagingSenderId|authDomain/
const mapsKey = /maps\.googleapis\.com\/maps[^\s"'<>]{0,300}$/

/** Private keys and API keys that look live, anywhere in the page, comments included. */
function* secrets(page: Page): Generator<Hit> {
  const firebase = publicGoogleKey.test(page.html)
  for (const { name, at } of findSecrets(page.html)) {
    const before = page.html.slice(Math.max(0, at - 320), at)
    if (name === 'Google API key' && (firebase || mapsKey.test(before))) continue
    yield hit(name, at)
  }
  for (const literal of page.literals)
    for (const { name } of findSecrets(literal.value)) yield hit(name, literal.at)
}

function hit(name: string, at: number): Hit {
  const help = `This looks like a live ${name}. ${getRule('secret.leak').help}`
  return { code: 'secret.leak', at, help }
}
