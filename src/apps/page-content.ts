import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'

import { brotli, gzip } from '../kernel/compress.ts'
import type { AppContext } from '../kernel/context.ts'
import type { Db } from '../kernel/db/engine.ts'
import { ApiError } from '../kernel/errors.ts'
import { isForbidden } from '../kernel/forbidden-text.ts'
import { htmlBytesMax } from '../kernel/limits.ts'
import { minute } from '../kernel/time.ts'
import { mediaTypeOf } from './assets/upload.ts'
import { isBlockedPage, lockPage } from './blocked-pages.ts'
import {
  type ContentFinding,
  type ContentInspection,
  type ContentScan,
  withWarnings,
} from './content-scan.ts'
import { isScript, pathFrom } from './folders/page-names.ts'
import { isPackKind, type Kind } from './kinds.ts'
import type { PageLibraries } from './libraries/library.ts'
import { storeLibraries, withLibraries } from './page-libraries.ts'
import type { Scan } from './scan/findings.ts'
import type { Inspection } from './scan/inspection.ts'
import { type Effect, getRule } from './scan/rules.ts'
import { findHookFindings } from './scans/scan-hook.ts'
import { versions } from './tables.ts'
import { joinUses, type PageUses, sharesData, type Use, withDeclared } from './uses/uses.ts'

type Version = typeof versions.$inferSelect
type Pack = Pick<Version, 'pack' | 'htmlBytes' | 'gzipBytes' | 'brBytes'>

/** A stored page that passed the safety check, with its scan record. */
export type StoredPage = Pack &
  ScanRecord &
  Pick<Version, 'sha256' | 'asks' | 'folder' | 'libraries' | 'uses' | 'page'> &
  /** The cover of a restored page. */
  Partial<Pick<Version, 'cover' | 'coverSmall' | 'coverColor'>>

export type ScanRecord = Pick<Version, 'verdict' | 'findings' | 'scanned'>

/** Bytes of a page, and its compressed variants where they are smaller. */
export interface PageBytes {
  identity: Uint8Array
  gzip?: Uint8Array
  br?: Uint8Array
}

/** A file of a folder. The safety check reads the bytes of code only. */
interface FolderFile {
  path: string
  bytes?: Uint8Array
}

/** Facts of a page that the safety check needs beside its text. */
export interface PageCode {
  /** The other files of its folder. */
  files?: FolderFile[] | undefined
  /** Name of the page in its folder. */
  page?: string | null | undefined
  /** Uses of `service` that the maker declared. */
  declared?: Use[] | undefined
}

/**
 * Scans a page with the files of its folder. Throws what `inspectContent` throws, and `too_large`
 * over 4 MB.
 */
export async function inspectPage(
  ctx: AppContext,
  html: string,
  code: PageCode = {},
): Promise<ContentInspection> {
  const bytes = new TextEncoder().encode(html)
  if (bytes.byteLength > htmlBytesMax) {
    throw new ApiError('too_large', { bytes: bytes.byteLength, max: htmlBytesMax })
  }
  return inspectContent(ctx, 'app', bytes, code)
}

/**
 * Scans the content of a new version. Throws `blocked_by_scan` and `try_again`.
 */
export async function inspectContent(
  ctx: AppContext,
  kind: Kind,
  content: Uint8Array,
  code: PageCode = {},
): Promise<ContentInspection> {
  const inspection = await scanContent(ctx, kind, content, code)
  const reasons = blocking(inspection)
  if (reasons.length > 0) throw new ApiError('blocked_by_scan', { reasons })
  return inspection
}

/**
 * Scans content with rules, block list and hook: a page with the files of its folder. A stored
 * version keeps the libraries that it was published with, `pinned`. Throws `try_again` when it
 * cannot.
 */
export async function scanContent(
  ctx: AppContext,
  kind: Kind,
  content: Uint8Array,
  { pinned, ...code }: PageCode & { pinned?: PageLibraries | null } = {},
): Promise<ContentInspection> {
  const inspection = isPackKind(kind)
    ? await (await import('./folder-inspection.ts')).inspectFolder(content)
    : await withLibraries(ctx, await inspectFiles(ctx, content, code), pinned)
  // The hook is not called for content that the built-in rules block.
  const isBlockedByRules = inspection.scan.verdict === 'block'
  const isOnBlockList = () => isBlockedPage(ctx.db.read, inspection.sha256)
  const isBlocked = isBlockedByRules || (await isOnBlockList())
  const type = isPackKind(kind) ? 'application/x-tar' : 'text/html; charset=utf-8'
  const hookFindings = isBlocked ? [] : await findHookFindings(ctx, inspection, type)
  // The page may have been blocked during the scan.
  return withFindings(inspection, (await isOnBlockList()) ? [blockedFinding] : hookFindings)
}

const { code, effect, help } = getRule('known.bad')
const blockedFinding: ContentFinding = { code, effect, line: 1, excerpt: '', help }

const run = getRule('redirect.run')

/** Returns the findings in a run of a page that tried to open these URLs. */
export const departureFindings = (urls: string[]): ContentFinding[] =>
  urls.map((excerpt) => ({ code: run.code, effect: run.effect, line: 1, excerpt, help: run.help }))

/** Adds what was found in a run of a stored version, since a scan of its text does not find it. */
export const withRunFindings = (
  inspection: ContentInspection,
  { findings }: Pick<Version, 'findings'>,
): ContentInspection =>
  withFindings(
    inspection,
    findings.filter((finding) => finding.code === run.code),
  )

/** Returns the findings of a stored version in its text. */
export const withoutRunFindings = ({ findings }: Pick<Version, 'findings'>): ContentFinding[] =>
  findings.filter((finding) => finding.code !== run.code)

/** Throws `blocked_by_scan` for a page that was blocked after its scan. */
export async function checkNotBlocked(db: Db, { sha256 }: StoredPage): Promise<void> {
  await lockPage(db, sha256)
  if (await isBlockedPage(db, sha256)) {
    throw new ApiError('blocked_by_scan', { reasons: [formatFinding(blockedFinding)] })
  }
}

/** Adds findings to an inspection and recomputes its verdict. */
function withFindings(inspection: ContentInspection, more: ContentFinding[]): ContentInspection {
  if (more.length === 0) return inspection
  const { verdict, listable, findings } = inspection.scan
  const blocks = more.some(({ effect }) => effect === 'block')
  const scan: ContentScan = {
    verdict: blocks ? 'block' : verdict === 'clean' ? 'warn' : verdict,
    listable: listable && more.every(({ effect }) => effect === 'warn'),
    findings: [...more, ...findings],
  }
  return { ...inspection, scan }
}

export const toScanRecord = ({ clock }: AppContext, { scan }: ContentInspection): ScanRecord => ({
  verdict: scan.verdict,
  findings: scan.findings,
  scanned: clock.now(),
})

const formatFinding = ({ file, line, code, help, excerpt }: ContentFinding): string =>
  `${file === undefined ? '' : `${file} `}line ${line}: ${code}: ${help}${excerpt && ` (${excerpt})`}`

const reasonsOf = ({ scan }: ContentInspection, ...effects: Effect[]): string[] =>
  scan.findings.filter(({ effect }) => effects.includes(effect)).map(formatFinding)

/** Returns the reasons that forbid hosting a page. */
const blocking = (inspection: ContentInspection): string[] => reasonsOf(inspection, 'block')

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
export const listingIssues = (inspection: ContentInspection, texts: ListingText = {}): string[] => [
  ...reasonsOf(inspection, 'block', 'unlist'),
  ...textPolicyIssues(texts),
]

/** Stores a page and its compressed variants as one object. */
export async function storePage(
  ctx: AppContext,
  inspection: ContentInspection,
  { folder = null, page = null }: Partial<Pick<Version, 'folder' | 'page'>> = {},
): Promise<StoredPage> {
  const { identity, gzip: archive } = inspection
  const { gzip = none, br = none } = archive ? { gzip: archive } : await compressPage(identity)
  const pack = await ctx.storage.put(Buffer.concat([identity, gzip, br]))
  return {
    sha256: inspection.sha256,
    pack: pack.sha256,
    htmlBytes: identity.byteLength,
    gzipBytes: gzip.byteLength,
    brBytes: br.byteLength,
    asks: JSON.stringify(inspection.assetRequests),
    folder,
    page,
    libraries: await storeLibraries(ctx, inspection.libraries),
    uses: inspection.uses ?? null,
    ...toScanRecord(ctx, inspection),
  }
}

const none = new Uint8Array()
const compressedBytesMin = 1_024
const firstQuality = 5
const bestQuality = 11

/** Compresses a page. Leaves out variants that are not smaller. */
async function compressPage(identity: Uint8Array): Promise<Partial<PageBytes>> {
  if (identity.byteLength < compressedBytesMin) return {}
  const [br, gzipped] = await Promise.all([brotli(identity, firstQuality), gzip(identity)])
  const isSmaller = (one: Uint8Array): boolean => one.byteLength < identity.byteLength
  return { ...(isSmaller(br) && { br }), ...(isSmaller(gzipped) && { gzip: gzipped }) }
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

/** Pages that are replaced within this time are not worth the work. */
const settledMs = 10 * minute

/** Compresses one page best, which takes seconds. Returns whether there was one. */
export async function recompressOne(ctx: AppContext): Promise<boolean> {
  const [page] = await ctx.db.read
    .select()
    .from(versions)
    .where(
      and(
        // A literal lets both engines use the partial index.
        sql`${versions.brLevel} = 5`,
        gt(versions.brBytes, 0),
        lte(versions.created, ctx.clock.now() - settledMs),
      ),
    )
    .orderBy(asc(versions.created))
    .limit(1)
  if (!page) return false
  const { identity, gzip = none } = await readPage(ctx, page)
  const br = await brotli(identity, bestQuality)
  const better = br.byteLength < page.brBytes
  const pack = better
    ? (await ctx.storage.put(Buffer.concat([identity, gzip, br]))).sha256
    : page.pack
  const brBytes = better ? br.byteLength : page.brBytes
  await ctx.db.tx((db) =>
    db
      .update(versions)
      .set({ pack, brBytes, brLevel: bestQuality })
      .where(and(eq(versions.app, page.app), eq(versions.version, page.version))),
  )
  return true
}

const pages = /^text\/html|^image\/svg|^application\/xhtml/
const scripts = /^text\/javascript/
const styles = /^text\/css/
/** Returns whether the safety check reads a file: one that is served as code. */
export const isCode = (path: string): boolean =>
  [pages, scripts, styles].some((type) => type.test(mediaTypeOf(path)))

/** Returns a file as a page that the safety check reads; undefined for one without code. */
function asPage({ path, bytes }: FolderFile): Uint8Array | undefined {
  if (!bytes) return undefined
  const type = mediaTypeOf(path)
  if (pages.test(type)) return bytes
  const [tag] = scripts.test(type) ? ['script'] : styles.test(type) ? ['style'] : []
  if (tag === undefined) return undefined
  const text = new TextDecoder().decode(bytes).replaceAll(new RegExp(`</(?=${tag})`, 'gi'), '<\\/')
  return new TextEncoder().encode(`<!doctype html><title>file</title><${tag}>${text}</${tag}>`)
}

const verdicts = ['clean', 'warn', 'block'] as const

const findingsMax = 200

/** Returns at most 200 findings: those that block first, when there are more. */
function mostSerious<Found extends { effect: Effect }>(findings: Found[]): Found[] {
  if (findings.length <= findingsMax) return findings
  const blocks = findings.filter(({ effect }) => effect === 'block')
  return [...new Set([...blocks, ...findings])].slice(0, findingsMax)
}

/** Scans a page and the code of its folder as one page with all findings and references. */
async function inspectFiles(
  { inspector }: AppContext,
  content: Uint8Array,
  { files = [], page, declared }: PageCode = {},
): Promise<Inspection> {
  const names = new Set(files.map(({ path }) => path))
  const inFolder = (scan: Scan, base: string): Scan =>
    withWarnings(
      scan,
      scan.findings.filter(({ url }) => url === undefined || !names.has(pathFrom(base, url))),
    )
  const name = page ?? ''
  const first = await inspector.inspect(content)
  let all = { ...first, scan: inFolder(first.scan, name) }
  for (const file of files) {
    const code = asPage(file)
    if (!code) continue
    // Small files are scanned at once. Other requests run between them.
    await Bun.sleep(0)
    const { scan: found, references, uses, credentials } = await inspector.inspect(code, file.path)
    const own = inFolder(found, file.path)
    // Imports of a script begin at its own place, and its requests at that of the page.
    const scan = isScript(file.path) ? inFolder(own, name) : own
    const [verdict] = [scan.verdict, all.scan.verdict].toSorted(
      (a, b) => verdicts.indexOf(b) - verdicts.indexOf(a),
    )
    all = {
      ...all,
      scan: {
        verdict: verdict ?? scan.verdict,
        listable: all.scan.listable && scan.listable,
        findings: mostSerious([
          ...all.scan.findings,
          ...scan.findings.map((finding) => ({ ...finding, file: file.path })),
        ]),
      },
      uses: joinUses([all.uses, uses]),
      credentials: all.credentials ?? (credentials && { ...credentials, file: file.path }),
      references: {
        urls: [...all.references.urls, ...references.urls],
        imports: [...all.references.imports, ...references.imports],
        names: [...all.references.names, ...references.names],
      },
    }
  }
  const asksCredentials = all.credentials !== undefined
  const uses = withDeclared({ ...all.uses, asksCredentials }, declared)
  return { ...all, uses, scan: withCredentials(all, uses) }
}

/** Blocks a page that asks for credentials, and could send them to other players. */
function withCredentials({ scan, credentials }: Inspection, uses: PageUses): Scan {
  if (!credentials || !sharesData(uses)) return scan
  return { verdict: 'block', listable: false, findings: [credentials, ...scan.findings] }
}
