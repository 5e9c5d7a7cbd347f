import type { ScanBudget } from './page.ts'
import { CHUNK, NAME, NUMBER, TEXT, type Tokens } from './tokens.ts'

/** Decodes base64 to text, one character per byte; undefined when it is not base64. */
export function fromBase64(text: string): string | undefined {
  try {
    return atob(text)
  } catch {
    return undefined
  }
}

/** Decodes %XX and %uXXXX as unescape and decodeURIComponent do. Other text stays. */
export function fromPercent(text: string): string {
  return text.replace(/%(?:u([\da-fA-F]{4})|([\da-fA-F]{2}))/g, (_, unit, byte) =>
    String.fromCharCode(Number.parseInt(unit ?? byte, 16)),
  )
}

const depthMax = 4
const textMax = 4 * 1024 * 1024
const charsMax = 1_000_000

/** A constant string that was evaluated from tokens. `next` is the token after it. */
export interface Folded {
  value: string
  next: number
  /** Joined from more than one token. */
  built: boolean
  /** Decoded by atob, unescape, fromCharCode or similar. */
  decoded: boolean
  /** Parts that could not be evaluated are left out. */
  partial: boolean
}

interface Constant {
  value: string
  decoded: boolean
}

/** Names with a known value at this place of the script. Using one consumes the page's budget. */
export interface Constants {
  values: Map<string, Constant>
  budget: ScanBudget
}

function lookUp(constants: Constants, name: string): Constant | undefined {
  const known = constants.values.get(name)
  if (known) constants.budget.built -= known.value.length
  return constants.budget.built > 0 ? known : undefined
}

interface Reader {
  tokens: Tokens
  constants: Constants
  /** Treats unknown names as empty text instead of stopping. */
  lenient: boolean
}

/**
 * Evaluates the string expression at token `from`: literals, templates, `+`, known names, atob,
 * unescape, decodeURIComponent, String.fromCharCode, join, split, reverse, concat. Stops where it
 * is no longer constant; undefined if it never is. Bounded depth keeps it linear in the tokens.
 */
export function fold(
  tokens: Tokens,
  from: number,
  constants: Constants,
  lenient = false,
): Folded | undefined {
  return sum({ tokens, constants, lenient }, from, 0)
}

function sum(reader: Reader, from: number, depth: number): Folded | undefined {
  const { texts } = reader.tokens
  let total = term(reader, from, depth)
  if (!total) return undefined
  const parts = [total.value]
  let size = total.value.length
  while (texts[total.next] === '+' && size < textMax) {
    const more: Folded | undefined = term(reader, total.next + 1, depth)
    if (!more) return { ...total, value: parts.join(''), partial: true }
    parts.push(more.value)
    size += more.value.length
    total = { ...join(total, more), next: more.next }
  }
  return parts.length === 1 ? total : { ...total, value: parts.join(''), built: true }
}

function join(a: Folded, b: Folded): Folded {
  return { ...b, decoded: a.decoded || b.decoded, partial: a.partial || b.partial, built: true }
}

function term(reader: Reader, at: number, depth: number): Folded | undefined {
  if (depth > depthMax) return undefined
  let found = plainTerm(reader, at) ?? nestedTerm(reader, at, depth)
  for (let steps = 0; found && steps < depthMax; steps++) {
    const changed = method(reader, found, depth)
    if (!changed) break
    found = changed
  }
  return found
}

function whole(value: string, next: number, built = false, decoded = false): Folded {
  return { value, next, built, decoded, partial: false }
}

function plainTerm(reader: Reader, at: number): Folded | undefined {
  const { tokens, constants, lenient } = reader
  const { kinds, texts } = tokens
  const text = texts[at] ?? ''
  if (kinds[at] === TEXT || kinds[at] === NUMBER) return whole(text, at + 1)
  if (text === '`') return template(reader, at)
  if (kinds[at] !== NAME || texts[at + 1] === '(') return undefined
  const known = texts[at - 1] === '.' ? undefined : lookUp(constants, text)
  if (known) return whole(known.value, at + 1, true, known.decoded)
  if (!lenient || decoders.has(text) || hosts.has(text) || text === 'String') return undefined
  let next = at + 1
  while (texts[next] === '.' && kinds[next + 1] === NAME) next += 2
  return texts[next] === '(' ? undefined : { ...whole('', next), partial: true }
}

function template({ tokens, constants, lenient }: Reader, from: number): Folded | undefined {
  const { kinds, texts } = tokens
  const parts: string[] = []
  let partial = false
  for (let at = from + 1; at < texts.length; at++) {
    const text = texts[at] ?? ''
    if (text === '`' && kinds[at] !== CHUNK) return { ...whole(parts.join(''), at + 1), partial }
    if (kinds[at] === CHUNK) parts.push(text)
    else if (text === '${') {
      const inner = texts[at + 2] === '}' && kinds[at + 1] === TEXT ? texts[at + 1] : undefined
      const value =
        inner ?? (texts[at + 2] === '}' ? lookUp(constants, texts[at + 1] ?? '')?.value : undefined)
      if (value === undefined && !lenient) return undefined
      if (value === undefined) partial = true
      parts.push(value ?? '')
      at = closing(texts, at)
    } else return undefined
  }
  return undefined
}

const holeMax = 60

/** Returns the token that closes a `${`, within a short distance. */
function closing(texts: string[], from: number): number {
  let open = 0
  for (let at = from; at < Math.min(texts.length, from + holeMax); at++) {
    if (texts[at] === '${' || texts[at] === '{') open++
    if (texts[at] === '}' && --open === 0) return at
  }
  return from + holeMax
}

const hosts = new Set(['window', 'self', 'globalThis'])
/** Functions that can be evaluated on a constant string. */
export const decoders = new Set(['atob', 'unescape', 'decodeURIComponent', 'decodeURI'])

function nestedTerm(reader: Reader, at: number, depth: number): Folded | undefined {
  const { kinds, texts } = reader.tokens
  const text = texts[at] ?? ''
  if (text === '(') {
    const inner = sum(reader, at + 1, depth + 1)
    return inner && texts[inner.next] === ')' ? { ...inner, next: inner.next + 1 } : undefined
  }
  if (text === '[') return list(reader, at, depth)
  if (kinds[at] !== NAME) return undefined
  if (hosts.has(text) && texts[at + 1] === '.') return nestedTerm(reader, at + 2, depth + 1)
  if (text === 'String' && texts[at + 2] === 'fromCharCode') return charCodes(reader.tokens, at + 3)
  if (!decoders.has(text) || texts[at + 1] !== '(') return undefined
  const inner = sum(reader, at + 2, depth + 1)
  if (!inner || texts[inner.next] !== ')') return undefined
  if (inner.partial && text === 'atob') return undefined
  const value = text === 'atob' ? fromBase64(inner.value) : fromPercent(inner.value)
  if (value === undefined) return undefined
  return { ...inner, value, next: inner.next + 1, built: true, decoded: value !== inner.value }
}

/** Evaluates `['a', 'b'].join('')`, also reversed. */
function list(reader: Reader, from: number, depth: number): Folded | undefined {
  const { kinds, texts } = reader.tokens
  if (kinds[from + 1] !== TEXT) return undefined
  const items: string[] = []
  let at = from + 1
  while (kinds[at] === TEXT) {
    items.push(texts[at] ?? '')
    at += texts[at + 1] === ',' ? 2 : 1
  }
  if (texts[at] !== ']') return undefined
  return joined(reader, items, at + 1, depth)
}

/** Evaluates `.reverse()` and `.join(x)` after a list of strings. */
function joined(reader: Reader, items: string[], from: number, depth: number): Folded | undefined {
  const { kinds, texts } = reader.tokens
  let at = from
  if (texts[at] === '.' && texts[at + 1] === 'reverse' && texts[at + 3] === ')') {
    items = items.toReversed()
    at += 4
  }
  if (texts[at] !== '.' || texts[at + 1] !== 'join' || depth > depthMax) return undefined
  if (texts[at + 3] === ')') return whole(items.join(), at + 4, true)
  if (kinds[at + 3] !== TEXT && texts[at + 3] !== '`') return undefined
  const glue = plainTerm(reader, at + 3)
  if (!glue || texts[glue.next] !== ')') return undefined
  const { budget: budget } = reader.constants
  const most = Math.min(textMax, Math.max(0, budget.built))
  const fit = items.slice(0, most / Math.max(1, glue.value.length) + 2)
  const value = fit.join(glue.value).slice(0, textMax)
  budget.built -= value.length
  return budget.built > 0 ? whole(value, glue.next + 1, true) : undefined
}

/** Evaluates a method that keeps a constant string constant. */
function method(reader: Reader, text: Folded, depth: number): Folded | undefined {
  const { texts } = reader.tokens
  const at = text.next
  if (texts[at] !== '.' || texts[at + 2] !== '(') return undefined
  const name = texts[at + 1] ?? ''
  const same = { ...text, next: at + 4, built: true }
  if (texts[at + 3] === ')') {
    if (name === 'toString' || name === 'valueOf') return same
    if (name === 'trim') return { ...same, value: text.value.trim() }
    if (name === 'toLowerCase') return { ...same, value: text.value.toLowerCase() }
    return undefined
  }
  if (name !== 'concat' && name !== 'split') return undefined
  const inner = sum(reader, at + 3, depth + 1)
  if (!inner || texts[inner.next] !== ')') return undefined
  if (name === 'concat')
    return { ...join(text, inner), value: text.value + inner.value, next: inner.next + 1 }
  if (text.value.length > charsMax) return undefined
  const glued = joined(reader, text.value.split(inner.value), inner.next + 1, depth + 1)
  return glued && { ...glued, decoded: text.decoded, partial: text.partial }
}

/** Evaluates `fromCharCode(1, 2)`, `(...[1, 2])` and `.apply(null, [1, 2])` after the name. */
function charCodes({ kinds, texts }: Tokens, from: number): Folded | undefined {
  let at = from
  while (at < from + 8 && kinds[at] !== NUMBER) {
    if (
      kinds[at] === NAME &&
      !['apply', 'call', 'null', 'String', 'this'].includes(texts[at] ?? '')
    )
      return undefined
    at++
  }
  const codes: string[] = []
  while (kinds[at] === NUMBER && codes.length < charsMax) {
    codes.push(String.fromCharCode(Number(texts[at])))
    at += texts[at + 1] === ',' ? 2 : 1
  }
  if (codes.length === 0 || (texts[at] !== ')' && texts[at] !== ']')) return undefined
  return whole(codes.join(''), at + (texts[at] === ']' ? 2 : 1), true, true)
}
