import { applyPatch, type StructuredPatchHunk } from 'diff'

import { withoutPageLocation } from '../folders/page-location.ts'
import { cutLine } from './diff.ts'

/** A change of one file: a text and its replacement, or a hunk of a unified diff. */
export type PatchChange = { search: string; replace: string } | StructuredPatchHunk

/** A file to change, with the changes in their order and their numbers in the request. */
export interface PatchedFile {
  path: string
  bytes: Uint8Array
  changes: { number: number; change: PatchChange }[]
  /** A script or page of a folder, whose code the publish changed. */
  isLocated: boolean
}

/** A change that does not fit its file, with the text there that is most like it. */
export interface PatchConflict {
  path: string
  number: number
  why: string
  /** First line of `nearest`; 0 where nothing is alike. */
  line: number
  nearest: string
}

const nearestLinesMax = 12

/** Applies changes to a file. Returns its new text, or the first change that does not fit. */
export function patchFile({
  path,
  bytes,
  changes,
  isLocated,
}: PatchedFile): string | PatchConflict {
  // A patch has the text of the author, or that of a version.
  const written = (text: string): string => (isLocated ? withoutPageLocation(text) : text)
  // A page keeps its byte order mark.
  let text = written(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  for (const { number, change: given } of changes) {
    const change = inText(given, written)
    const done = 'search' in change ? replaceOnce(text, change) : applyHunk(text, change)
    if ('why' in done) return { path, number, why: done.why, ...findNearest(text, change) }
    text = done.text
  }
  return text
}

const inText = (change: PatchChange, written: (text: string) => string): PatchChange =>
  'lines' in change
    ? { ...change, lines: change.lines.map(written) }
    : { search: written(change.search), replace: written(change.replace) }

type Attempt = { text: string } | { why: string }

function replaceOnce(text: string, change: { search: string; replace: string }): Attempt {
  // Models send line feeds, also for a page with other line ends.
  const [search, replace] = [change.search, change.replace].map((part) =>
    text.includes('\r\n') ? part.replaceAll(/\r?\n/g, '\r\n') : part,
  )
  if (search === undefined || replace === undefined) return { why: 'has no text' }
  const at = text.indexOf(search)
  if (at < 0) return { why: 'does not occur' }
  if (text.includes(search, at + 1)) return { why: 'occurs several times: add lines around it' }
  return { text: text.slice(0, at) + replace + text.slice(at + search.length) }
}

function applyHunk(text: string, hunk: StructuredPatchHunk): Attempt {
  // The hunks before it have moved its place from the old to the new number of the line.
  const moved = { ...hunk, oldStart: hunk.newStart }
  const names = { oldFileName: '', newFileName: '', oldHeader: '', newHeader: '' }
  const done = applyPatch(text, { ...names, hunks: [moved] })
  return done === false ? { why: 'does not occur' } : { text: done }
}

/** Returns the lines of a file that have most lines, or else most words, of a change. */
function findNearest(text: string, change: PatchChange): Pick<PatchConflict, 'line' | 'nearest'> {
  const searched = 'search' in change ? change.search.split('\n') : linesBefore(change)
  const lines = text.split('\n')
  const start = startOfMostLines(lines, searched) ?? lineOfMostWords(lines, searched)
  if (start === undefined) return { line: 0, nearest: '' }
  const first = Math.max(0, start)
  const shown = lines.slice(first, first + Math.min(searched.length + 2, nearestLinesMax))
  return { line: first + 1, nearest: shown.map((line) => cutLine(line, 0)).join('\n') }
}

const linesBefore = ({ lines }: StructuredPatchHunk): string[] =>
  lines.filter((line) => /^[ -]/.test(line)).map((line) => line.slice(1))

/** Each equal line votes for the start that its place implies. Spaces around it do not count. */
function startOfMostLines(lines: string[], searched: string[]): number | undefined {
  const places = new Map<string, number>()
  for (const [at, line] of searched.entries()) if (line.trim() !== '') places.set(line.trim(), at)
  const votes = new Map<number, number>()
  for (const [at, line] of lines.entries()) {
    const place = places.get(line.trim())
    if (place !== undefined) votes.set(at - place, (votes.get(at - place) ?? 0) + 1)
  }
  return keyOfMax(votes)
}

function lineOfMostWords(lines: string[], searched: string[]): number | undefined {
  const words = new Set(searched.join(' ').match(/\w{2,}/g))
  const votes = new Map<number, number>()
  for (const [at, line] of lines.entries()) {
    const shared = new Set(line.match(/\w{2,}/g)).intersection(words).size
    if (shared > 0) votes.set(at, shared)
  }
  return keyOfMax(votes)
}

const keyOfMax = (votes: Map<number, number>): number | undefined =>
  [...votes].reduce<[number, number] | undefined>(
    (best, vote) => (best && best[1] >= vote[1] ? best : vote),
    undefined,
  )?.[0]
