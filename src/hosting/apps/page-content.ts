import type { AppContext } from '../../context.ts'
import type { Db } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { htmlBytesMax } from '../../limits.ts'
import type { Finding, Scan } from '../../scan/findings.ts'
import type { Inspection } from '../../scan/inspection.ts'
import { type Effect, theRule } from '../../scan/rules.ts'
import { isForbidden } from '../../scan/rules/text-policy.ts'
import { isBadPage, lockPage } from './blocked-pages.ts'
import { outsideFindings } from './scan/scan-hook.ts'
import type { versions } from './tables.ts'

type Version = typeof versions.$inferSelect
type Pack = Pick<Version, 'pack' | 'htmlBytes' | 'gzipBytes' | 'brBytes'>

/** A page that passed the safety check, what that said, and where its bytes are kept. */
export type KeptPage = Pack & Scanned & Pick<Version, 'sha256' | 'asks'>

/** What the safety check said of a page, as its version keeps it. */
export type Scanned = Pick<Version, 'verdict' | 'findings' | 'scanned'>

/** A page's bytes, and its compressed variants where they are smaller. */
export interface PageBytes {
  identity: Uint8Array
  gzip?: Uint8Array
  br?: Uint8Array
}

/**
 * Looks at a page before anything is kept. Refuses too_large over 4 MB of UTF-8, blocked_by_scan
 * with the reasons, try_again when it could not be looked at; `maker` is whose doing it is.
 */
export async function inspect(
  ctx: AppContext,
  html: string | Uint8Array,
  maker?: string,
): Promise<Inspection> {
  const bytes = typeof html === 'string' ? new TextEncoder().encode(html) : html
  if (bytes.byteLength > htmlBytesMax) {
    throw new ApiError('too_large', { bytes: bytes.byteLength, max: htmlBytesMax })
  }
  const inspection = await lookAt(ctx, bytes, maker)
  const reasons = blocking(inspection)
  if (reasons.length > 0) throw new ApiError('blocked_by_scan', { reasons })
  return inspection
}

/**
 * What the safety check says of a page now, whether that was taken down before among it. Refuses
 * try_again when it could not be looked at.
 */
export async function lookAt(
  ctx: AppContext,
  page: Uint8Array,
  maker?: string,
): Promise<Inspection> {
  const inspection = await ctx.inspector.inspect(page, maker)
  // What our own rules block need not be asked about.
  const isOurs = inspection.scan.verdict === 'block'
  const isBad = () => isBadPage(ctx.db.read, inspection.sha256)
  const outside = isOurs || (await isBad()) ? [] : await outsideFindings(ctx, inspection)
  // It may have been taken down while it was looked at.
  return withFindings(inspection, (await isBad()) ? [known] : outside)
}

const { code, effect, help } = theRule('known.bad')
const known: Finding = { code, effect, line: 1, excerpt: '', help }

/** Refuses a page that was blocked since it was looked at, inside the transaction that keeps it. */
export async function checkStill(db: Db, { sha256 }: KeptPage): Promise<void> {
  await lockPage(db, sha256)
  if (await isBadPage(db, sha256)) {
    throw new ApiError('blocked_by_scan', { reasons: [reasonOf(known)] })
  }
}

/** An inspection with more findings, which weigh as they would among the others. */
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

/** What a version keeps of a look at its page. */
export const scannedOf = ({ clock }: AppContext, { scan }: Inspection): Scanned => ({
  verdict: scan.verdict,
  findings: scan.findings,
  scanned: clock.now(),
})

/** One finding as a sentence for `reasons`. */
const reasonOf = ({ line, code, help, excerpt }: Finding): string =>
  `line ${line}: ${code}: ${help}${excerpt && ` (${excerpt})`}`

const reasonsOf = ({ scan }: Inspection, ...wanted: Effect[]): string[] =>
  scan.findings.filter(({ effect }) => wanted.includes(effect)).map(reasonOf)

/** Why a page may not be hosted; empty when it may. */
const blocking = (inspection: Inspection): string[] => reasonsOf(inspection, 'block')

/** What a maker says of a page, which stands beside it on Explore. */
export interface Said {
  title?: string | undefined
  description?: string | undefined
}

/** Why a text may not stand on Explore; empty when it may. */
export const unsayable = ({ title = '', description = '' }: Said): string[] =>
  Object.entries({ title, description }).flatMap(([field, text]) =>
    isForbidden(text)
      ? [`"${field}": text.policy: Leave out slurs and orders to the agents that read it.`]
      : [],
  )

/** Why a page that may be hosted may not be listed, or what is said of it; empty when it may. */
export const unlistable = (inspection: Inspection, said: Said = {}): string[] => [
  ...reasonsOf(inspection, 'block', 'unlist'),
  ...unsayable(said),
]

/** Keeps a page's bytes and variants as one stored object: bytes first, rows second. */
export async function keep(ctx: AppContext, inspection: Inspection): Promise<KeptPage> {
  const { identity, gzip = new Uint8Array(), br = new Uint8Array() } = inspection
  const pack = await ctx.storage.put(Buffer.concat([identity, gzip, br]))
  return {
    sha256: inspection.sha256,
    pack: pack.sha256,
    htmlBytes: identity.byteLength,
    gzipBytes: gzip.byteLength,
    brBytes: br.byteLength,
    asks: JSON.stringify(inspection.asks),
    ...scannedOf(ctx, inspection),
  }
}

/** Reads a kept page back. A missing file is a fault of ours. */
export async function read(ctx: AppContext, page: Pack): Promise<PageBytes> {
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
