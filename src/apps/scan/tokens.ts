import { tokenizer, tokTypes } from 'acorn'

import { lookUp } from '../../kernel/schema.ts'

/** Kinds of JavaScript tokens. CHUNK is literal text in a template. */
export const NAME = 1
export const TEXT = 2
export const CHUNK = 3
export const NUMBER = 4
export const PUNCT = 5
const REGEX = 6

/** Receives one token: its kind, its cooked text, and its start offset. */
type AddToken = (kind: number, text: string, start: number) => void

/**
 * The tokens of a script as columns: kind, cooked text (a string's value, a name, a punctuator) and
 * start offset. `find` returns the positions of a name, so that no rule reads all tokens.
 */
export interface Tokens {
  code: string
  kinds: number[]
  texts: string[]
  starts: number[]
  find(name: string): readonly number[]
}

const nowhere: readonly number[] = []

/** Tokenizes a script. A loose lexer reads what acorn cannot. Linear, never throws. */
export function tokensOf(code: string): Tokens {
  const kinds: number[] = []
  const texts: string[] = []
  const starts: number[] = []
  const names = new Map<string, number[]>()
  const add: AddToken = (kind, text, start) => {
    if (kind === NAME) {
      const known = names.get(text)
      if (known) known.push(kinds.length)
      else names.set(text, [kinds.length])
    }
    kinds.push(kind)
    texts.push(text)
    starts.push(start)
  }
  const end = lexStrictly(code, add)
  if (end < code.length) lexLoosely(code, end, add)
  return { code, kinds, texts, starts, find: (name) => names.get(name) ?? nowhere }
}

/** Adds tokens until the end or a syntax error. Returns the offset up to which it read. */
function lexStrictly(code: string, add: AddToken): number {
  let end = 0
  try {
    const lexer = tokenizer(code, { ecmaVersion: 'latest', allowHashBang: true })
    for (;;) {
      const token = lexer.getToken()
      const { type, start } = token
      if (type === tokTypes.eof) return code.length
      end = token.end
      if (type === tokTypes.name || type.keyword) add(NAME, textOf(token), start)
      else if (type === tokTypes.string) add(TEXT, textOf(token), start)
      else if (type === tokTypes.template || type === tokTypes.invalidTemplate)
        add(CHUNK, textOf(token), start)
      else if (type === tokTypes.num) add(NUMBER, textOf(token), start)
      else if (type === tokTypes.regexp) add(REGEX, code.slice(start, end), start)
      else add(PUNCT, code.slice(start, end), start)
    }
  } catch {
    // A syntax error, or a regular expression nested too deep for acorn: the loose lexer continues.
    return end
  }
}

/** Returns the cooked text of a token, which acorn's types omit. */
function textOf(token: object): string {
  return 'value' in token && token.value !== null ? String(token.value) : ''
}

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
function lexLoosely(code: string, from: number, add: AddToken): void {
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
