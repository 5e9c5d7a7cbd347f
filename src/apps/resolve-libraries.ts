import type { AppContext } from '../kernel/context.ts'
import { htmlBytesMax } from '../kernel/limits.ts'
import { labelOf, type Library, type PageReferences } from './libraries/library.ts'
import { requestOf } from './libraries/registry.ts'
import type { Resolution } from './libraries/resolution.ts'
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
  const failed = new Map<string, string>()
  for (let round = 0; round < roundsMax && resolution.missing.length > 0; round += 1) {
    const results = await ctx.libraryFetcher.fetchAll(ctx, resolution.missing)
    for (const [request, { why }] of results) if (why !== '') failed.set(request, why)
    if (!results.values().some(({ isAdded }) => isAdded)) break
    all = await ctx.libraries.list()
    resolution = await resolvePage(all, references)
  }
  // A library of cdnjs may be one of two packages, and a page names one of them.
  const why = resolution.missing.flatMap((one) => failed.get(requestOf(one)) ?? [])
  resolution = { ...resolution, notes: [...new Set(why), ...resolution.notes] }
  const blocked = await findBlocked(ctx, all, resolution)
  if (blocked.size === 0) return resolution
  const rest = await resolvePage(
    all.filter((library) => !blocked.has(labelOf(library))),
    references,
  )
  const notes = [...blocked].map((label) => `${label} is not used: the safety check blocked it.`)
  return { ...rest, notes: [...rest.notes, ...notes] }
}

/** Returns the fetched libraries with a script that the safety check blocks, or cannot read. */
async function findBlocked(
  ctx: AppContext,
  all: Library[],
  { contents }: Resolution,
): Promise<Set<string>> {
  const fetched = new Set(all.filter(({ source }) => source === 'fetched').map(labelOf))
  const scripts = contents.filter(
    ({ library, type }) => fetched.has(library) && type === 'text/javascript',
  )
  const blocked = new Set<string>()
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
  if (page.byteLength > htmlBytesMax) return false
  return (await ctx.inspector.inspect(page)).scan.verdict !== 'block'
}
