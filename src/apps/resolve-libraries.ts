import type { AppContext } from '../kernel/context.ts'
import { isApiError } from '../kernel/errors.ts'
import {
  fetchedPerPageMax,
  labelOf,
  type Library,
  type PageReferences,
} from './libraries/library.ts'
import { requestOf } from './libraries/registry.ts'
import type { MissingLibrary, Resolution } from './libraries/resolution.ts'
import { resolvePage } from './libraries/resolve-page.ts'

/** Packages that a page names, those that these import, and so on: trees of npm are deep. */
const roundsMax = 8

/** Resolves a page from the library store, which first fetches what it lacks where that is on. */
export async function resolveStored(
  ctx: AppContext,
  references: PageReferences,
): Promise<Resolution> {
  let all = await ctx.libraries.list()
  let resolution = await resolvePage(all, references)
  if (ctx.config.libraries !== 'fetch') return resolution
  const tried = new Map<string, string>()
  const lacking = (): MissingLibrary[] =>
    resolution.missing.filter((one) => !tried.has(requestOf(one)))
  for (let round = 0; round < roundsMax; round += 1) {
    const next = lacking().slice(0, fetchedPerPageMax - tried.size)
    const results = await ctx.libraryFetcher.fetchAll(ctx, next)
    for (const [request, { why }] of results) tried.set(request, why)
    if (!results.values().some(({ isAdded }) => isAdded)) break
    all = await ctx.libraries.list()
    resolution = await resolvePage(all, references)
  }
  // A library of cdnjs may be one of two packages, and a page names one of them.
  const why = resolution.missing.map((one) => tried.get(requestOf(one)) ?? '')
  if (tried.size >= fetchedPerPageMax && lacking().length > 0) {
    why.push(
      `One publish fetches at most ${fetchedPerPageMax} packages. Publish again for the rest.`,
    )
  }
  resolution = await withoutBlocked(ctx, all, references, resolution)
  return { ...resolution, notes: [...new Set(why.filter(Boolean)), ...resolution.notes] }
}

/** Resolves a page again without the fetched packages that the safety check blocks. */
async function withoutBlocked(
  ctx: AppContext,
  all: Library[],
  references: PageReferences,
  resolution: Resolution,
): Promise<Resolution> {
  const blocked = await findBlocked(ctx, resolution)
  if (blocked.size === 0) return resolution
  const rest = all.filter((library) => !blocked.has(library))
  // What a page gets in their place is checked, too.
  const next = await withoutBlocked(ctx, rest, references, await resolvePage(rest, references))
  const notes = [...blocked].map(
    (one) => `The fetched ${labelOf(one)} is not used: the safety check blocked it.`,
  )
  return { ...next, notes: [...next.notes, ...notes] }
}

/** Returns the fetched libraries with a script that the safety check blocks, or cannot read. */
async function findBlocked(ctx: AppContext, { contents }: Resolution): Promise<Set<Library>> {
  const scripts = contents.filter(
    ({ library, type }) => library.source === 'fetched' && type === 'text/javascript',
  )
  const blocked = new Set<Library>()
  for (const { sha256, content, library } of scripts) {
    const isSafe = await ctx.libraryFetcher.isSafe(sha256, () => passes(ctx, content))
    if (!isSafe) blocked.add(library)
  }
  return blocked
}

async function passes(ctx: AppContext, content: Uint8Array): Promise<boolean> {
  const text = new TextDecoder().decode(content).replace(/<\/(?=script)/gi, '<\\/')
  const page = new TextEncoder().encode(
    `<!doctype html><title>library</title><script>${text}</script>`,
  )
  try {
    return (await ctx.inspector.inspect(page)).scan.verdict !== 'block'
  } catch (error) {
    // It takes too much time or memory.
    if (isApiError(error, 'blocked_by_scan')) return false
    throw error
  }
}
