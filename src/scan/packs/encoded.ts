import { fromBase64, fromPercent } from '../decode.ts'
import { pattern } from '../pattern.ts'
import type { PackHit } from './findings.ts'
import type { PackFile, Statement } from './statements.ts'

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
export interface Decoded {
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
