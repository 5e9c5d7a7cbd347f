/**
 * `bun scripts/tidy.ts [folder]`: checks the rules of CONTRIBUTING.md. Prints one line per
 * finding: path:line, the problem, the fix. Exits 1 if there is one.
 */
import { join } from 'node:path'

import { errorCoverage, responseTypes } from './tidy/contract.ts'
import { dead } from './tidy/dead.ts'
import { arrows } from './tidy/modules.ts'
import { markdown } from './tidy/prose.ts'
import { reach } from './tidy/reach.ts'
import { shape } from './tidy/shape.ts'
import { type Finding, readTree, type Source } from './tidy/source.ts'
import { sql } from './tidy/sql.ts'
import { vocabulary } from './tidy/vocabulary.ts'

export const checks: ((tree: Source[]) => Finding[])[] = [
  arrows,
  reach,
  sql,
  shape,
  dead,
  errorCoverage,
  responseTypes,
  vocabulary,
]

if (import.meta.main) {
  const root = Bun.argv[2] ?? join(import.meta.dir, '..')
  const tree = readTree(root)
  const found = [...checks.flatMap((check) => check(tree)), ...markdown(root)]
  found.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line)
  for (const { path, line, what, mend } of found) console.log(`${path}:${line}  ${what}  ${mend}`)
  console.log(`tidy: ${tree.length} files, ${found.length} findings`)
  process.exit(found.length === 0 ? 0 : 1)
}
