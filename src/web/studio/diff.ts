import { structuredPatch } from 'diff'

import { commonPrefixLength, cutLine } from './lines.ts'

/** What differs between two pages is shown in at most so many lines. */
const diffLinesMax = 1_000
/** The work grows with these, and with the square of edits: pages beyond are not compared. */
const editsMax = 1_500
const pageLinesMax = 100_000
const contextLines = 3

/** A line of a difference, with its number in the page before and in the page after. */
export interface DiffLine {
  sign: '+' | '-' | ' '
  before: number | undefined
  after: number | undefined
  text: string
}

/** What differs between two pages: places with some lines around them, and how much in all. */
export interface Diff {
  hunks: DiffLine[][]
  added: number
  removed: number
  /** Lines of places that are not shown. */
  left: number
}

/**
 * Compares two pages line by line (Myers' algorithm); long lines are cut around what differs.
 * Undefined where they have too little in common, or too many lines.
 */
export function createDiff(before: string, after: string): Diff | undefined {
  if ([before, after].some(isTooLong)) return undefined
  const options = { context: contextLines, maxEditLength: editsMax }
  const patch = structuredPatch('', '', before, after, '', '', options)
  if (!patch) return undefined
  const all = patch.hunks.map(({ lines, oldStart, newStart }) =>
    numberLines(lines, oldStart, newStart),
  )
  const count = (wanted: DiffLine['sign']): number =>
    all.reduce((sum, place) => sum + place.filter(({ sign }) => sign === wanted).length, 0)
  let room = diffLinesMax
  const places: DiffLine[][] = []
  for (const place of all) {
    if (room > 0) places.push(cutLines(place.slice(0, room)))
    room -= place.length
  }
  return { hunks: places, added: count('+'), removed: count('-'), left: Math.max(0, -room) }
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
    // What begins with a backslash tells of a page without a last line break.
    return line.startsWith(' ') ? [{ sign: ' ', before: before++, after: after++, text }] : []
  })
}

/** Cuts long lines: one that took the place of another, where the two begin to differ. */
function cutLines(place: DiffLine[]): DiffLine[] {
  const twins = new Map<DiffLine, string>()
  let gone: DiffLine[] = []
  for (const line of place) {
    if (line.sign === '-') gone.push(line)
    const twin = line.sign === '+' ? gone.shift() : undefined
    if (twin) twins.set(line, twin.text).set(twin, line.text)
    if (line.sign === ' ') gone = []
  }
  return place.map((line) => ({
    ...line,
    text: cutLine(line.text, commonPrefixLength(line.text, twins.get(line) ?? '')),
  }))
}
