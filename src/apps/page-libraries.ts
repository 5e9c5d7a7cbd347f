import type { AppContext } from '../kernel/context.ts'
import { type ContentInspection, withWarnings } from './content-scan.ts'
import type { PageLibraries } from './libraries/library.ts'
import type { Resolution } from './libraries/resolution.ts'
import type { Finding } from './scan/findings.ts'
import type { Inspection } from './scan/inspection.ts'

/**
 * Resolves the libraries of a scanned page, and corrects the findings about their URLs. With
 * `pinned`, the libraries of a stored version, nothing is resolved again.
 */
export async function withLibraries(
  ctx: AppContext,
  inspection: Inspection,
  pinned?: PageLibraries | null,
): Promise<ContentInspection> {
  if (pinned !== undefined) return withoutLoaded(inspection, pinned ?? undefined, new Map())
  const { urls, imports, names } = inspection.references
  if (urls.length + imports.length + names.length === 0)
    return withoutLoaded(inspection, undefined, new Map())
  // Pages without libraries do not load the resolver.
  const { resolveStored } = await import('./resolve-libraries.ts')
  const libraries = await resolveStored(ctx, inspection.references)
  return { ...withoutLoaded(inspection, libraries, libraries.problems), libraries }
}

/** Returns the libraries of a page that is not published yet. */
export const resolveLibraries = async (
  ctx: AppContext,
  html: Uint8Array,
): Promise<Resolution | undefined> =>
  (await withLibraries(ctx, await ctx.inspector.inspect(html))).libraries

/** Removes the findings about URLs that load, and explains those that do not. */
function withoutLoaded(
  inspection: Inspection,
  libraries: PageLibraries | undefined,
  problems: ReadonlyMap<string, string>,
): Inspection {
  const loaded = new Set(
    [...(libraries?.urls ?? []), ...(libraries?.imports ?? [])].map(([url]) => url),
  )
  const findings = inspection.scan.findings.flatMap(({ url, ...finding }): Finding[] => {
    if (url === undefined) return [finding]
    const problem = problems.get(url.trim()) ?? problems.get(url)
    if (problem !== undefined) return [{ ...finding, help: `${shorten(url)} ${problem}` }]
    return loaded.has(url) || loaded.has(url.trim()) ? [] : [finding]
  })
  const general = problems.get('')
  if (general !== undefined) {
    findings.push({ code: 'net.external', effect: 'warn', line: 1, excerpt: '', help: general })
  }
  return { ...inspection, scan: withWarnings(inspection.scan, findings) }
}

const urlCharsMax = 120
const shorten = (url: string): string =>
  url.length > urlCharsMax ? `${url.slice(0, urlCharsMax)}…` : url

/** Stores the library files of a page. Equal files of all apps are stored once. */
export async function storeLibraries(
  ctx: AppContext,
  resolution: Resolution | undefined,
): Promise<PageLibraries | null> {
  if (!resolution || resolution.files.length === 0) return null
  for (const { content } of resolution.contents) await ctx.storage.put(content)
  const { files, urls, imports } = resolution
  return { files, urls, imports }
}

/** Sentences for the note of a publish: pinned and replaced versions. */
export function libraryNote({ libraries }: ContentInspection): string {
  const notes = libraries?.notes ?? []
  const shown = notes.slice(0, notesMax)
  const more = notes.length > shown.length ? ` And ${notes.length - shown.length} more.` : ''
  return shown.length === 0 ? '' : ` Libraries: ${shown.join(' ')}${more}`
}

const notesMax = 10
