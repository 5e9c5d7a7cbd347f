import { type Constants, decoders, fold, type Folded } from './fold.ts'
import { isRemote, type Script, type Trigger } from './page.ts'
import type { Reading } from './reading.ts'
import { CHUNK, NAME, TEXT, tokensOf } from './tokens.ts'

const constantsMax = 20_000
const partialMin = 8
const codeSinks = ['eval', 'Function', 'setTimeout', 'setInterval', 'execScript']
const htmlSinks = ['write', 'writeln', 'innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcdoc']
const requestNames = [
  'fetch',
  'sendBeacon',
  'WebSocket',
  'EventSource',
  'importScripts',
  'import',
  'Worker',
]
const markup = /<(?:\/?[a-z][\w-]{0,20}[\s>/]|!--)/i
const quotes = new Set(
  'textContent innerText createTextNode example examples snippet attack exploit payload lesson'.split(
    ' ',
  ),
)
const looksLikeCode = /[(=;]/

interface Job {
  script: Script
  reading: Reading
  constants: Constants
}

/**
 * Reads a script into the page's facts: its constant strings (joined, decoded), the markup in them,
 * URLs, and text that is run or written. It works on tokens, so nesting uses no stack.
 */
export function readScript(code: string, reading: Reading, trigger: Trigger): void {
  const tokens = tokensOf(code)
  const place = (index: number): number => reading.place(tokens.starts[index] ?? 0)
  const script: Script = { tokens, trigger, place }
  reading.page.scripts.push(script)
  const job = { script, reading, constants: { values: new Map(), budget: reading.page.budget } }
  readLiterals(job)
  for (const name of codeSinks) readSink(job, name, true)
  for (const name of htmlSinks) readSink(job, name, false)
  readRequests(job)
  readPacked(job)
}

/** Reads every constant string in its longest form, and templates without their expressions. */
function readLiterals(job: Job): void {
  const { script, constants } = job
  const { kinds, texts } = script.tokens
  const templates: { index: number; parts: string[] }[] = []
  let at = 0
  while (at < kinds.length) {
    const text = texts[at] ?? ''
    const folded = startsText(job, at) ? fold(script.tokens, at, constants) : undefined
    if (folded) {
      keepConstant(script, at, folded, constants)
      readLiteral(job, at, folded)
    } else if (kinds[at] === CHUNK) templates.at(-1)?.parts.push(text)
    else if (text === '`' && kinds[at + 1] === CHUNK) templates.push({ index: at, parts: [] })
    else if (text === '`') {
      const { index, parts } = templates.pop() ?? { index: at, parts: [] }
      const value = parts.join('')
      readLiteral(job, index, { value, next: at, built: false, decoded: false, partial: true })
    }
    at = folded ? Math.max(folded.next, at + 1) : at + 1
  }
}

function startsText({ script, constants }: Job, at: number): boolean {
  const { kinds, texts } = script.tokens
  const text = texts[at] ?? ''
  if (kinds[at] === TEXT) return true
  if (kinds[at] === NAME && (decoders.has(text) || text === 'String')) return true
  if (kinds[at] === NAME) return texts[at + 1] === '+' && constants.values.has(text)
  if (text === '`') return kinds[at + 1] === CHUNK
  if (kinds[at + 1] !== TEXT || (text !== '(' && text !== '[')) return false
  // For nested brackets the text itself starts the expression, once instead of at every depth.
  if (texts[at + 3] === '(') return false
  // Brackets of a call or a member belong to the token before them.
  return kinds[at - 1] !== NAME && texts[at - 1] !== ')' && texts[at - 1] !== ']'
}

/** Records `name = 'text'` and `name += 'text'`. */
export function keepConstant(script: Script, at: number, text: Folded, constants: Constants): void {
  const { kinds, texts } = script.tokens
  const sign = texts[at - 1]
  const name = texts[at - 2] ?? ''
  if ((sign !== '=' && sign !== '+=') || kinds[at - 2] !== NAME || texts[at - 3] === '.') return
  const { values } = constants
  const before = sign === '+=' ? values.get(name) : undefined
  if (values.size >= constantsMax && !values.has(name)) return
  values.set(name, {
    value: (before?.value ?? '') + text.value,
    decoded: text.decoded || (before?.decoded ?? false),
  })
}

function readLiteral(
  { script, reading }: Job,
  index: number,
  { value, built, decoded }: Folded,
): void {
  if (value.length < 4) return
  const { page } = reading
  const offset = script.tokens.starts[index] ?? 0
  const at = script.place(index)
  if (built || decoded) page.literals.push({ value, at, built: true })
  const head = value.slice(0, 40)
  if (isRemote(head) || /^\s*(?:mailto:|data:)/i.test(head) || /\.php\b/.test(value.slice(0, 200)))
    page.requests.push({ use: useOf(script, index), url: value, at })
  // Text that a page shows. Markup that is inserted by its name is read where it is inserted.
  if (!decoded && quotes.has(useOf(script, index))) return
  if (value.includes('<') && markup.test(value)) {
    if (decoded) page.decodedAt.add(at)
    reading.html(value, offset)
  } else if (/^\s*javascript:/i.test(head))
    reading.code(value.slice(value.indexOf(':') + 1), offset)
  if (value === 'password') readMadeField(script, index, reading)
  if (!looksLikeCode.test(value)) return
  const use = useOf(script, index)
  if (use === 'Blob' || use === 'textContent' || use === 'text') reading.code(value, offset)
}

/** Records a created password field: `type = 'password'`, `setAttribute('type', 'password')`. */
function readMadeField(script: Script, index: number, { page }: Reading): void {
  const { texts } = script.tokens
  const named = texts[index - 1] === ',' && texts[index - 2] === 'type'
  if (!named && useOf(script, index) !== 'type') return
  const at = script.place(index)
  page.fields.push({ type: 'password', own: '', near: '', after: '', form: -1, at })
}

const lookBack = 12

/** Returns the receiver of a value: the name before `=` or `:`, or the function before `(`. */
function useOf({ tokens: { texts } }: Script, index: number): string {
  let at = index - 1
  if (texts[at] === 'from' || texts[at] === 'import') return 'import'
  if (texts[at] === '=' || texts[at] === '+=' || texts[at] === ':') return texts[at - 1] ?? ''
  for (let steps = 0; steps < lookBack && at > 0; steps++, at--) {
    if (texts[at] !== '(') continue
    const name = texts[at - 1] ?? ''
    return name === 'open' && steps === 0 ? 'window.open' : name
  }
  return ''
}

/** Reads text that is passed to eval, write, innerHTML and similar, if it can be evaluated. */
function readSink({ script, reading, constants }: Job, use: string, isCode: boolean): void {
  const { texts, starts } = script.tokens
  for (const index of script.tokens.find(use)) {
    const sign = texts[index + 1]
    if (sign !== '(' && sign !== '=' && sign !== '+=') continue
    if (isCode && (sign !== '(' || texts[index - 1] === 'function')) continue
    const offset = starts[index] ?? 0
    const at = script.place(index)
    const text = sinkText(script, index, constants)
    const decoded = text?.decoded ?? false
    const known = text !== undefined && (!text.partial || text.value.length >= partialMin)
    reading.page.sinks.push({ use, script, index, at, decoded, known })
    if (!text || text.value.length < 4) continue
    if (decoded) reading.page.decodedAt.add(at)
    if (isCode) reading.code(text.value, offset)
    else if (text.built && markup.test(text.value)) reading.html(text.value, offset)
  }
}

const argumentsMax = 16

/**
 * Returns the text of a sink: the only argument, or the last of Function and insertAdjacentHTML.
 */
function sinkText(script: Script, index: number, constants: Constants): Folded | undefined {
  const { texts } = script.tokens
  let text = fold(script.tokens, index + 2, constants, true)
  const last = texts[index] === 'Function' || texts[index] === 'insertAdjacentHTML'
  for (let more = 0; last && text && texts[text.next] === ',' && more < argumentsMax; more++) {
    const next = fold(script.tokens, text.next + 1, constants, true)
    if (!next) return undefined
    text = next
  }
  if (!text || (text.partial && text.value === '')) return undefined
  return text
}

/** Unpacks and reads the first packed call of a script. */
function readPacked({ script, reading }: Job): void {
  const { texts, starts, find } = script.tokens
  const index = find('eval').find(
    (sink) => texts[sink + 2] === 'function' && texts[sink + 4] === 'p',
  )
  const code = index === undefined ? undefined : unpacked(script, index)
  if (index === undefined || !code) return
  const offset = starts[index] ?? 0
  reading.page.decodedAt.add(script.place(index))
  reading.code(code, offset)
}

/** Reads requests with a computed URL: fetch(host + '/x'). */
function readRequests({ script, reading, constants }: Job): void {
  const { texts, kinds } = script.tokens
  for (const use of requestNames)
    for (const index of script.tokens.find(use)) {
      const at = index + 2
      if (texts[index + 1] !== '(' || kinds[at] === TEXT) continue
      const url = fold(script.tokens, at, constants, true)
      if (url && isRemote(url.value))
        reading.page.requests.push({ use, url: url.value, at: script.place(index) })
    }
}

const wordsMax = 100_000
const outputMax = 4 * 1024 * 1024

/**
 * Returns the code inside `eval(function(p,a,c,k,e,d){...}('payload', radix, count,
 * 'a|b|c'.split('|')...))` at token `index`; undefined for anything else, or past 4 MB.
 */
function unpacked({ tokens: { kinds, texts, find } }: Script, index: number): string | undefined {
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
