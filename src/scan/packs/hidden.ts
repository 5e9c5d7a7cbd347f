import { pattern } from '../pattern.ts'
import type { PackHit } from './findings.ts'
import type { PackFile } from './statements.ts'

const marksMax = 200
const messageMin = 6

/** Tag characters and variation selectors copy ASCII invisibly; flags of regions use some. */
const tags = /(?<!\u{1f3f4})[\u{e0000}-\u{e007f}]+|[\u{e0100}-\u{e01ef}]{2,}/gu
const flag = /\u{1f3f4}[\u{e0061}-\u{e007a}]{4,6}\u{e007f}/gu
const zeroWidth = /[\u200b\u2060-\u2064\u180e\ufeff\u115f\u1160\u3164\uffa0\u00ad\u034f]+/g
const joiners = /[\u200b-\u200d\u2060-\u2064\ufeff]{4,}/g
const joinerInWord = /[a-z][\u200c\u200d][a-z]/gi
const reversals = /[\u202d\u202e]/g
const embeddings = /[\u202a-\u202c\u2066-\u2069]/g
const selectors = /[\ufe00-\ufe0f]{3,}/g

/** Invisible and reordering characters. Joiners of scripts and emoji are visible text. */
export function* hiddenCharacters({ text: raw }: PackFile): Generator<PackHit> {
  if (!/[^\x00-\x7f]/.test(raw)) return
  const text = raw.replace(flag, (found) => ' '.repeat(found.length))
  const block = 'block' as const
  const code = 'pack.hidden_text' as const
  for (const { index: at } of firsts(text, tags)) yield { code, at, effect: block }
  for (const { index: at } of firsts(text, reversals)) yield { code, at, effect: block }
  for (const { index: at } of firsts(text, joiners)) yield { code, at, effect: block }
  for (const { index: at } of firsts(text, selectors)) yield { code, at, effect: block }
  for (const { index: at, 0: found } of firsts(text, zeroWidth))
    if (at > 0 || found !== '\ufeff')
      yield { code, at, ...(found.length >= messageMin ? { effect: block } : {}) }
  for (const { index: at } of firsts(text, joinerInWord)) yield { code, at }
  for (const { index: at } of firsts(text, embeddings)) yield { code, at }
}

const styles = pattern(
  'gi',
  String.raw`<[a-z]{1,10}\s[^<>]{0,200}(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|`,
  String.raw`opacity\s?:\s?0(?![.\d])|color\s?:\s?(?:white|#fff(?:fff)?|transparent)|\bhidden\b)`,
)
const gaps = /\s{60,}/g
const spacesMax = 120
const emptyLinesMax = 60

/** Text out of view in a rendered or unwrapped file. */
export function* outOfView({ path, text }: PackFile): Generator<PackHit> {
  if (!/\.(?:md|mdx|markdown)$/i.test(path)) return
  for (const { index: at } of firsts(text, styles)) yield { code: 'pack.hidden_text', at }
  for (const { index, 0: gap } of firsts(text, gaps)) {
    const lines = gap.split('\n')
    const isFar = lines.length > emptyLinesMax || (lines.at(-1) ?? '').length >= spacesMax
    if (isFar && index + gap.length < text.length)
      yield { code: 'pack.hidden_text', at: index + gap.length }
  }
}

const commentStart = /<!--|^\[(?:\/\/|comment|\/\/\/|_|#|hidden|note)\]:\s?(?:#|<>)\s?/gim
const commentMax = 4_000
const addressed = pattern(
  'i',
  String.raw`\b(?:ai|llms?|language models?|assistants?|agents?|claude|gpt|chatgpt|codex|copilot|gemini|cursor|`,
  String.raw`openclaw|opencode|you (?:are|must|should|will|can|need)|your (?:instructions|task|tools?|user|system|memory|`,
  String.raw`response|context)|the user|system prompt|instructions? for|ignore|disregard|secretly|silently|`,
  String.raw`before (?:doing|using|running)|execute|curl|wget|bash|base64|https?:\/\/\S{0,60}[?&]\w{0,20}=|~\/\.|`,
  String.raw`(?:must|always|first|then|also) (?:read|run|send|call|fetch|include|append|use|open|copy|post|execute))\b`,
)
const tooling =
  /^(?:<!--)?\s*(?:markdownlint|prettier|vale|textlint|cspell|eslint|toc|doctoc|start_|end_|begin_|license|copyright|spdx)/i

/** A comment with its text, which rules about instructions judge more strictly. */
export interface HiddenComment {
  at: number
  text: string
  isAddressed: boolean
}

/** Reads comments of Markdown, outside code blocks as well as inside. */
export function* hiddenComments({ path, text }: PackFile): Generator<HiddenComment> {
  if (!/\.(?:md|mdx|markdown)$/i.test(path)) return
  for (const { index: at } of firsts(text, commentStart)) {
    const isHtml = text.startsWith('<!--', at)
    const limit = text.slice(at, at + commentMax)
    const end = isHtml ? limit.indexOf('-->') : limit.indexOf('\n')
    const comment = end === -1 ? limit : limit.slice(0, end)
    if (tooling.test(comment)) continue
    yield { at, text: comment, isAddressed: addressed.test(comment) }
  }
}

function* firsts(text: string, shape: RegExp): Generator<RegExpExecArray> {
  let count = 0
  for (const found of text.matchAll(shape)) {
    if (count++ >= marksMax) return
    yield found
  }
}
