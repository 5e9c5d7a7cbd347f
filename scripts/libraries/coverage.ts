/**
 * Prints the share of library uses in pages made by models that the embedded set covers, the
 * packages that it lacks, and its compressed size (about 20 seconds).
 *   bun scripts/libraries/coverage.ts
 *
 * uses.csv has counts only: a use is one package or font family that one page loads. `version` is
 * there where a page needs that one: an old major version, or an exact one because of `integrity`.
 */
import { join } from 'node:path'

import { buildArchive, readInstalled } from '../../src/apps/libraries/embedded.ts'
import { findFont } from '../../src/apps/libraries/find-files.ts'
import type { Library } from '../../src/apps/libraries/library.ts'
import { findLibrary } from '../../src/apps/libraries/store.ts'
import { brotli } from '../brotli.ts'

interface Use {
  source: string
  name: string
  version: string
  kind: string
  uses: number
}

/** Packages that no binary can make work in the sandbox, or that it may not carry. */
const outOfReach: Record<string, string> = {
  remotion: 'license for small companies only',
  '@remotion/': 'license for small companies only',
  qrious: 'license GPL-3.0',
  '@mediapipe/': 'loads models by computed names',
  pyodide: 'more than 10 MB',
  'tesseract.js': 'loads language data from its server',
  '@google/generative-ai': 'calls a server',
  'tmi.js': 'calls a server',
  'kit.fontawesome.com': 'belongs to an account',
}

const missingMax = 40

/** Reads the rows of a table without quotes. */
const rowsOf = async (name: string): Promise<string[][]> => {
  const text = await Bun.file(join(import.meta.dir, name)).text()
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
}

const reasonOf = (name: string): string | undefined =>
  Object.entries(outOfReach).find(
    ([key]) => name === key || (key.endsWith('/') && name.startsWith(key)),
  )?.[1]

function isCovered(libraries: readonly Library[], { name, version, kind }: Use): boolean {
  if (kind === 'font') return findFont(libraries, name) !== undefined
  return findLibrary(libraries, name, version)?.isExact ?? false
}

const total = (uses: readonly Use[]): number => uses.reduce((sum, use) => sum + use.uses, 0)

const share = (part: readonly Use[], whole: readonly Use[]): string =>
  `${total(part)} of ${total(whole)} uses (${((100 * total(part)) / total(whole)).toFixed(1)} %)`

/** Adds up the uses of each package over all sources, most used first. */
function byPackage(uses: readonly Use[]): [name: string, uses: number][] {
  const sums = new Map<string, number>()
  for (const { name, version, uses: count } of uses) {
    const label = version === '' ? name : `${name}@${version}`
    sums.set(label, (sums.get(label) ?? 0) + count)
  }
  return [...sums].toSorted((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
}

const uses = (await rowsOf('uses.csv')).map(
  ([source = '', name = '', version = '', kind = '', count]): Use => ({
    source,
    name,
    version,
    kind,
    uses: Number(count),
  }),
)
const sources = await rowsOf('sources.csv')
const libraries = await readInstalled()
const covered = uses.filter((use) => isCovered(libraries, use))
const reachable = uses.filter(({ name }) => reasonOf(name) === undefined)
const fonts = uses.filter(({ kind }) => kind === 'font')

const pages = sources.reduce((sum, [, count]) => sum + Number(count), 0)
console.log(`Sample: ${pages} pages of ${sources.length} sources.`)
console.log(`Covered: ${share(covered, uses)}`)
console.log(
  `Without those out of reach: ${share(
    covered.filter((use) => reachable.includes(use)),
    reachable,
  )}`,
)
console.log(
  `Fonts: ${share(
    fonts.filter((use) => covered.includes(use)),
    fonts,
  )}`,
)
console.log('\nBy source:')
for (const [source = '', count] of sources) {
  const own = uses.filter((use) => use.source === source)
  if (own.length === 0) continue
  const part = covered.filter((use) => use.source === source)
  console.log(`  ${source}, ${count} pages: ${share(part, own)}`)
}
console.log('\nMost used, missing:')
for (const [label, count] of byPackage(uses.filter((use) => !covered.includes(use))).slice(
  0,
  missingMax,
)) {
  const reason = reasonOf(label.replace(/(?<=.)@[\d.]+$/, ''))
  console.log(`  ${count} ${label}${reason === undefined ? '' : ` (${reason})`}`)
}

const { index, body } = await buildArchive(libraries, brotli)
const bytes = body.byteLength + JSON.stringify(index).length
console.log(`\n${libraries.length} libraries, ${(bytes / 1_048_576).toFixed(2)} MB compressed`)
