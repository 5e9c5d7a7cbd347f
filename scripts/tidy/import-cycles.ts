import { type Finding, finding, serverFiles, type Source } from './source.ts'

/** Finds import cycles of files, types included, and of modules as `moduleOf` groups them. */
export function importCycles(tree: Source[], moduleOf: (path: string) => string): Finding[] {
  const product = serverFiles(tree)
  const cycle = findCycle(files(product)) ?? findCycle(modules(product, moduleOf))
  const start = product.find((source) => cycle && source.path.startsWith(cycle[0] ?? ''))
  if (!cycle || !start) return []
  const what = `an import cycle: ${cycle.join(' -> ')}`
  return [finding(start, start.ast, what, 'move the shared part into an earlier module')]
}

type Graph = Map<string, string[]>

const files = (product: Source[]): Graph =>
  new Map(product.map(({ path, imports }) => [path, imports.map((entry) => entry.to)]))

const settings = /^src\/kernel\/config\//

/**
 * Builds the graph of modules. Type imports of the config and references between tables are
 * allowed everywhere.
 */
function modules(product: Source[], moduleOf: (path: string) => string): Graph {
  const graph: Graph = new Map()
  for (const { path, imports } of product) {
    const here = moduleOf(path)
    const there = imports
      .filter(({ to, typeOnly }) => to.startsWith('src/') && !(typeOnly && settings.test(to)))
      .filter(({ to }) => !(to.endsWith('/tables.ts') && path.endsWith('/tables.ts')))
      .map(({ to }) => moduleOf(to))
      .filter((other) => other !== here)
    graph.set(here, [...(graph.get(here) ?? []), ...there])
  }
  return graph
}

function findCycle(graph: Graph): string[] | undefined {
  const done = new Set<string>()
  const search = (at: string, trail: string[]): string[] | undefined => {
    if (trail.includes(at)) return [...trail.slice(trail.indexOf(at)), at]
    if (done.has(at)) return undefined
    for (const next of graph.get(at) ?? []) {
      const cycle = search(next, [...trail, at])
      if (cycle) return cycle
    }
    done.add(at)
    return undefined
  }
  for (const at of graph.keys()) {
    const cycle = search(at, [])
    if (cycle) return cycle
  }
  return undefined
}
