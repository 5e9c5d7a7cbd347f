import type { Script } from '../page.ts'
import { TEXT } from '../token-kinds.ts'

const inflaters =
  'DecompressionStream,pako,LZString,fflate,inflate,LZMA,lzma,decompress,getImageData'.split(',')
const argumentMax = 16

/**
 * True where a script bears the marks of a packer that works on all of it: RegPack, JSCrush,
 * Roadroller, pictures, streams.
 */
export function bearsPacker(script: Script): boolean {
  const { texts, find } = script.tokens
  const splits = (index: number) => texts[index + 3] === '.' && texts[index + 4] === 'split'
  if (find('with').some(splits) && find('join').length > 0) return true
  return inflaters.some((name) => find(name).length > 0) || isRoadroller(script)
}

/** True where the sink itself is a packer's: p.a.c.k.e.d, or unescape(escape()). */
export function isPackedCall({ tokens: { texts } }: Script, index: number): boolean {
  const near = texts.slice(index, index + argumentMax).join(' ')
  return /^eval \( (?:function \( p , a , c , k , e ,|unescape \( escape \()/.test(near)
}

/**
 * Roadroller's decoder is an arithmetic decoder in a string: logarithms and exponentials over a
 * payload.
 */
function isRoadroller({ tokens: { kinds, texts, code } }: Script): boolean {
  if (!code.includes('Math.exp(') || !code.includes('Math.log(')) return false
  return kinds.some((kind, index) => {
    const text = kind === TEXT ? (texts[index] ?? '') : ''
    return text.includes('Math.exp(') && text.includes('charCodeAt')
  })
}
