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
