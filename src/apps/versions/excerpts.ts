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

export function commonPrefixLength(one: string, other: string): number {
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
