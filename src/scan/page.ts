import type { Tokens } from './tokens.ts'

/** Visible text, or an attribute that is shown; `at` is the offset in the page. */
export interface Run {
  text: string
  at: number
  role: 'title' | 'heading' | 'control' | 'text'
}

/**
 * Something to type into: `own` are its attributes, `near` the words in front of it, lower case.
 */
export interface Field {
  type: string
  own: string
  near: string
  /** A label that stands right behind the field. */
  after: string
  form: number
  at: number
}

export interface Form {
  id: string
  action: string
  at: number
  /** Stands for a button with an action of its own. */
  button: boolean
}

/**
 * An address named by the page: `use` is the tag, or the script's property or function that is
 * given it.
 */
export interface Address {
  use: string
  url: string
  at: number
}

export interface Script {
  tokens: Tokens
  /** True for an event handler in an attribute: it runs only when the visitor does something. */
  handler: boolean
  /** Where a token of it stands in the page. */
  place(index: number): number
}

/** A constant string of a script: `built` from several pieces, or `decoded` from an encoding. */
export interface Literal {
  value: string
  at: number
  built: boolean
}

/**
 * How many characters scripts may still put together, and how many may be read inside other things:
 * one for a whole page, since a few names that double each other are longer than any page.
 */
export interface Room {
  built: number
  nested: number
}

const builtMax = 6 * 1024 * 1024
const nestedMax = 4 * 1024 * 1024

/** The room of a page that is looked at where it holds nobody up. */
export const roomOf = (html: string): Room => ({
  built: builtMax,
  nested: Math.min(nestedMax, nestedMax / 16 + html.length * 16),
})

/**
 * The facts of a page that the rules look at, flat: what scripts write stands beside what the
 * page says itself.
 */
export interface Page {
  html: string
  title: string | undefined
  runs: Run[]
  fields: Field[]
  forms: Form[]
  addresses: Address[]
  requests: Address[]
  downloads: { name: string; url: string; at: number }[]
  refreshes: { url: string; at: number }[]
  assetLists: { text: string; at: number }[]
  importMaps: { text: string; at: number }[]
  /** Where frames stand that have no address of their own. */
  frames: number[]
  scripts: Script[]
  literals: Literal[]
  /** Calls that run or write text; `text` is undefined where it cannot be worked out. */
  sinks: Sink[]
  /** Places whose facts came out of an encoding. */
  decodedAt: Set<number>
  /** All runs in lower case, one a line, and where each run starts in it. */
  words: string
  wordStarts: number[]
  /** True where decoding within decoding went past its bound. */
  tooDeep: boolean
  canvas: boolean
  room: Room
}

export interface Sink {
  use: string
  script: Script
  index: number
  at: number
  decoded: boolean
  known: boolean
}

/** A page without facts. */
export function emptyPage(html: string, room: Room): Page {
  return {
    html,
    title: undefined,
    runs: [],
    fields: [],
    forms: [],
    addresses: [],
    requests: [],
    downloads: [],
    refreshes: [],
    assetLists: [],
    importMaps: [],
    frames: [],
    scripts: [],
    literals: [],
    sinks: [],
    decodedAt: new Set(),
    words: '',
    wordStarts: [],
    tooDeep: false,
    canvas: false,
    room,
  }
}

/** Joins the runs for the rules that look for words. */
export function joinWords(page: Page): void {
  const parts: string[] = []
  let length = 0
  for (const run of page.runs) {
    const text = plain(run.text)
    page.wordStarts.push(length)
    parts.push(text)
    length += text.length + 1
  }
  page.words = parts.join('\n')
}

/** The place of a run that holds an index of `page.words`. */
export function placeOfWord(page: Page, index: number): number {
  const run = page.wordStarts.findLastIndex((start) => start <= index)
  return page.runs[run]?.at ?? 0
}

/** True for an address on another host. */
export function isRemote(url: string): boolean {
  return /^\s*(?:(?:https?|wss?|ftp):)?\/\//i.test(url.slice(0, 64))
}

/**
 * Lower case without the tricks that hide a word: look-alike letters, invisible characters,
 * full-width forms.
 */
export function plain(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKC')
    .replace(/[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]/g, '')
    .toLowerCase()
    .replace(/\p{L}+/gu, latin)
}

/** A word of mixed alphabets in Latin letters; words of one alphabet stay as they are. */
function latin(word: string): string {
  if (!/[a-z]/.test(word) || !/[^a-z]/.test(word)) return word
  return word.replace(/[^a-z]/g, (letter) => lookAlikes[letter] ?? letter)
}

const lookAlikes: Record<string, string> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ѕ: 's',
  ј: 'j',
  ԁ: 'd',
  ɡ: 'g',
  ӏ: 'l',
  ԛ: 'q',
  ԝ: 'w',
  ο: 'o',
  α: 'a',
}
