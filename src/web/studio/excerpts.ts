import { cutLine } from './lines.ts'

const contextLines = 2

/** A place in a page: its line, and what stands there, as the safety check tells it. */
export interface SourcePosition {
  line: number
  excerpt: string
}

/** A line of a page with its number, and whether it is the one that was found. */
export interface SourceLine {
  number: number
  text: string
  isFound: boolean
}

/** The lines around each place of a page. */
export function createExcerpts(page: string, places: SourcePosition[]): SourceLine[][] {
  const lines = page.split('\n')
  return places.map(({ line, excerpt }) => {
    const first = Math.max(1, line - contextLines)
    return lines.slice(first - 1, line + contextLines).map((text, at) => {
      const isFound = first + at === line
      // Excerpts have their spaces collapsed: their first word is where they begin.
      const [word = ''] = excerpt.split(' ', 1)
      return { number: first + at, text: cutLine(text, isFound ? text.indexOf(word) : 0), isFound }
    })
  })
}
