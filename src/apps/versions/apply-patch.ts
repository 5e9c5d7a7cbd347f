import { isLocatedCode } from '../folders/page-location.ts'
import { locateCode, withoutPageLocation } from '../folders/script-location.ts'
import { cutLine, type Hunk } from './diff.ts'

/** A change of one file: a text and its replacement, or a hunk of a unified diff. */
export type PatchChange = { search: string; replace: string } | Hunk

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
const placesMax = 5

/** Applies changes to a file. Returns its new text, or the first change that does not fit. */
export function patchFile({
  path,
  bytes,
  changes,
  isLocated,
}: PatchedFile): string | PatchConflict {
  // A page keeps its byte order mark.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  // A patch has the text of the author, or that of a version.
  const isChanged = isLocated && isLocatedCode(text)
  const written = (one: string): string => (isChanged ? withoutPageLocation(one) : one)
  const patched = new PatchedText(written(text))
  for (const { number, change: given } of changes) {
    const change = inText(given, written)
    const why = 'search' in change ? patched.replace(change) : patched.apply(change)
    if (why !== undefined) return { path, number, why, ...findNearest(patched.text(), change) }
  }
  // No page pins a file that a patch changes, or the browser would block it.
  return isLocated ? locateCode({ path, text: patched.text() }).text : patched.text()
}

const inText = (change: PatchChange, written: (text: string) => string): PatchChange =>
  'lines' in change
    ? { ...change, lines: change.lines.map(written) }
    : { search: written(change.search), replace: written(change.replace) }

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length

/** Says that the text of a change is at several places, by the numbers of their lines. */
function severalTimes(numbers: number[]): string {
  const shown = numbers.slice(0, placesMax).join(', ')
  const more = numbers.length > placesMax ? ' and more' : ''
  return `occurs several times, at lines ${shown}${more}: add lines around it`
}

/** Line ends as a change has them, and those of a page or a model on another system. */
const lineEnds: ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll(/\r?\n/g, '\r\n'),
  (text) => text.replaceAll('\r\n', '\n'),
]

/** The text of a file that changes. Each change returns why it does not fit, or undefined. */
class PatchedText {
  /** The lines without their ends. */
  #lines: string[] = []
  #ends: string[] = []
  /** Lines that hunks added, less those that they removed. */
  #moved = 0
  /** That of most lines. */
  readonly #lineEnd: string

  constructor(text: string) {
    const count = (end: string): number => text.split(end).length - 1
    this.#lineEnd = 2 * count('\r\n') > count('\n') ? '\r\n' : '\n'
    this.#read(text)
  }

  #read(text: string): void {
    const rows = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
    this.#ends = rows.map((row) => /\r?\n$/.exec(row)?.[0] ?? '')
    this.#lines = rows.map((row, at) => row.slice(0, row.length - (this.#ends[at]?.length ?? 0)))
  }

  text(): string {
    return this.#lines.map((line, at) => line + this.#ends[at]).join('')
  }

  /** Replaces a text that occurs once. */
  replace(change: { search: string; replace: string }): string | undefined {
    const text = this.text()
    const convert = lineEnds.find((one) => text.includes(one(change.search)))
    if (!convert) return 'does not occur'
    const search = convert(change.search)
    const replace = change.replace.replaceAll(/\r?\n/g, this.#lineEnd)
    const places: number[] = []
    for (let at = text.indexOf(search); at >= 0; at = text.indexOf(search, at + 1)) {
      places.push(at)
      if (places.length > placesMax) break
    }
    const [at = 0] = places
    if (places.length > 1) return severalTimes(places.map((place) => lineAt(text, place)))
    this.#read(text.slice(0, at) + replace + text.slice(at + search.length))
    return undefined
  }

  /** Applies a hunk at the only place of its lines, or at its number where there are several. */
  apply(hunk: Hunk): string | undefined {
    const before = linesBefore(hunk)
    const numbered = (hunk.start ?? Number.NaN) + this.#moved - (before.length > 0 ? 1 : 0)
    const places = before.length > 0 ? this.#find(before) : [numbered]
    const at = places.includes(numbered) ? numbered : places[0]
    if (at === undefined) return 'does not occur'
    if (!(at >= 0 && at <= this.#lines.length)) return 'has no lines around it: add some'
    if (places.length > 1 && at !== numbered) return severalTimes(places.map((place) => place + 1))
    this.#replaceLines(at, before.length, hunk)
    return undefined
  }

  /** Returns the places of lines that follow each other. */
  #find(searched: string[]): number[] {
    const lines = this.#lines
    return lines.flatMap((_, at) =>
      searched.every((line, offset) => lines[at + offset] === line) ? [at] : [],
    )
  }

  #replaceLines(at: number, length: number, hunk: Hunk): void {
    const [lines, ends] = [this.#lines, this.#ends]
    const hadEnd = ends.at(-1) !== ''
    const after = hunk.lines.filter((line) => /^[ +]/.test(line))
    // Lines that stay keep their end.
    let next = at
    const madeEnds = hunk.lines.flatMap((line) => {
      if (/^[ -]/.test(line)) next += 1
      return line.startsWith('+')
        ? [this.#lineEnd]
        : line.startsWith(' ')
          ? [ends[next - 1] ?? '']
          : []
    })
    this.#lines = [
      ...lines.slice(0, at),
      ...after.map((line) => line.slice(1)),
      ...lines.slice(next),
    ]
    const all = [...ends.slice(0, at), ...madeEnds, ...ends.slice(next)]
    const last = all.length - 1
    const hasEnd = next < lines.length ? hadEnd : endsInLineFeed(hunk, hadEnd)
    this.#ends = all.map((end) => end || this.#lineEnd)
    if (last >= 0 && !hasEnd) this.#ends[last] = ''
    this.#moved += after.length - length
  }
}

/** Returns whether a file ends in a line feed after its last hunk. */
function endsInLineFeed({ lines }: Hunk, hadEnd: boolean): boolean {
  const marked = lines.flatMap((line, at) => (line.startsWith('\\') ? [lines[at - 1]?.[0]] : []))
  if (marked.some((sign) => sign !== '-')) return false
  return marked.length > 0 || hadEnd
}

/** Returns the lines of a file that have most lines, or else most words, of a change. */
function findNearest(text: string, change: PatchChange): Pick<PatchConflict, 'line' | 'nearest'> {
  const searched = 'search' in change ? change.search.split(/\r?\n/) : linesBefore(change)
  const lines = text.split(/\r?\n/)
  const start = startOfMostLines(lines, searched) ?? lineOfMostWords(lines, searched)
  if (start === undefined) return { line: 0, nearest: '' }
  const first = Math.max(0, start)
  const shown = lines.slice(first, first + Math.min(searched.length + 2, nearestLinesMax))
  // A page in one line is cut where the longest word is that both have.
  const words = wordsOf(searched).sort((one, other) => other.length - one.length)
  const cut = (line: string): string =>
    cutLine(line, Math.max(0, line.indexOf(words.find((word) => line.includes(word)) ?? '')))
  return { line: first + 1, nearest: shown.map(cut).join('\n') }
}

const wordsOf = (lines: string[]): string[] => lines.join(' ').match(/\w{2,}/g) ?? []

const linesBefore = ({ lines }: Hunk): string[] =>
  lines.filter((line) => /^[ -]/.test(line)).map((line) => line.slice(1))

/**
 * Each equal line votes for the start that its place implies. Spaces around it do not count, nor
 * do lines such as a brace.
 */
function startOfMostLines(lines: string[], searched: string[]): number | undefined {
  const places = new Map<string, number>()
  for (const [at, line] of searched.entries())
    if (line.trim().length > 2) places.set(line.trim(), at)
  const votes = new Map<number, number>()
  for (const [at, line] of lines.entries()) {
    const place = places.get(line.trim())
    if (place !== undefined) votes.set(at - place, (votes.get(at - place) ?? 0) + 1)
  }
  return keyOfMax(votes)
}

function lineOfMostWords(lines: string[], searched: string[]): number | undefined {
  const words = new Set(wordsOf(searched))
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
