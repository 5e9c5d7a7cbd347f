import { isUtf8 } from 'node:buffer'

import { jsonDepthMax } from '../kernel/limits.ts'

/** Bytes per slice; 64 KB take under a millisecond. */
const pieceBytes = 65_536

/**
 * Checks a JSON text (RFC 8259, as `JSON.parse` reads it). Returns undefined when it is valid. It
 * builds no values and yields to the event loop between slices: `JSON.parse` blocks for 200 ms on
 * 4 MB of short values.
 */
export async function jsonProblem(bytes: Uint8Array): Promise<'form' | 'depth' | undefined> {
  if (!isUtf8(bytes)) return 'form'
  const reader = new Reader(bytes)
  for (let until = pieceBytes; ; until += pieceBytes) {
    const problem = reader.readTo(until)
    if (problem !== 'more') return problem
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const code = (letter: string): number => letter.charCodeAt(0)
const quote = code('"')
const backslash = code('\\')
const minus = code('-')
const zero = code('0')
const nine = code('9')
const comma = code(',')
const colon = code(':')
const dot = code('.')
const brace = code('{')
const endBrace = code('}')
const bracket = code('[')
const endBracket = code(']')
const spaces = new Set([' ', '\t', '\n', '\r'].map(code))
const escapes = new Set([...'"\\/bfnrt'].map(code))
const hexDigits = new Set([...'0123456789abcdefABCDEF'].map(code))
const words = ['true', 'false', 'null'].map((word) => [...word].map(code))

/** The next token. A first item or key may also be the closing bracket. */
type ExpectedToken = 'value' | 'first item' | 'first key' | 'key' | 'colon' | 'more'

class Reader {
  private at = 0
  private expected: ExpectedToken = 'value'
  /** Closing brackets of the open values, innermost last. */
  private readonly ends: number[] = []

  constructor(private readonly bytes: Uint8Array) {
    // Skip a byte order mark.
    if (bytes[0] === 0xef) this.at = 3
  }

  /** Reads tokens up to an offset or the end of the text. */
  readTo(until: number): 'form' | 'depth' | 'more' | undefined {
    while (this.at < until) {
      while (this.at < this.bytes.length && spaces.has(this.bytes[this.at] ?? 0)) this.at += 1
      if (this.at >= this.bytes.length) {
        return this.expected === 'more' && this.ends.length === 0 ? undefined : 'form'
      }
      if (!this.takeToken(this.bytes[this.at])) return 'form'
      if (this.ends.length > jsonDepthMax) return 'depth'
    }
    return 'more'
  }

  private takeToken(byte: number | undefined): boolean {
    const end = this.ends.at(-1)
    const mayEnd = this.expected.startsWith('first') || this.expected === 'more'
    if (mayEnd && end !== undefined && byte === end) {
      this.ends.pop()
      return this.step('more')
    }
    switch (this.expected) {
      case 'colon':
        return byte === colon && this.step('value')
      case 'more':
        return byte === comma && end !== undefined && this.step(end === endBrace ? 'key' : 'value')
      case 'key':
      case 'first key':
        return byte === quote && this.takeText('colon')
      default:
        return this.takeValue(byte)
    }
  }

  private step(expected: ExpectedToken): true {
    this.at += 1
    this.expected = expected
    return true
  }

  private takeValue(byte: number | undefined): boolean {
    if (byte === quote) return this.takeText('more')
    if (byte === brace || byte === bracket) {
      this.ends.push(byte === brace ? endBrace : endBracket)
      return this.step(byte === brace ? 'first key' : 'first item')
    }
    return this.takeNumber() || words.some((word) => this.takeWord(word))
  }

  private takeText(expected: ExpectedToken): boolean {
    let at = this.at + 1
    for (;;) {
      const byte = this.bytes[at]
      if (byte === undefined || byte < 0x20) return false
      if (byte === quote) break
      at += 1
      if (byte !== backslash) continue
      const next = this.bytes[at] ?? 0
      at += 1
      if (escapes.has(next)) continue
      const hex = this.bytes.subarray(at, at + 4)
      if (next !== code('u') || hex.length < 4 || !hex.every((one) => hexDigits.has(one)))
        return false
      at += 4
    }
    this.at = at
    return this.step(expected)
  }

  private takeWord(word: number[]): boolean {
    if (!word.every((letter, index) => this.bytes[this.at + index] === letter)) return false
    this.at += word.length
    this.expected = 'more'
    return true
  }

  private takeNumber(): boolean {
    let at = this.at + (this.bytes[this.at] === minus ? 1 : 0)
    const whole = this.bytes[at] === zero ? at + 1 : this.afterDigits(at)
    if (whole === at) return false
    at = whole
    if (this.bytes[at] === dot) {
      const end = this.afterDigits(at + 1)
      if (end === at + 1) return false
      at = end
    }
    if (((this.bytes[at] ?? 0) | 0x20) === code('e')) {
      const sign = this.bytes[at + 1]
      const from = at + (sign === code('+') || sign === minus ? 2 : 1)
      at = this.afterDigits(from)
      if (at === from) return false
    }
    this.at = at
    this.expected = 'more'
    return true
  }

  private afterDigits(from: number): number {
    let at = from
    while ((this.bytes[at] ?? 0) >= zero && (this.bytes[at] ?? 0) <= nine) at += 1
    return at
  }
}
