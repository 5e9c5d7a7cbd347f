import { plain } from '../../../kernel/forbidden-text.ts'
import { pattern } from '../../../kernel/text.ts'
import { interestOf } from './signals.ts'

const statementCharsMax = 1_000
const overlapChars = 200
const joinedLinesMax = 20
/** Statements after one that names a sensitive thing, which can refer to it. */
const followingMax = 4
/** Passages between two turns of the event loop: at most a few milliseconds. */
const turnLength = 400

/** A file of a pack. `path` is relative. */
export interface PackFile {
  path: string
  text: string
}

/** A command with its continuation lines, or a sentence. Bounded, so that rules need no bounds. */
export interface Statement {
  /** Offset in the file. */
  at: number
  /** Lower case, without look-alike letters, invisible characters and emphasis. */
  text: string
  /** The text with `/` for `\\` and with the pieces of quoted paths joined. */
  paths: string
  /** The rules that match regular expressions can match. */
  hasCue: boolean
  isCode: boolean
  /** The statement, its lead-in or its section warns about what it shows. */
  isWarning: boolean
  /** Number of the code block or file, counted from 1. Prose is 0. */
  block: number
}

/** Words of texts that describe attacks in order to prevent them. */
const warning = pattern(
  'i',
  String.raw`\b(?:never|do not|don['’]t|must not|avoid|dangerous|malicious|attack(?:er|s|ing)?|`,
  String.raw`unsafe|insecure|vulnerab\w*|exploit\w*|suspicious|inject(?:ion|ed)\w*|red flags?|`,
  String.raw`anti-?patterns?|forbidden|prohibited|refuse|reject|flag(?:s|ged)?|detect\w*|threats?|`,
  String.raw`indicators? of compromise|den(?:y|ied)|disallow\w*|bad practice|risk[ys]?|phishing|`,
  String.raw`untrusted|blocked|bad|wrong)\b`,
)
const isMarkdown = (path: string): boolean => /\.(?:md|mdx|markdown|txt|rst)$/i.test(path)

/**
 * Splits a file into statements. Linear; yields only those that a rule could match, and `turn`
 * from time to time, where the caller can return to the event loop.
 */
export function* readStatements({ path, text }: PackFile): Generator<Statement | 'turn'> {
  const lines = readLines(text, isMarkdown(path))
  let count = 0
  let following = 0
  for (const { at, raw, isCode, lead, block } of lines) {
    for (const piece of isCode ? [{ at: 0, raw }] : splitProse(raw)) {
      if (++count % turnLength === 0) yield 'turn'
      if (piece.raw.length < 5) continue
      for (const part of parts(piece.raw)) {
        const interest = interestOf(joinPieces(part.raw))
        if (interest === undefined && following-- <= 0) continue
        if (interest?.isSensitive) following = followingMax
        const isWarning = warning.test(part.raw) || warning.test(lead)
        const value = toPlain(part.raw, isCode)
        const paths = joinPieces(value)
        const hasCue = interest?.hasCue ?? false
        yield { at: at + piece.at + part.at, text: value, paths, hasCue, isCode, isWarning, block }
      }
    }
  }
}

interface Passage {
  at: number
  raw: string
  isCode: boolean
  /** The heading and the text before it. */
  lead: string
  block: number
}

interface Reader {
  fence: string
  heading: string
  before: string
  block: number
}

const fenceMark = /^\s{0,12}(?:>\s{0,3})?(`{3,}|~{3,})/
const startsItem = /^\s{0,40}(?:[-*+]\s|\d{1,4}[.)]\s|#{1,6}\s|\||>)/

/** Groups lines: a command with its continuation lines, or a paragraph or list item. */
function* readLines(text: string, markdown: boolean): Generator<Passage> {
  const reader: Reader = { fence: '', heading: '', before: '', block: markdown ? 0 : 1 }
  let open: Passage | undefined
  let joined = 0
  for (let at = 0; at <= text.length;) {
    const end = text.indexOf('\n', at)
    const next = end === -1 ? text.length + 1 : end + 1
    const line = text.slice(at, next - 1)
    const isCode = !markdown || reader.fence !== ''
    const mark = markdown ? fenceMark.exec(line)?.[1] : undefined
    const continues = open && joined < joinedLinesMax && !mark && isJoined(open, line, isCode)
    if (open && continues) {
      open.raw += `\n${line}`
      joined++
    } else {
      if (open) yield close(reader, open)
      open = mark ? turnFence(reader, mark) : start(reader, at, line, isCode)
      joined = 0
    }
    at = next
  }
  if (open) yield close(reader, open)
}

function isJoined(open: Passage, line: string, isCode: boolean): boolean {
  if (open.isCode !== isCode) return false
  if (isCode) return /\\\s{0,3}$/.test(open.raw.slice(-5))
  return line.trim() !== '' && !startsItem.test(line) && !open.raw.startsWith('#')
}

function start(reader: Reader, at: number, raw: string, isCode: boolean): Passage | undefined {
  if (raw.trim() === '') return undefined
  const lead = `${reader.heading}\n${reader.before}`
  return { at, raw, isCode, lead: isCode ? lead : reader.heading, block: isCode ? reader.block : 0 }
}

/** Remembers what stands before the next passage. A comment in code is the lead of its command. */
function close(reader: Reader, passage: Passage): Passage {
  const shown = passage.raw.slice(-300)
  if (!passage.isCode && passage.raw.startsWith('#')) reader.heading = shown
  if (!passage.isCode || /^\s*(?:#|\/\/|--|rem\b)/i.test(passage.raw)) reader.before = shown
  return passage
}

function turnFence(reader: Reader, mark: string): undefined {
  if (reader.fence === '') {
    reader.fence = mark
    reader.block++
  } else if (mark.startsWith(reader.fence)) {
    reader.fence = ''
  }
}

/** Splits a paragraph at the ends of its sentences. */
function* splitProse(raw: string): Generator<{ at: number; raw: string }> {
  let from = 0
  for (const end of raw.matchAll(
    /(?<!\b(?:e\.g|i\.e|cf|vs|z\. ?b))[.!?]["'”’)*_`]{0,3}\s+|[。！？]/g,
  )) {
    const to = end.index + end[0].length
    yield { at: from, raw: raw.slice(from, to) }
    from = to
  }
  if (from < raw.length) yield { at: from, raw: raw.slice(from) }
}

/** Splits long text into overlapping pieces. */
function* parts(raw: string): Generator<{ at: number; raw: string }> {
  for (let at = 0; at === 0 || at < raw.length - overlapChars;) {
    yield { at, raw: raw.slice(at, at + statementCharsMax) }
    at += statementCharsMax - overlapChars
  }
}

const pieces = /["'`)]\s?(?:\+|,|\/)\s?[a-z]{0,2}["'`]|\w(?:''|"")\w|\\/i
const list = /\[((?:\s?["'`][^"'`\]]{0,60}["'`]\s?,?){2,40})\]\s?\.join\(\s?["'`]{2}\s?\)/gi

/** Joins the quoted pieces of texts and paths: `'a' + 'b'`, `join('a', 'b')`, `'a' / 'b'`. */
function joinPieces(text: string): string {
  if (!pieces.test(text)) return text
  return text
    .replace(list, (_, items: string) => `"${items.replace(/["'`\s,]+/g, '')}"`)
    .replace(/["'`]\s?\+\s?["'`]|(?<=[\w./])(?:''|"")(?=[\w./])/g, '')
    .replace(/["'`)]\s?[,/]\s?[a-z]{0,2}["'`]/gi, '/')
    .replace(/\\+/g, '/')
}

const emphasis = /(?<=\w)\*{1,3}|\*{1,3}(?=\w)|(?<![\w/.])_{1,3}(?=\w)|(?<=\w)_{1,3}(?![\w/.])/g

/** Returns text in lower case; in prose without emphasis, quotes of lines and line breaks. */
function toPlain(raw: string, isCode: boolean): string {
  const joined = raw.replace(/\\\s{0,3}\n\s{0,40}/g, ' ')
  const text = isCode ? joined : joined.replace(emphasis, '')
  return plain(revealTags(text)).replace(/\s+/g, ' ').replaceAll('’', "'")
}

/** Replaces tag characters, which copy ASCII invisibly, by the letters that they stand for. */
const revealTags = (text: string): string =>
  text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) =>
    String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000),
  )
