import type { Script } from '../page.ts'
import { NAME, TEXT } from '../token-kinds.ts'

/** Functions that turn encoded text or numbers into text. */
export const decoders: ReadonlySet<string> = new Set(
  'atob,unescape,fromCharCode,charCodeAt,codePointAt,fromCodePoint'.split(','),
)

const shortName = 2
const nearTokens = 300
const positionsMax = 200_000

/** Names of a script that hold decoded text, or that decode. */
export interface Taint {
  has(name: string, index: number): boolean
}

/**
 * Finds tainted names: those whose assignment or function body decodes text. Minifiers reuse short
 * names, so a short name is tainted only for the next 300 tokens.
 */
export function taintOf({ tokens: { kinds, texts } }: Script): Taint {
  const marks = new Map<string, number[]>()
  let positions = 0
  const mark = (name: string, index: number) => {
    if (!name || ++positions > positionsMax) return
    const known = marks.get(name)
    if (known) known.push(index)
    else marks.set(name, [index])
  }
  /** Returns the position at which a name was tainted; undefined if it is not tainted now. */
  const since = (name: string, index: number): number | undefined => {
    const known = marks.get(name)
    if (!known || name.length > shortName) return known && index
    const last = lastBefore(known, index)
    return index - last <= nearTokens ? last : undefined
  }
  const bodies: string[] = []
  let pending = ''
  let assigned = ''
  for (let index = 0; index < kinds.length; index++) {
    const text = texts[index] ?? ''
    if (kinds[index] === TEXT) continue
    if (text === '{' || text === '}' || text === ';') assigned = ''
    if (text === '{') {
      bodies.push(pending || (bodies.at(-1) ?? ''))
      pending = ''
    } else if (text === '}') bodies.pop()
    else if (text === 'function' && kinds[index + 1] === NAME) pending = texts[index + 1] ?? ''
    else if (text === '=' || text === '+=') {
      assigned = kinds[index - 1] === NAME ? (texts[index - 1] ?? '') : ''
      if (isFunction(texts, index + 1)) pending = assigned
    } else if (decoders.has(text)) {
      mark(assigned, index)
      mark(bodies.at(-1) ?? '', index)
    } else if (assigned && kinds[index] === NAME && texts[index - 1] !== '.') {
      // Keep the old position, or short names that pass it on would stay tainted for ever.
      const old = since(text, index)
      if (old !== undefined && old > (marks.get(assigned)?.at(-1) ?? -1)) mark(assigned, old)
    }
  }
  return { has: (name, index) => since(name, index) !== undefined }
}

function isFunction(texts: string[], at: number): boolean {
  const text = texts[at]
  return text === 'function' || text === 'async' || text === '(' || texts[at + 1] === '=>'
}

/** Returns the largest of the ascending positions up to `index`; -Infinity if there is none. */
export function lastBefore(positions: number[], index: number): number {
  let [low, high] = [0, positions.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle] ?? 0) <= index) low = middle + 1
    else high = middle
  }
  return positions[low - 1] ?? -Infinity
}
