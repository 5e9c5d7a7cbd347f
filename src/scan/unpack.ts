import type { Script } from './page.ts'
import { TEXT } from './token-kinds.ts'

const wordsMax = 100_000
const outputMax = 4 * 1024 * 1024

/**
 * Returns the code inside `eval(function(p,a,c,k,e,d){...}('payload', radix, count,
 * 'a|b|c'.split('|')...))` at token `index`; undefined for anything else, or past 4 MB.
 */
export function unpacked(
  { tokens: { kinds, texts, find } }: Script,
  index: number,
): string | undefined {
  if (texts[index + 2] !== 'function' || texts[index + 4] !== 'p') return undefined
  const at = find('split').find((split) => split > index && texts[split + 2] === '|') ?? -1
  const payload = texts[at - 8] ?? ''
  const radix = Number(texts[at - 6])
  const words = (texts[at - 2] ?? '').split('|').slice(0, wordsMax)
  if (at < 8 || kinds[at - 8] !== TEXT || !(radix >= 2 && radix <= 62)) return undefined
  let size = payload.length
  const code = payload.replace(/\b\w{1,6}\b/g, (name) => {
    const word = words[fromRadix(name, radix)] || name
    size += word.length
    return size > outputMax ? '' : word
  })
  return size > outputMax ? undefined : code
}

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

function fromRadix(name: string, radix: number): number {
  let value = 0
  for (const letter of name) {
    const digit = digits.indexOf(letter)
    if (digit < 0 || digit >= radix) return -1
    value = value * radix + digit
  }
  return value
}
