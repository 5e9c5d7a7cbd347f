import { plain } from '../../kernel/forbidden-text.ts'
import { pattern } from '../../kernel/text.ts'
import type { Page, Run, Trigger } from './page.ts'

const depthMax = 4
const nestedPiecesMax = 20_000
const nearMax = 160

/**
 * Input of the HTML and script readers: the page that gets the facts, and readers of nested
 * content. Text that scripts write is read like the page, at the script's offset, within bounds.
 */
export interface Reading {
  page: Page
  depth: number
  /** Index of the open form in `page.forms`; -1 outside. */
  form: number
  /** Words since the last field, in lower case. */
  near: string
  place(offset: number): number
  run(text: string, offset: number, role: Run['role']): void
  script(code: string, attributes: ReadonlyMap<string, string>, offset: number): void
  code(code: string, offset: number, trigger?: Trigger): void
  html(html: string, offset: number): void
}

/** Bounds on nested content, within the page's budget. One per page. */
export interface Budget {
  pieces: number
  /** Texts that were read already. */
  seen: Set<string>
  readHtml(html: string, reading: Reading): void
  readScript(code: string, reading: Reading, trigger: Trigger): void
}

/** Creates the bounds of one page. */
export function newBudget(readers: Pick<Budget, 'readHtml' | 'readScript'>): Budget {
  return { pieces: nestedPiecesMax, seen: new Set(), ...readers }
}

const scriptTypes = pattern(
  '',
  String.raw`^(?:|module|(?:text|application)/(?:x-)?(?:java|ecma|live)script|text/(?:babel|`,
  String.raw`jsx|typescript))$`,
)
const templateTypes =
  /^text\/(?:html|template|x-template|x-handlebars|ng-template|x-handlebars-template|x-jquery-tmpl)/

/** Creates the reading of one piece. `place` maps its offsets to the page's. */
export function newReading(
  page: Page,
  place: (offset: number) => number,
  budget: Budget,
  depth = 0,
): Reading {
  const inside = (offset: number, exact: boolean): Reading => {
    const start = place(offset)
    return newReading(page, exact ? (more) => place(offset + more) : () => start, budget, depth + 1)
  }
  const allowed = (text: string): boolean => {
    page.budget.nested -= text.length
    budget.pieces--
    const isWithinBudget = depth < depthMax && page.budget.nested >= 0 && budget.pieces >= 0
    if (!isWithinBudget) page.tooDeep = true
    if (!isWithinBudget || budget.seen.has(text)) return false
    budget.seen.add(text)
    return true
  }
  const reading: Reading = {
    page,
    depth,
    form: -1,
    near: '',
    place,
    run(text, offset, role) {
      const short = text.trim()
      if (!short) return
      page.runs.push({ text: short, at: place(offset + text.indexOf(short.slice(0, 1))), role })
      const field = page.fields.at(-1)
      if (field && role === 'control' && !field.after) field.after = plain(short.slice(0, nearMax))
      reading.near = `${reading.near} ${plain(short.slice(-nearMax))}`.slice(-nearMax)
    },
    script(code, attributes, offset) {
      const type = (attributes.get('type') ?? '').trim().toLowerCase()
      if (attributes.has('data-assets')) page.assetLists.push({ text: code, at: place(offset) })
      else if (type === 'importmap') page.importMaps.push({ text: code, at: place(offset) })
      else if (scriptTypes.test(type)) budget.readScript(code, inside(offset, true), 'load')
      else if (templateTypes.test(type)) reading.html(code, offset)
    },
    code(code, offset, trigger = 'load') {
      if (allowed(code)) budget.readScript(code, inside(offset, false), trigger)
    },
    html(html, offset) {
      if (allowed(html)) budget.readHtml(html, inside(offset, false))
    },
  }
  return reading
}

const cssAddresses = /url\(\s{0,9}["']?([^"')\s]{1,500})|@import\s{1,9}["']([^"']{1,500})/gi

/** Adds the URLs that a style sheet loads. */
export function readStyle(css: string, offset: number, { page, place }: Reading): void {
  for (const found of css.matchAll(cssAddresses)) {
    const url = found[1] ?? found[2] ?? ''
    page.addresses.push({ use: 'style', url, at: place(offset + found.index) })
  }
}
