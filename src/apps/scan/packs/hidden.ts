import { pattern } from '../../../kernel/text.ts'
import { fromBase64, fromPercent } from '../fold.ts'
import type { PackHit } from './rules.ts'
import type { PackFile, Statement } from './statements.ts'

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
interface HiddenComment {
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

const decodedRun = [
  pattern(
    '',
    String.raw`\bbase(?:64|32)\b.{0,40}\s(?:-d|--decode|-di)\b.{0,120}\|\s?(?:sudo\s)?(?:\S{0,20}/)?(?:(?:ba|z|da|k)?sh|python[\d.]{0,4}|node|perl|ruby|php|osascript|xargs|source)\b`,
  ),
  pattern(
    '',
    String.raw`\bxxd -r\b.{0,80}\|\s?(?:sudo\s)?(?:(?:ba|z)?sh|python3?|perl)\b|\bopenssl (?:enc|base64).{0,80}\|\s?(?:ba|z)?sh\b|\brev\s?\|\s?(?:ba|z)?sh\b|\btr .{0,60}\|\s?(?:ba|z)?sh\b|\bgunzip\b.{0,60}\|\s?(?:ba|z)?sh\b`,
  ),
  pattern(
    '',
    String.raw`(?:\beval|\b(?:ba|z)?sh -c|\bsource)[\s"'(]{1,4}(?:\$\(|<\(|${'`'}).{0,200}(?:base64|xxd|openssl|\brev\b|printf ["']?\\)`,
  ),
  pattern(
    '',
    String.raw`\b(?:exec|eval|new function|settimeout|os\.system|subprocess\.\w{1,12}|execsync|vm\.run\w{0,20})\s?\(.{0,80}(?:b64decode|frombase64|atob\(|["']base64["']|fromhex|unhexlify|zlib\.decompress|marshal\.loads|codecs\.decode|fromcharcode|unescape\()`,
  ),
  /(?:^|\s)-(?:e|en|enc|enco|encodedcommand)\s[a-z\d+/=]{20}/,
  /\bfrombase64string\b.{0,200}\b(?:iex|invoke-expression)\b|\b(?:iex|invoke-expression)\b.{0,200}\bfrombase64string\b/,
]

/** Commands that decode text and run it. */
export function* decodedRuns({ text, at, isWarning }: Statement): Generator<PackHit> {
  if (decodedRun.some((shape) => shape.test(text)))
    yield { code: 'pack.encoded_command', at, effect: isWarning ? 'unlist' : 'block' }
}

const literals =
  /[A-Za-z0-9+/_-]{24,}={0,2}|(?:\\x[\da-fA-F]{2}){8,}|(?:%[\da-fA-F]{2}){12,}|\b(?:[\da-fA-F]{2}){20,}\b/g
const literalsMax = 2_000
const literalCharsMax = 8_192
const decodedMax = 512 * 1_024
/** Reading of decoded text; about as strict as for a comment. */
const dangerous = pattern(
  'i',
  String.raw`\b(?:curl|wget|bash|powershell|invoke-|iex|chmod|sudo|eval|exec|import os|import subprocess|subprocess|child_process|`,
  String.raw`rm -rf|/dev/tcp|nc -|mkfifo|socket|authorized_keys|osascript|crontab|netcat|cmd\.exe)\b|`,
  String.raw`~/\.|\.ssh/|/bin/(?:ba|z)?sh|\b(?:ignore|disregard|override)\b.{0,60}\b(?:instructions?|prompts?|rules?)|`,
  String.raw`\b(?:send|upload|post|forward)\b.{0,120}https?://|\bdo not (?:tell|inform|mention)|\byou (?:must|are now)\b|\bapi[_ ]?key`,
)

/** A decoded text at the offset of its encoded form. */
interface Decoded {
  at: number
  text: string
  isDangerous: boolean
}

/** Decodes base64, hexadecimal and percent literals of a file. */
export function* decodedTexts({ text }: PackFile): Generator<Decoded, boolean> {
  let count = 0
  let left = decodedMax
  for (const found of text.matchAll(literals)) {
    if (++count > literalsMax || left <= 0) return false
    if (
      /data:(?:image|font|audio)\/[\w+.-]{1,20};base64,$/.test(
        text.slice(Math.max(0, found.index - 50), found.index),
      )
    )
      continue
    const decoded = decode(found[0].slice(0, literalCharsMax))
    left -= found[0].length
    if (decoded === undefined || !isReadable(decoded)) continue
    yield { at: found.index, text: decoded, isDangerous: dangerous.test(decoded) }
  }
  return true
}

function decode(literal: string): string | undefined {
  if (literal.startsWith('\\x')) return fromPercent(literal.replaceAll('\\x', '%'))
  if (literal.startsWith('%')) return fromPercent(literal)
  if (/^[\da-fA-F]+$/.test(literal) && literal.length % 2 === 0)
    return fromPercent(literal.replace(/../g, '%$&'))
  const whole = literal.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  const text = fromBase64(whole.slice(0, whole.length - (whole.length % 4)))
  // PowerShell encodes commands as UTF-16.
  return text?.replace(/([\x09\x0a\x0d\x20-\x7e])\x00/g, '$1')
}

/** Returns whether nearly all characters are printable ASCII, so the text is no picture or hash. */
function isReadable(text: string): boolean {
  if (text.length < 12) return false
  const printable = text.replace(/[^\x09\x0a\x0d\x20-\x7e]/g, '').length
  return printable / text.length > 0.95
}
