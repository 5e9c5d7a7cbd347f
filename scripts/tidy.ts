/**
 * `bun scripts/tidy.ts [folder]`: checks the rules of CONTRIBUTING.md. Prints one line per
 * finding: path:line, the problem, the fix. Exits 1 if there is one.
 */
import { join } from 'node:path'

import { access } from './tidy/access.ts'
import { errorCoverage, responseTypes } from './tidy/contract.ts'
import { errorTexts } from './tidy/error-texts.ts'
import { fileSizes } from './tidy/file-sizes.ts'
import { lookups } from './tidy/lookups.ts'
import { arrows } from './tidy/modules.ts'
import { frontEndRules, outcomes, responses } from './tidy/operations.ts'
import { markdown, prose } from './tidy/prose.ts'
import { type Finding, readDeclarations, readTree, type Source } from './tidy/source.ts'
import { sql } from './tidy/sql.ts'
import { startImports } from './tidy/start-imports.ts'
import { style } from './tidy/style.ts'
import { unusedExports } from './tidy/unused-exports.ts'
import { vocabulary } from './tidy/vocabulary.ts'
import { droppedExpectations, waiting } from './tidy/waiting.ts'

export const checks: ((tree: Source[]) => Finding[])[] = [
  arrows,
  access,
  sql,
  style,
  fileSizes,
  unusedExports,
  errorCoverage,
  errorTexts,
  responseTypes,
  outcomes,
  responses,
  frontEndRules,
  lookups,
  vocabulary,
  waiting,
  droppedExpectations,
  startImports,
]

if (import.meta.main) {
  const root = Bun.argv[2] ?? join(import.meta.dir, '..')
  const tree = readTree(root)
  const declarations = readDeclarations(root).flatMap(prose)
  const found = [...checks.flatMap((check) => check(tree)), ...declarations, ...markdown(root)]
  found.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line)
  for (const { path, line, what, fix } of found) console.log(`${path}:${line}  ${what}  ${fix}`)
  console.log(`tidy: ${tree.length} files, ${found.length} findings`)
  process.exit(found.length === 0 ? 0 : 1)
}
