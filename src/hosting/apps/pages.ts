import type { House } from '../../house.ts'
import { htmlBytesMax } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'
import type { Finding } from '../../scan/findings.ts'
import type { Inspection } from '../../scan/inspection.ts'
import { isBadPage } from './bad-pages.ts'

/** A page that passed the safety check, and where its bytes are kept. */
export interface KeptPage {
  sha256: string
  pack: string
  htmlBytes: number
  gzipBytes: number
  brBytes: number
  asks: string
}

/** A page's bytes, and its compressed variants where they are smaller. */
export interface PageBytes {
  identity: Uint8Array
  gzip?: Uint8Array
  br?: Uint8Array
}

/**
 * Looks at a page before anything is kept. Refuses too_large over 4 MB of UTF-8, blocked_by_scan
 * with the reasons, try_again when it could not be looked at.
 */
export async function inspect(house: House, html: string | Uint8Array): Promise<Inspection> {
  const bytes = typeof html === 'string' ? new TextEncoder().encode(html) : html
  if (bytes.byteLength > htmlBytesMax) {
    throw new Refusal('too_large', { bytes: bytes.byteLength, max: htmlBytesMax })
  }
  const inspection = await house.inspector.inspect(bytes)
  if (inspection.scan.verdict === 'block') {
    const blocking = inspection.scan.findings.filter((finding) => finding.effect === 'block')
    throw new Refusal('blocked_by_scan', { reasons: blocking.map(reasonOf) })
  }
  if (await isBadPage(house.db.read, inspection.sha256)) {
    const reason = 'known.bad: this page was taken down before. It cannot come back.'
    throw new Refusal('blocked_by_scan', { reasons: [reason] })
  }
  return inspection
}

/** One finding as a sentence for `reasons`. */
const reasonOf = (finding: Finding): string =>
  `line ${finding.line}: ${finding.code}: ${finding.help} (${finding.excerpt})`

/** Why a page that may be hosted may not be listed; empty when it may. */
export const unlistable = (inspection: Inspection): string[] =>
  inspection.scan.findings.filter((finding) => finding.effect === 'unlist').map(reasonOf)

/** Keeps a page's bytes and variants as one stored object: bytes first, rows second. */
export async function keep(house: House, inspection: Inspection): Promise<KeptPage> {
  const { identity, gzip = new Uint8Array(), br = new Uint8Array() } = inspection
  const pack = await house.store.put(Buffer.concat([identity, gzip, br]))
  return {
    sha256: inspection.sha256,
    pack: pack.sha256,
    htmlBytes: identity.byteLength,
    gzipBytes: gzip.byteLength,
    brBytes: br.byteLength,
    asks: JSON.stringify(inspection.asks),
  }
}

/** Reads a kept page back. A missing file is a fault of ours. */
export async function read(house: House, page: Omit<KeptPage, 'asks'>): Promise<PageBytes> {
  const pack = await house.store.read(page.pack)
  if (!pack) throw new Error(`the stored page ${page.pack} is missing`)
  const gzipAt = page.htmlBytes
  const brAt = gzipAt + page.gzipBytes
  return {
    identity: pack.subarray(0, gzipAt),
    ...(page.gzipBytes && { gzip: pack.subarray(gzipAt, brAt) }),
    ...(page.brBytes && { br: pack.subarray(brAt, brAt + page.brBytes) }),
  }
}
