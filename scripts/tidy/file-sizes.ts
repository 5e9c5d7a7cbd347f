/** Sizes of files: one topic each, neither cut by length nor grown without a reason. */
import { type Finding, isTest, serverFiles, type Source } from './source.ts'

const longLines = 400
const shortLines = 40

/**
 * Short files with one importer that an earlier limit of 250 lines produced. Lower this number
 * with each one that is put back together.
 */
export const unexplainedMax = 3

/** Files that have a reason to be short: they are started, listed or read on their own. */
const entries =
  /(\/tables\.ts|operations\.ts|\.worker\.ts|^src\/main\.ts|\/cli\/commands\/[a-z]+\.ts)$/

export const fileSizes = (tree: Source[]): Finding[] => [...longFiles(tree), ...shortFiles(tree)]

const linesOf = ({ text }: Source): number => text.replace(/\n$/, '').split('\n').length

/** Finds files above 400 lines that do not start with a comment that says why. */
const longFiles = (tree: Source[]): Finding[] =>
  tree
    .filter((source) => linesOf(source) > longLines && !source.text.startsWith('/**'))
    .map((source) => ({
      path: source.path,
      line: 1,
      what: `${linesOf(source)} lines without a reason`,
      fix: 'start it with a comment that says why it is one topic, or split it by topic',
    }))

/** Finds files of the product below 40 lines that one other file imports, or none. */
function shortFiles(tree: Source[]): Finding[] {
  const importers = new Map<string, number>()
  for (const { path, imports } of tree) {
    if (isTest(path)) continue
    for (const to of new Set(imports.map((entry) => entry.to))) {
      importers.set(to, (importers.get(to) ?? 0) + 1)
    }
  }
  const found = serverFiles(tree).filter(
    (source) =>
      !entries.test(source.path) &&
      linesOf(source) < shortLines &&
      (importers.get(source.path) ?? 0) < 2,
  )
  if (found.length <= unexplainedMax) return []
  return found.map(({ path }) => ({
    path,
    line: 1,
    what: `a short file with one importer, one of ${found.length}; ${unexplainedMax} are allowed`,
    fix: 'put it into the file that uses it',
  }))
}
