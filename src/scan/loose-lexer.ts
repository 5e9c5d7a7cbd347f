import { lookUp } from '../core/schema.ts'
import { type AddToken, CHUNK, NAME, NUMBER, PUNCT, TEXT } from './token-kinds.ts'

const space = 32
const slash = 47
const backslash = 92
const backquote = 96
const doubleQuote = 34
const quote = 39

/**
 * Tokenizes invalid JavaScript from an offset to the end: skips comments, ends strings at their
 * quote or line, reads a template as one chunk. Linear, since each step advances.
 */
export function lexLoosely(code: string, from: number, add: AddToken): void {
  let at = from
  while (at < code.length) {
    const c = code.charCodeAt(at)
    if (c <= space) at++
    else if (c === slash && code.charCodeAt(at + 1) === slash) at = after(code, '\n', at)
    else if (c === slash && code[at + 1] === '*') at = after(code, '*/', at + 2)
    else if (c === doubleQuote || c === quote) at = addText(code, at, c, add)
    else if (c === backquote) at = addTemplate(code, at, add)
    else if (isDigit(c)) at = addWord(code, at, NUMBER, add)
    else if (isWord(c)) at = addWord(code, at, NAME, add)
    else {
      const sign = code.slice(at, at + 2)
      const text = twoSigns.has(sign) ? sign : sign.slice(0, 1)
      add(PUNCT, text, at)
      at += text.length
    }
  }
}

const twoSigns = new Set('== != <= >= += -= => && || ?. ?? ++ -- ${'.split(' '))

function after(code: string, mark: string, from: number): number {
  const found = code.indexOf(mark, from)
  return found === -1 ? code.length : found + mark.length
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57
}

function isWord(c: number): boolean {
  return (
    isDigit(c) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 36 || c === 95 || c > 127
  )
}

function addWord(code: string, from: number, kind: number, add: AddToken): number {
  let at = from + 1
  while (at < code.length && isWord(code.charCodeAt(at))) at++
  add(kind, code.slice(from, at), from)
  return at
}

function addText(code: string, from: number, mark: number, add: AddToken): number {
  let at = from + 1
  for (; at < code.length; at++) {
    const c = code.charCodeAt(at)
    if (c === mark || c === 10) break
    if (c === backslash) at++
  }
  add(TEXT, cooked(code.slice(from + 1, at)), from)
  return at + 1
}

function addTemplate(code: string, from: number, add: AddToken): number {
  let at = from + 1
  for (; at < code.length; at++) {
    const c = code.charCodeAt(at)
    if (c === backquote) break
    if (c === backslash) at++
  }
  add(PUNCT, '`', from)
  add(CHUNK, cooked(code.slice(from + 1, at)), from + 1)
  add(PUNCT, '`', Math.min(at, code.length))
  return at + 1
}

const plainEscapes: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
}

function cooked(raw: string): string {
  if (!raw.includes('\\')) return raw
  return raw.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|([^]))/g, (_, hex, unit, other) => {
    const code: string | undefined = hex ?? unit
    return code
      ? String.fromCharCode(Number.parseInt(code, 16))
      : (lookUp(plainEscapes, other) ?? other)
  })
}
