/** The modules of Node that no start loads: each takes 2 to 10 of its milliseconds. */
import ts from 'typescript'

import { type Finding, finding, type Import, type Source } from './source.ts'

const slow = new Set(
  [
    'child_process',
    'crypto',
    'dns',
    'dns/promises',
    'http',
    'https',
    'net',
    'stream',
    'tls',
    'zlib',
  ].map((name) => `node:${name}`),
)

/** Finds slow modules that `src/main.ts` imports, itself or through others. */
export function startImports(tree: Source[]): Finding[] {
  const sources = new Map(tree.map((source) => [source.path, source]))
  const seen = new Set(['src/main.ts'])
  const found: Finding[] = []
  for (const path of seen) {
    const source = sources.get(path)
    for (const { to, node } of source?.imports.filter(isLoadedAtOnce) ?? []) {
      seen.add(to)
      if (!source || !slow.has(to)) continue
      const what = `the start loads ${to}`
      found.push(finding(source, node, what, 'import it where it is used: await import()'))
    }
  }
  return found
}

const isLoadedAtOnce = ({ node, typeOnly }: Import): boolean =>
  !typeOnly && !ts.isCallExpression(node)
