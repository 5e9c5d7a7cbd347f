import { lookUp } from '../../kernel/schema.ts'
import type { Tokens } from './tokens.ts'

/** Visible text, or a visible attribute. `at` is its offset in the page. */
export interface Run {
  text: string
  at: number
  role: 'title' | 'heading' | 'control' | 'text'
}

/** An input field. `own`: its attributes; `near`: the words before it, in lower case. */
export interface Field {
  type: string
  own: string
  near: string
  /** A label directly after the field. */
  after: string
  form: number
  at: number
}

export interface Form {
  id: string
  action: string
  at: number
  /** A button with its own action, as a form. */
  button: boolean
}

/** A URL in the page. `use`: the tag, or the property or function of a script that gets it. */
export interface Address {
  use: string
  url: string
  at: number
  /** Is true for a script tag of type module. */
  isModule?: boolean
  integrity?: string | undefined
}

/** A script runs at once, by an event, or when a visitor presses something. */
export type Trigger = 'load' | 'event' | 'press'

export interface Script {
  tokens: Tokens
  trigger: Trigger
  /** Returns a token's offset in the page. */
  place(index: number): number
}

/** A constant string of a script. `built`: from several pieces; `decoded`: from an encoding. */
export interface Literal {
  value: string
  at: number
  built: boolean
}

/**
 * Characters that scripts of a page may still build, and that may still be read inside other
 * content. One budget per page, since a few names that double each other outgrow any page.
 */
export interface ScanBudget {
  built: number
  nested: number
}

const builtMax = 6 * 1024 * 1024
const nestedMax = 4 * 1024 * 1024

/** Returns the budget of a page that is scanned in a worker. */
export const newScanBudget = (html: string): ScanBudget => ({
  built: builtMax,
  nested: Math.min(nestedMax, nestedMax / 16 + html.length * 16),
})

/** The facts of a page that the rules read. They include content that scripts write. */
export interface Page {
  html: string
  title: string | undefined
  runs: Run[]
  fields: Field[]
  forms: Form[]
  addresses: Address[]
  requests: Address[]
  downloads: { name: string; url: string; at: number }[]
  /** Links to other hosts. */
  links: { id: string; at: number }[]
  refreshes: { url: string; at: number }[]
  assetLists: { text: string; at: number }[]
  importMaps: { text: string; at: number }[]
  /** Offsets of frames without a URL. */
  frames: number[]
  scripts: Script[]
  literals: Literal[]
  /** Calls that run or write text. */
  sinks: Sink[]
  /** Offsets of facts that were decoded. */
  decodedAt: Set<number>
  /** All visible text in lower case, one run per line, and the start of each run. */
  words: string
  wordStarts: number[]
  /** True when nested decoding exceeded its bound. */
  tooDeep: boolean
  canvas: boolean
  budget: ScanBudget
}

export interface Sink {
  use: string
  script: Script
  index: number
  at: number
  decoded: boolean
  known: boolean
}

/** Creates a page without facts. */
export function emptyPage(html: string, budget: ScanBudget): Page {
  return {
    html,
    title: undefined,
    runs: [],
    fields: [],
    forms: [],
    addresses: [],
    requests: [],
    downloads: [],
    links: [],
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
    budget: budget,
  }
}

/** Joins the visible text for rules that search words. */
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

/** Returns the offset of the run that contains an index of `page.words`. */
export function placeOfWord(page: Page, index: number): number {
  const run = page.wordStarts.findLastIndex((start) => start <= index)
  return page.runs[run]?.at ?? 0
}

/** Returns whether a URL is on another host. */
export function isRemote(url: string): boolean {
  return /^\s*(?:(?:https?|wss?|ftp):)?\/\//i.test(url.slice(0, 64))
}

/**
 * Returns text in lower case without tricks that hide words: look-alike letters, invisible
 * characters, full-width forms.
 */
export function plain(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKC')
    .replace(/[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]/g, '')
    .toLowerCase()
    .replace(/\p{L}+/gu, latin)
}

/** Converts a word of mixed alphabets to Latin letters. Words of one alphabet stay. */
function latin(word: string): string {
  if (!/[a-z]/.test(word) || !/[^a-z]/.test(word)) return word
  return word.replace(/[^a-z]/g, (letter) => lookUp(lookAlikes, letter) ?? letter)
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
