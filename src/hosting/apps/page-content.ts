import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { htmlBytesMax } from '../../limits.ts'
import type { Finding, Scan } from '../../scan/findings.ts'
import type { Inspection } from '../../scan/inspection.ts'
import { type Effect, getRule } from '../../scan/rules.ts'
import { isForbidden } from '../../scan/rules/text-policy.ts'
import { isBlockedPage, lockPage } from './blocked-pages.ts'
import { findHookFindings } from './scan/scan-hook.ts'
import type { versions } from './tables.ts'

type Version = typeof versions.$inferSelect
type Pack = Pick<Version, 'pack' | 'htmlBytes' | 'gzipBytes' | 'brBytes'>

/** A stored page that passed the safety check, with its scan record. */
export type StoredPage = Pack & ScanRecord & Pick<Version, 'sha256' | 'asks'>

export type ScanRecord = Pick<Version, 'verdict' | 'findings' | 'scanned'>

/** Bytes of a page, and its compressed variants where they are smaller. */
export interface PageBytes {
  identity: Uint8Array
  gzip?: Uint8Array
  br?: Uint8Array
}

/** Inspects a page. Throws `too_large` over 4 MB, `blocked_by_scan`, and `try_again`. */
export async function inspectPage(ctx: AppContext, html: string | Uint8Array): Promise<Inspection> {
  const bytes = typeof html === 'string' ? new TextEncoder().encode(html) : html
  if (bytes.byteLength > htmlBytesMax) {
    throw new ApiError('too_large', { bytes: bytes.byteLength, max: htmlBytesMax })
  }
  const inspection = await scanPage(ctx, bytes)
  const reasons = blocking(inspection)
  if (reasons.length > 0) throw new ApiError('blocked_by_scan', { reasons })
  return inspection
}

/** Scans a page with rules, block list and hook. Throws `try_again` when it cannot. */
export async function scanPage(ctx: AppContext, page: Uint8Array): Promise<Inspection> {
  const inspection = await ctx.inspector.inspect(page)
  // The hook is not called for pages that the built-in rules block.
  const isBlockedByRules = inspection.scan.verdict === 'block'
  const isOnBlockList = () => isBlockedPage(ctx.db.read, inspection.sha256)
  const isBlocked = isBlockedByRules || (await isOnBlockList())
  const hookFindings = isBlocked ? [] : await findHookFindings(ctx, inspection)
  // The page may have been blocked during the scan.
  return withFindings(inspection, (await isOnBlockList()) ? [blockedFinding] : hookFindings)
}

const { code, effect, help } = getRule('known.bad')
const blockedFinding: Finding = { code, effect, line: 1, excerpt: '', help }

/** Throws `blocked_by_scan` for a page that was blocked after its scan. */
export async function checkNotBlocked(db: Db, { sha256 }: StoredPage): Promise<void> {
  await lockPage(db, sha256)
  if (await isBlockedPage(db, sha256)) {
    throw new ApiError('blocked_by_scan', { reasons: [formatFinding(blockedFinding)] })
  }
}

/** Adds findings to an inspection and recomputes its verdict. */
function withFindings(inspection: Inspection, more: Finding[]): Inspection {
  if (more.length === 0) return inspection
  const { verdict, listable, findings } = inspection.scan
  const blocks = more.some(({ effect }) => effect === 'block')
  const scan: Scan = {
    verdict: blocks ? 'block' : verdict === 'clean' ? 'warn' : verdict,
    listable: listable && more.every(({ effect }) => effect === 'warn'),
    findings: [...more, ...findings],
  }
  return { ...inspection, scan }
}

export const toScanRecord = ({ clock }: AppContext, { scan }: Inspection): ScanRecord => ({
  verdict: scan.verdict,
  findings: scan.findings,
  scanned: clock.now(),
})

const formatFinding = ({ line, code, help, excerpt }: Finding): string =>
  `line ${line}: ${code}: ${help}${excerpt && ` (${excerpt})`}`

const reasonsOf = ({ scan }: Inspection, ...effects: Effect[]): string[] =>
  scan.findings.filter(({ effect }) => effects.includes(effect)).map(formatFinding)

/** Returns the reasons that forbid hosting a page. */
const blocking = (inspection: Inspection): string[] => reasonsOf(inspection, 'block')

/** Title and description beside a page on Explore. */
export interface ListingText {
  title?: string | undefined
  description?: string | undefined
}

/** Returns the reasons that keep a text off Explore. */
export const textPolicyIssues = ({ title = '', description = '' }: ListingText): string[] =>
  Object.entries({ title, description }).flatMap(([field, text]) =>
    isForbidden(text)
      ? [`"${field}": text.policy: Remove slurs and instructions to the agents that read it.`]
      : [],
  )

/** Returns the reasons that keep a page or its texts off Explore. */
export const listingIssues = (inspection: Inspection, texts: ListingText = {}): string[] => [
  ...reasonsOf(inspection, 'block', 'unlist'),
  ...textPolicyIssues(texts),
]

/** Stores a page and its compressed variants as one object. */
export async function storePage(ctx: AppContext, inspection: Inspection): Promise<StoredPage> {
  const { identity, gzip = new Uint8Array(), br = new Uint8Array() } = inspection
  const pack = await ctx.storage.put(Buffer.concat([identity, gzip, br]))
  return {
    sha256: inspection.sha256,
    pack: pack.sha256,
    htmlBytes: identity.byteLength,
    gzipBytes: gzip.byteLength,
    brBytes: br.byteLength,
    asks: JSON.stringify(inspection.assetRequests),
    ...toScanRecord(ctx, inspection),
  }
}

export async function readPage(ctx: AppContext, page: Pack): Promise<PageBytes> {
  const pack = await ctx.storage.read(page.pack)
  if (!pack) throw new Error(`the stored page ${page.pack} is missing`)
  const gzipAt = page.htmlBytes
  const brAt = gzipAt + page.gzipBytes
  return {
    identity: pack.subarray(0, gzipAt),
    ...(page.gzipBytes && { gzip: pack.subarray(gzipAt, brAt) }),
    ...(page.brBytes && { br: pack.subarray(brAt, brAt + page.brBytes) }),
  }
}
