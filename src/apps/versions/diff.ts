import {
  FILE_HEADERS_ONLY,
  formatPatch,
  parsePatch,
  structuredPatch,
  type StructuredPatchHunk,
} from 'diff'

/** The maximum length of a displayed line, and the context before the position of interest. */
const lineCharsMax = 240
const leadCharsMax = 40

/** Cuts a long line around a position. */
export function cutLine(text: string, at: number): string {
  if (text.length <= lineCharsMax) return text
  const start = Math.min(Math.max(0, at - leadCharsMax), text.length - lineCharsMax)
  const end = start + lineCharsMax
  const shown = text.slice(start, end).toWellFormed()
  return `${start > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`
}

function commonPrefixLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one[at] === other[at]) at += 1
  return at
}

const contextLines = 2

/** A position that the safety check reports. */
export interface SourcePosition {
  line: number
  excerpt: string
}

/** A line of source; `isFound` marks the reported one. */
export interface SourceLine {
  number: number
  text: string
  isFound: boolean
}

/** Returns the lines around each position. */
export function createExcerpts(page: string, places: SourcePosition[]): SourceLine[][] {
  const lines = page.split('\n')
  return places.map(({ line, excerpt }) => {
    const first = Math.max(1, line - contextLines)
    return lines.slice(first - 1, line + contextLines).map((text, at) => {
      const isFound = first + at === line
      // Excerpts have collapsed spaces, so their first word locates them.
      const [word = ''] = excerpt.split(' ', 1)
      return { number: first + at, text: cutLine(text, isFound ? text.indexOf(word) : 0), isFound }
    })
  })
}

/** The maximum number of displayed lines. */
const diffLinesMax = 1_000
/** Larger comparisons are rejected: the work grows with the lines and the square of the edits. */
const editsMax = 1_500
const pageLinesMax = 100_000
const options = { context: 3, maxEditLength: editsMax }

/** A line of a diff, with its line numbers in the old and the new page. */
export interface DiffLine {
  sign: '+' | '-' | ' '
  before: number | undefined
  after: number | undefined
  text: string
}

export interface Diff {
  hunks: DiffLine[][]
  added: number
  removed: number
  /** Lines beyond the display limit. */
  left: number
}

/**
 * Compares two pages line by line with Myers' algorithm and cuts long lines around the change.
 * Returns undefined for pages that are too large or too different.
 */
export function createDiff(before: string, after: string): Diff | undefined {
  if ([before, after].some(isTooLong)) return undefined
  const patch = structuredPatch('', '', before, after, '', '', options)
  if (!patch) return undefined
  return toDiff(patch.hunks)
}

/** Returns a diff that `createPatch` made as `createDiff` does. */
export const parseDiff = (diff: string): Diff =>
  toDiff(parsePatch(diff).flatMap(({ hunks }) => hunks))

function toDiff(hunks: StructuredPatchHunk[]): Diff {
  const all = hunks.map(({ lines, oldStart, newStart }) => numberLines(lines, oldStart, newStart))
  const count = (counted: DiffLine['sign']): number =>
    all.reduce((sum, hunk) => sum + hunk.filter(({ sign }) => sign === counted).length, 0)
  let budget = diffLinesMax
  const places: DiffLine[][] = []
  for (const hunk of all) {
    if (budget > 0) places.push(cutLines(hunk.slice(0, budget)))
    budget -= hunk.length
  }
  return { hunks: places, added: count('+'), removed: count('-'), left: Math.max(0, -budget) }
}

/** A unified diff of a file that a patch takes, with the numbers of its lines. */
export interface UnifiedDiff {
  text: string
  added: number
  removed: number
}

/** Compares two texts as `createDiff` does, with whole lines. */
export function createPatch(path: string, before: string, after: string): UnifiedDiff | undefined {
  if ([before, after].some(isTooLong)) return undefined
  const patch = structuredPatch(path, path, before, after, undefined, undefined, options)
  if (!patch) return undefined
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  const text = patch.hunks.length === 0 ? '' : formatPatch(patch, FILE_HEADERS_ONLY)
  return { text, added: count('+'), removed: count('-') }
}

function isTooLong(page: string): boolean {
  let lines = 0
  for (
    let at = page.indexOf('\n');
    at >= 0 && lines <= pageLinesMax;
    at = page.indexOf('\n', at + 1)
  ) {
    lines += 1
  }
  return lines > pageLinesMax
}

function numberLines(lines: string[], oldStart: number, newStart: number): DiffLine[] {
  let [before, after] = [oldStart, newStart]
  return lines.flatMap((line): DiffLine[] => {
    const text = line.slice(1)
    if (line.startsWith('+')) return [{ sign: '+', before: undefined, after: after++, text }]
    if (line.startsWith('-')) return [{ sign: '-', before: before++, after: undefined, text }]
    // A line with a backslash marks a missing final line break.
    return line.startsWith(' ') ? [{ sign: ' ', before: before++, after: after++, text }] : []
  })
}

/** Cuts long lines; a replaced line is cut where it differs from its replacement. */
function cutLines(hunk: DiffLine[]): DiffLine[] {
  const pairs = new Map<DiffLine, string>()
  let removedLines: DiffLine[] = []
  for (const line of hunk) {
    if (line.sign === '-') removedLines.push(line)
    const pair = line.sign === '+' ? removedLines.shift() : undefined
    if (pair) pairs.set(line, pair.text).set(pair, line.text)
    if (line.sign === ' ') removedLines = []
  }
  return hunk.map((line) => ({
    ...line,
    text: cutLine(line.text, commonPrefixLength(line.text, pairs.get(line) ?? '')),
  }))
}

/** A hunk of a diff. */
export interface Hunk {
  /** Place of its first line before the change, from 1; undefined without numbers. */
  start: number | undefined
  /** Each begins with a space, `-`, `+`, or the backslash of a missing line feed at the end. */
  lines: string[]
}

/** A hunk with the name of its file, which may be missing. */
interface FileHunk {
  path: string | undefined
  change: Hunk
}

const hunkHeader = /^@@+(?:\s*-(\d+))?/
/** Lines of git, of models and of Markdown around hunks, which change nothing. */
const ignored = /^(?:diff --git |index |(?:old|new) mode |similarity index |rename |```|\*\*\* )/
const addsOrDeletes =
  /^(?:(?:new|deleted) file mode|\*\*\* (?:Add|Delete) File:|(?:---|\+\+\+) \/dev\/null)/
/** Git puts names in quotes that have other bytes than ASCII, quotes or backslashes. */
const fileHeader = /^(?:\+\+\+|\*\*\* Update File:) (?:"((?:[^"\\]|\\.)+)|([^\t"]+))/
const searchBlock = /^<{5,} ?SEARCH$/

/**
 * Reads a unified diff as models write it: numbers of its headers may be wrong or missing, and so
 * may the space of a line that stays. Throws a SyntaxError that names the line.
 */
export function readDiff(text: string): FileHunk[] {
  const hunks: FileHunk[] = []
  const rows = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  let path: string | undefined
  let lines: string[] | undefined
  for (const [at, row] of rows.entries()) {
    // After a hunk, "--- a" and "+++ b" can be a removed and an added line.
    const isHead = [at, at - 1].some(
      (first) => isPair(rows, first) && (!hunks.length || rows[first + 2]?.startsWith('@@')),
    )
    if (searchBlock.test(row))
      throw new SyntaxError(`line ${at + 1} begins a search: send it in "edits" instead`)
    if (addsOrDeletes.test(row) && (isHead || !/^[-+]/.test(row)))
      throw new SyntaxError(`line ${at + 1} adds or deletes a file`)
    const header = hunkHeader.exec(row)
    if (header) {
      lines = []
      const start = header[1] === undefined ? undefined : Number(header[1])
      hunks.push({ path, change: { start, lines } })
    } else if (isHead || ignored.test(row)) {
      lines = undefined
      const [, quoted, name = quoted && unquote(quoted)] = fileHeader.exec(row) ?? []
      path = name?.trim() ?? path
    } else if (lines) lines.push(row)
    // A line that stays, such as "```", can look like one around hunks.
    else if (/^[-+]/.test(row) || (hunks.length > 0 && row.trim() !== ''))
      throw new SyntaxError(
        `line ${at + 1} has no line with @@ before it. Lines that stay begin with a space`,
      )
  }
  for (const { change } of hunks) change.lines = withSigns(change.lines)
  if (hunks.some(({ change }) => !change.lines.some((line) => /^[-+]/.test(line))))
    throw new SyntaxError('a line with @@ has no lines with - or + after it')
  return hunks
}

/** Decodes the escapes of git, which writes a byte of UTF-8 as `\ooo`. */
const unquote = (name: string): string =>
  name.replace(/(?:\\[0-7]{3})+|\\(["\\])/g, (bytes, sign?: string) => {
    const octals = bytes.split('\\').slice(1)
    return sign ?? Buffer.from(octals.map((octal) => Number.parseInt(octal, 8))).toString()
  })

const isPair = (rows: string[], at: number): boolean =>
  rows[at]?.startsWith('--- ') === true && rows[at + 1]?.startsWith('+++ ') === true

/** Returns lines with a sign each. Empty ones at the end are the space between hunks. */
function withSigns(rows: string[]): string[] {
  const count = rows.findLastIndex((row) => row !== '') + 1
  return rows.slice(0, count).map((row) => (/^[-+ \\]/.test(row) ? row : ` ${row}`))
}
