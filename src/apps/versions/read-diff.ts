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
