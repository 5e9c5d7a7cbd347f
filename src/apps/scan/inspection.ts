import { agentOrders, slurs } from '../../kernel/forbidden-text.ts'
import { sha256 } from '../../kernel/ids.ts'
import { titleCharsMax } from '../../kernel/limits.ts'
import { isLibraryHost } from '../libraries/address.ts'
import { findHostModule } from '../libraries/host-modules.ts'
import type { LibraryReference, PageReferences } from '../libraries/library.ts'
import { findUses, type PageUses } from '../uses/uses.ts'
import { type AssetRequest, readAssetRequests } from './asset-requests.ts'
import { type Finding, type Hit, type Scan, takeHits, toScan } from './findings.ts'
import { emptyPage, isRemote, joinWords, newScanBudget, type Page, placeOfWord } from './page.ts'
import { readHtml } from './read-html.ts'
import { readScript } from './read-script.ts'
import { newBudget, newReading } from './reading.ts'
import { getRule } from './rules.ts'
import { droppers } from './rules/dropper.ts'
import { entriesOf, external, ownFiles } from './rules/external.ts'
import { frameBreaks } from './rules/frame.ts'
import { miners } from './rules/miner.ts'
import { decodedEvals, obfuscation } from './rules/obfuscation.ts'
import { findCredentialField, phishing } from './rules/phish.ts'
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
function scanPage(page: Page): Scan {
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

/** Bytes with their own buffer, so that they can be transferred between threads. */
export type OwnBytes = Uint8Array<ArrayBuffer>

/**
 * Everything that is derived from a page's bytes: the safety check, the `<title>` (at most 80
 * characters), the SHA-256 in hex, and the requested assets.
 */
export interface Inspection {
  scan: Scan
  title: string | undefined
  sha256: string
  assetRequests: AssetRequest[]
  /** URLs and names of libraries, for the library store. */
  references: PageReferences
  /** The uses of `service`. */
  uses: PageUses
  /** The finding that holds where the page or a script of its folder shares data. */
  credentials?: Finding | undefined
  identity: OwnBytes
}

/** Inspects a page on the calling thread: about 3 ms for 20 KB, 500 ms for 4 MB. */
export function inspectNow(identity: OwnBytes): Inspection {
  const text = new TextDecoder().decode(identity)
  return createInspection(identity, text, readPage(text))
}

/** Inspects a small page; undefined when its scripts expand past `charsMax`. */
export function inspectSmall(identity: OwnBytes, charsMax: number): Inspection | undefined {
  const budget = { built: charsMax, nested: charsMax }
  const text = new TextDecoder().decode(identity)
  const page = readPage(text, budget)
  return budget.built <= 0 || budget.nested < 0 ? undefined : createInspection(identity, text, page)
}

function createInspection(identity: OwnBytes, text: string, page: Page): Inspection {
  return {
    scan: scanPage(page),
    title: titleOf(page.title),
    sha256: sha256(identity),
    assetRequests: readAssetRequests(page).requests,
    references: readReferences(page),
    uses: findUses(text),
    credentials: credentialFinding(page),
    identity,
  }
}

function credentialFinding(page: Page): Finding | undefined {
  const hit = findCredentialField(page)
  return hit && toScan(page.html, [hit]).findings[0]
}

/** Returns a title as one line without control characters; undefined when empty. */
function titleOf(text = ''): string | undefined {
  const line = text.slice(0, 1_000).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
  return [...line.trim()].slice(0, titleCharsMax).join('').trim() || undefined
}

const urlsMax = 1_000
const namesMax = 1_000
const integrityCharsMax = 1_000
const scriptUses = new Set(['src', 'importScripts', 'loadScript'])
/** URLs in the text of a script, also inside the text of a worker. */
const urlsInCode = /https:\/\/[^\s"'`<>\\)]{1,500}/g
/** Names in import statements. JSX cannot be parsed, so they are read from the text. */
const importNames = /\b(?:from|import)\s*\(?\s*(["'])([^"'\s]{1,300})\1/g

/** Collects everything in a page that may name a library: tags, styles, import maps and code. */
export function readReferences(page: Page): PageReferences {
  const urls = new Map<string, LibraryReference>()
  const add = (reference: LibraryReference): void => {
    const { url } = reference
    if (urls.size >= urlsMax || !isRemote(url)) return
    const known = urls.get(url)
    if (known && (known.use !== 'code' || reference.use === 'code')) return
    if (isLibraryHost(url)) urls.set(url, reference)
  }
  for (const { use, url, isModule, integrity } of page.addresses) {
    if (!/^(?:script|link|style)$/.test(use)) continue
    add({
      url: url.trim(),
      use: use !== 'script' ? 'style' : isModule ? 'module' : 'script',
      ...(integrity && { integrity: integrity.slice(0, integrityCharsMax) }),
    })
  }
  for (const { use, url } of page.requests) {
    add({
      url,
      use: use === 'import' || use === 'from' ? 'module' : scriptUses.has(use) ? 'script' : 'code',
    })
  }
  for (const { tokens } of page.scripts)
    for (const [url] of tokens.code.matchAll(urlsInCode)) add({ url, use: 'code' })
  const imports = page.importMaps.flatMap(({ text }) => entriesOf(text)).slice(0, urlsMax)
  return { urls: [...urls.values()], imports, names: namesOf(page) }
}

function namesOf(page: Page): string[] {
  const hasMap = page.importMaps.length > 0
  const names = new Set<string>()
  for (const { tokens } of page.scripts)
    for (const [, , name = ''] of tokens.code.matchAll(importNames)) {
      if (names.size >= namesMax) return [...names]
      if (!isRemote(name) && (hasMap || findHostModule(name) !== undefined)) names.add(name)
    }
  return [...names]
}
