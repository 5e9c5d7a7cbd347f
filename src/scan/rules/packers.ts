import type { Script } from '../page.ts'
import { TEXT } from '../token-kinds.ts'

const inflaters =
  'DecompressionStream,pako,LZString,fflate,inflate,LZMA,lzma,decompress,getImageData'.split(',')
const argumentMax = 16

/** Returns the positions of known packers: RegPack, JSCrush, Roadroller, images, streams. */
export function packersOf(script: Script): number[] {
  const { texts, find } = script.tokens
  const splits = (index: number) => texts[index + 3] === '.' && texts[index + 4] === 'split'
  const withs = find('join').length > 0 ? find('with').filter(splits) : []
  const inflating = inflaters.flatMap((name) => [...find(name)])
  return [...withs, ...inflating, ...roadrollers(script)].sort((a, b) => a - b)
}

/** Returns whether a sink is part of a packer: p.a.c.k.e.d, or unescape(escape()). */
export function isPackedCall({ tokens: { texts } }: Script, index: number): boolean {
  const near = texts.slice(index, index + argumentMax).join(' ')
  return /^eval \( (?:function \( p , a , c , k , e ,|unescape \( escape \()/.test(near)
}

/** Finds Roadroller: an arithmetic decoder with logarithms and exponentials over a payload. */
function roadrollers({ tokens: { kinds, texts, code } }: Script): number[] {
  if (!code.includes('Math.exp(') || !code.includes('Math.log(')) return []
  return [...kinds.keys()].filter((index) => {
    const text = kinds[index] === TEXT ? (texts[index] ?? '') : ''
    return text.includes('Math.exp(') && text.includes('charCodeAt')
  })
}
