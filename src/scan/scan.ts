import { type Hit, type Scan, scanOf, takeHits } from './findings.ts'
import { emptyPage, joinWords, type Page, roomOf } from './page.ts'
import { readHtml } from './read-html.ts'
import { readScript } from './read-script.ts'
import { newBudget, newReading } from './reading.ts'
import { assetLists } from './rules/asset-lists.ts'
import { droppers } from './rules/dropper.ts'
import { external } from './rules/external.ts'
import { frameBreaks } from './rules/frame.ts'
import { miners } from './rules/miner.ts'
import { decodedEvals, obfuscation } from './rules/obfuscation.ts'
import { ownFiles } from './rules/own-files.ts'
import { phishing } from './rules/phish.ts'
import { redirects } from './rules/redirect.ts'
import { scams } from './rules/scam.ts'
import { secrets } from './rules/secrets.ts'
import { standIns } from './rules/stand-ins.ts'
import { textPolicy } from './rules/text-policy.ts'
import { webrtc } from './rules/webrtc.ts'

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
  standIns,
  assetLists,
]

/**
 * The safety check of a page: pure, never throws, linear in the page (document 1, operations 9
 * and 11; the sandbox is the first line, this the second). Lines and excerpts are those of the
 * page, also for what was found in decoded text.
 */
export function scan(html: string): Scan {
  return scanPage(readPage(html))
}

/** The facts of a page, for `scanPage` and for those who need its title or its asset list. */
export function readPage(html: string, room = roomOf(html)): Page {
  const page = emptyPage(html, room)
  const reading = newReading(page, (offset) => offset, newBudget({ readHtml, readScript }))
  readHtml(html, reading)
  joinWords(page)
  return page
}

/** The rules, applied to the facts of a page. */
export function scanPage(page: Page): Scan {
  const hits = families.flatMap((family) => takeHits(family(page)))
  return scanOf(page.html, [...hits, ...takeHits(decodedEvals(page, hits))])
}
