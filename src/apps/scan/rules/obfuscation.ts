import type { Hit } from '../findings.ts'
import type { Page, Script, Sink } from '../page.ts'
import { getRule } from '../rules.ts'
import { NAME, NUMBER, TEXT } from '../tokens.ts'

const sinksMax = 2_000
const argumentMax = 400
const payloadMin = 120
const numbersMin = 40
// A library has tables, decoders and its own `write`, far apart in 300,000 tokens.
const nearTokens = 2_000
const runs = new Set(['eval', 'Function', 'setTimeout', 'setInterval', 'execScript'])
const writes = new Set(['write', 'writeln'])

/**
 * Packers, code of punctuation only, and decoded text that is run or written but cannot be
 * evaluated. It can do no more than other code: the network is closed. `decodedEvals` judges text
 * that can be evaluated.
 */
export function* obfuscation(page: Page): Generator<Hit> {
  if (page.tooDeep)
    yield {
      code: 'obf.packer',
      at: 0,
      help: 'The encodings are nested too deep to read. Publish the code without encoding it.',
    }
  for (const script of page.scripts) {
    const at = script.place(0)
    if (isSignsOnly(script)) yield { code: 'obf.packer', at }
    if (isRenamed(script)) yield { code: 'obf.packer', at }
  }
  const studies = new Map<Script, Study>()
  for (const sink of page.sinks.slice(0, sinksMax))
    if (runs.has(sink.use) || writes.has(sink.use))
      yield* judge(sink, studyOf(sink.script, studies))
}

/** Facts that are computed once for each script that runs or writes text. */
interface Study {
  packer: number[]
  payload: number[]
  taint: Taint
}

function studyOf(script: Script, studies: Map<Script, Study>): Study {
  const study = studies.get(script) ?? {
    packer: packersOf(script),
    payload: payloadsOf(script),
    taint: taintOf(script),
  }
  studies.set(script, study)
  return study
}

/** Returns whether one of the ascending positions is near `index`. */
function isNear(places: number[], index: number): boolean {
  return lastBefore(places, index + nearTokens) >= index - nearTokens
}

function* judge(sink: Sink, study: Study): Generator<Hit> {
  const { use, script, index, at } = sink
  const straight = use === 'eval' || use === 'Function'
  const { kinds, texts } = script.tokens
  // A constant that is also assigned decoded text elsewhere does not show what is run.
  const known = sink.known && (sink.decoded || !study.taint.has(texts[index + 2] ?? '', index))
  const packed = straight && isNear(study.packer, index) && kinds[index + 2] !== TEXT
  if (packed || isPackedCall(script, index)) yield { code: 'obf.packer', at }
  else if (known) {
    if (sink.decoded && runs.has(use)) yield { code: 'obf.packer', at }
  } else if (!decodes(sink, study.taint)) return
  else if (straight || isNear(study.payload, index)) yield { code: 'obf.packer', at }
}

/** Blocks every decoded text in which another rule found something to block. */
export function* decodedEvals(page: Page, hits: readonly Hit[]): Generator<Hit> {
  for (const { code, at } of hits) {
    if (code === 'obf.decode_eval' || !page.decodedAt.has(at) || getRule(code).effect !== 'block')
      continue
    const help = `The decoded text breaks the rule ${code}. ${getRule(code).help}`
    yield { code: 'obf.decode_eval', at, help }
  }
}

/** Returns whether the arguments of a sink decode text, or name text that was decoded before. */
function decodes(sink: Sink, taint?: Taint): boolean {
  const { kinds, texts } = sink.script.tokens
  const end = Math.min(texts.length, sink.index + argumentMax)
  // Timers usually get functions, rarely text.
  const byName = sink.use !== 'setTimeout' && sink.use !== 'setInterval'
  let open = 0
  for (let index = sink.index + 1; index < end; index++) {
    const text = texts[index] ?? ''
    if (kinds[index] === TEXT) continue
    if (text === '(') open++
    if (text === ')' && --open === 0) return false
    // A timer's function is judged where it uses the text that it decodes.
    if (open === 1 && (text === 'function' || text === '=>')) return false
    if (kinds[index] !== NAME) continue
    if (decoders.has(text) || (byName && taint?.has(text, sink.index))) return true
  }
  return false
}

/** Finds possible payloads: long texts without spaces, and long lists of numbers. */
function payloadsOf({ tokens: { kinds, texts } }: Script): number[] {
  const places: number[] = []
  let numbers = 0
  for (let index = 0; index < kinds.length; index++) {
    const text = texts[index] ?? ''
    if (kinds[index] === TEXT && text.length >= payloadMin && !/\s/.test(text.slice(0, payloadMin)))
      places.push(index)
    if (kinds[index] === NUMBER) numbers++
    else if (text !== ',') numbers = 0
    if (numbers > 0 && numbers % numbersMin === 0) places.push(index)
  }
  return places
}

const signsMin = 500

/** Returns whether code uses only brackets and operators (JSFuck), which builds its own eval. */
function isSignsOnly({ tokens: { kinds, code } }: Script): boolean {
  if (kinds.length < signsMin) return false
  return /^[[\]()!+\s;{}]{2000}/.test(code.trimStart())
}

const renamedMin = 20
const renamed = /^_0x[\da-f]{4,}$/

/** Returns whether an obfuscator renamed everything to _0x12ab34. */
function isRenamed({ tokens: { kinds, texts, code } }: Script): boolean {
  if (!code.includes('_0x')) return false
  let count = 0
  for (let index = 0; index < kinds.length && count < renamedMin; index++)
    if (kinds[index] === NAME && renamed.test(texts[index] ?? '')) count++
  return count >= renamedMin
}

/** Functions that turn encoded text or numbers into text. */
const decoders: ReadonlySet<string> = new Set(
  'atob,unescape,fromCharCode,charCodeAt,codePointAt,fromCodePoint'.split(','),
)

const shortName = 2
const taintTokens = 300
const positionsMax = 200_000

/** Names of a script that hold decoded text, or that decode. */
interface Taint {
  has(name: string, index: number): boolean
}

/**
 * Finds tainted names: those whose assignment or function body decodes text. Minifiers reuse short
 * names, so a short name is tainted only for the next 300 tokens.
 */
function taintOf({ tokens: { kinds, texts } }: Script): Taint {
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
    return index - last <= taintTokens ? last : undefined
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
function lastBefore(positions: number[], index: number): number {
  let [low, high] = [0, positions.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle] ?? 0) <= index) low = middle + 1
    else high = middle
  }
  return positions[low - 1] ?? -Infinity
}

const inflaters =
  'DecompressionStream,pako,LZString,fflate,inflate,LZMA,lzma,decompress,getImageData'.split(',')
const packedArgumentMax = 16

/** Returns the positions of known packers: RegPack, JSCrush, Roadroller, images, streams. */
function packersOf(script: Script): number[] {
  const { texts, find } = script.tokens
  const splits = (index: number) => texts[index + 3] === '.' && texts[index + 4] === 'split'
  const withs = find('join').length > 0 ? find('with').filter(splits) : []
  const inflating = inflaters.flatMap((name) => [...find(name)])
  return [...withs, ...inflating, ...roadrollers(script)].sort((a, b) => a - b)
}

/** Returns whether a sink is part of a packer: p.a.c.k.e.d, or unescape(escape()). */
function isPackedCall({ tokens: { texts } }: Script, index: number): boolean {
  const near = texts.slice(index, index + packedArgumentMax).join(' ')
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
