/** The vocabulary of CONTRIBUTING.md in comments, texts and Markdown. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'

import { words } from '../../src/site/docs/words.ts'
import { type Finding, type Source } from './source.ts'

const banned = /\b(house|door|lane|refusal|misfit|looker|chores|filmer|painter)s?\b/i

/**
 * Names of the wire and of the database, such as the field `refusal` of OpenAI and the account
 * kind `house`. A text may quote them.
 */
const quoted = /`[^`]*`|'[\w:]+'|"[\w:]+"/g

/** Texts that list wire values without quotes. */
const exceptions = /(output_text|tool_use) or refusal\./

/** Wrong in comments. Texts of games, and names of unknown accounts in tests, have it. */
const personified = /\bnobody\b/i

const docStart = /^\/\*\*[\s*]*(What|Who|How|Whose|Where|Whether)\b/i

/** Phrases that the table of words replaces. */
const clashing = new RegExp(`\\b(${words.flatMap(({ not = [] }) => not).join('|')})\\b`, 'i')

const fix = 'use the standard term of CONTRIBUTING.md, or quote the name'

/** Finds banned words in the comments and texts of a file, and doc comments that ask. */
export function prose(source: Source): Finding[] {
  const found: Finding[] = []
  const add = (pos: number, what: string, advice: string): void => {
    const line = source.ast.getLineAndCharacterOfPosition(pos).line + 1
    found.push({ path: source.path, line, what, fix: advice })
  }
  for (const [pos, comment] of commentsOf(source)) {
    const start = docStart.exec(comment)?.[1]
    if (start) add(pos, `a doc comment that starts with ${start}`, 'start with a verb or a noun')
    const word = bannedIn(comment) ?? personifiedIn(comment, source)
    if (word) add(pos, `a comment with "${word}"`, fix)
  }
  source.nodes.forEach((node) => {
    if (!ts.isStringLiteral(node) && !ts.isTemplateLiteralToken(node)) return
    const text = node.text
    // A text without a space is a name. Only declared names are checked (vocabulary.ts).
    if (!text.includes(' ') || exceptions.test(text)) return
    const word = bannedIn(text)
    if (word) add(node.getStart(source.ast), `a text with "${word}"`, fix)
    const clash = source.path === wordsPath ? undefined : clashing.exec(unquoted(text))?.[0]
    if (clash) add(node.getStart(source.ast), `a text with "${clash}"`, wordsFix)
  })
  return found
}

const wordsPath = 'src/site/docs/words.ts'
const wordsFix = `use the words of ${wordsPath}`

/** Finds banned words in the Markdown files below `root`, outside code. */
export const markdown = (root: string): Finding[] =>
  ['docs/**/*.md', '{README,CONTRIBUTING,SECURITY}.md', '.github/**/*.md']
    .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true })])
    .sort()
    .flatMap((path) => proseOfMarkdown(path, readFileSync(join(root, path), 'utf8')))

/** Finds banned words in a Markdown text, outside code. */
export function proseOfMarkdown(path: string, text: string): Finding[] {
  let isCode = false
  return text.split('\n').flatMap((content, index) => {
    if (content.trimStart().startsWith('```')) isCode = !isCode
    if (isCode) return []
    const line = index + 1
    const word = bannedIn(content)
    // The specification keeps its words.
    const isSpec = path.startsWith('docs/spec/')
    const clash = isSpec ? undefined : clashing.exec(unquoted(content))?.[0]
    return [
      ...(word ? [{ path, line, what: `a text with "${word}"`, fix }] : []),
      ...(clash ? [{ path, line, what: `a text with "${clash}"`, fix: wordsFix }] : []),
    ]
  })
}

const personifiedIn = (text: string, { test }: Source): string | undefined =>
  test ? undefined : personified.exec(unquoted(text))?.[0]

const unquoted = (text: string): string => text.replace(quoted, '')

const bannedIn = (text: string): string | undefined => banned.exec(unquoted(text))?.[0]

function commentsOf({ nodes, text }: Source): Map<number, string> {
  const found = new Map<number, string>()
  const add = (ranges: ts.CommentRange[] = []): void => {
    for (const { pos, end } of ranges) found.set(pos, text.slice(pos, end))
  }
  nodes.forEach((node) => {
    add(ts.getLeadingCommentRanges(text, node.pos))
    add(ts.getTrailingCommentRanges(text, node.end))
  })
  return found
}
