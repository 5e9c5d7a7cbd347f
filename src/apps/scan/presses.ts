import type { Page, Script } from './page.ts'
import { NAME, PUNCT, TEXT } from './tokens.ts'

const pointerEvents = new Set(
  (
    'click dblclick auxclick contextmenu mousedown mouseup pointerdown pointerup touchstart ' +
    'touchend'
  ).split(' '),
)
const otherEvents = new Set('keydown keyup keypress submit input change drop paste'.split(' '))

/**
 * Returns whether an event means that a visitor wants something. A click anywhere in the page does
 * not: a page that leaves then takes its visitors with it.
 */
export function isPress(event: string, isPageWide = false): boolean {
  return otherEvents.has(event) || (pointerEvents.has(event) && !isPageWide)
}

const registering = new Set(['addEventListener', 'on', 'one', 'once'])
const pageWide = new Set(
  'window document self globalThis body documentElement top parent'.split(' '),
)
const depthMax = 3
/** Comparisons in one page. Past them its code counts as code that runs by itself. */
const stepsMax = 20_000_000
const opening = new Set(['(', '[', '{', '${'])
const closing = new Set([')', ']', '}'])

/** From the first to the last token. */
type Range = [from: number, to: number]

/** The functions of a script: named ones, and those that run when something is pressed. */
interface Outline {
  pressed: Range[]
  named: { name: string; body: Range; at: number; parameter: string }[]
}

/** Finds the code of a page that runs only when a visitor presses something. */
export class Presses {
  private readonly outlines = new Map<Script, Outline>()
  private readonly known = new Map<string, boolean>()
  private steps = 0

  constructor(private readonly page: Page) {}

  /** Returns whether a token is in a handler, or in a function that only handlers mention. */
  has(script: Script, index: number, depth = 0): boolean {
    if (script.trigger === 'press') return true
    const { pressed, named } = this.outlineOf(script)
    this.steps += pressed.length + named.length
    if (this.steps > stepsMax) return false
    if (pressed.some((range) => isIn(range, index))) return true
    return named.some(({ name, body }) => isIn(body, index) && this.isOnlyPressed(name, depth))
  }

  /** Returns the innermost function with a name around a token, and its first parameter. */
  functionAt(script: Script, index: number): { name: string; parameter: string } | undefined {
    this.steps += this.outlineOf(script).named.length
    if (this.steps > stepsMax) return undefined
    const around = this.outlineOf(script).named.filter(({ body }) => isIn(body, index))
    return around.toSorted((a, b) => b.body[0] - a.body[0])[0]
  }

  private isOnlyPressed(name: string, depth: number): boolean {
    const known = this.known.get(name)
    if (known !== undefined || depth > depthMax) return known ?? false
    let isMentioned = false
    const isPressed = this.page.scripts.every((script) => {
      const own = this.outlineOf(script).named.filter((one) => one.name === name)
      return script.tokens.find(name).every((index) => {
        this.steps += own.length
        if (this.steps > stepsMax) return false
        if (own.some(({ at, body }) => at === index || isIn(body, index))) return true
        isMentioned = true
        return this.has(script, index, depth + 1)
      })
    })
    this.known.set(name, isMentioned && isPressed)
    return isMentioned && isPressed
  }

  private outlineOf(script: Script): Outline {
    const known = this.outlines.get(script)
    if (known) return known
    const outline = outlineOf(script)
    this.outlines.set(script, outline)
    return outline
  }
}

const isIn = ([from, to]: Range, index: number): boolean => from <= index && index <= to

function outlineOf(script: Script): Outline {
  const { kinds, texts } = script.tokens
  const ends = pairsOf(script)
  const outline: Outline = { pressed: [], named: [] }
  const clicked = clickedBy(script)
  for (let index = 0; index < kinds.length; index += 1) {
    if (kinds[index] !== NAME) continue
    const next = texts[index + 1]
    const handler = pressedAfter(script, index, ends)
    // The script presses this element itself.
    const isClicked = clicked.has(texts[index - 2] ?? '')
    if (handler && !isClicked) outline.pressed.push(handler)
    const isFunction = texts[index - 1] === 'function' && next === '('
    const start = isFunction ? index + 1 : next === '=' ? index + 2 : -1
    const found = start === -1 ? undefined : functionFrom(script, start, ends)
    if (found) outline.named.push({ name: texts[index] ?? '', at: index, ...found })
  }
  return outline
}

/** Returns the names of the elements that a script clicks: `b.click()`. */
function clickedBy({ tokens: { kinds, texts, find } }: Script): Set<string> {
  const calls = ['click', 'dispatchEvent'].flatMap((name) => find(name))
  const own = calls.filter((at) => texts[at + 1] === '(' && kinds[at - 2] === NAME)
  return new Set(own.map((at) => texts[at - 2] ?? ''))
}

/** Returns the closing bracket of every opening one. */
function pairsOf({ tokens: { kinds, texts } }: Script): Map<number, number> {
  const open: number[] = []
  const ends = new Map<number, number>()
  for (const [index, text] of texts.entries()) {
    if (kinds[index] !== PUNCT) continue
    if (opening.has(text)) open.push(index)
    else if (closing.has(text)) ends.set(open.pop() ?? -1, index)
  }
  return ends
}

/** Returns the handler that a name registers: `b.onclick = …`, `b.addEventListener('click', …)`. */
function pressedAfter(script: Script, index: number, ends: Map<number, number>): Range | undefined {
  const { kinds, texts } = script.tokens
  const [name, next] = [texts[index] ?? '', texts[index + 1] ?? '']
  const owner = texts[index - 1] === '.' || texts[index - 1] === '?.' ? texts[index - 2] : 'window'
  if (next === '=' || next === ':') {
    const isHandler = /^on[a-z]+$/i.test(name)
    const isOfPage = next === '=' && pageWide.has(owner ?? '')
    if (!isHandler || !isPress(name.slice(2).toLowerCase(), isOfPage)) return undefined
    return [index + 2, endOfHandler(script, index + 2, ends)]
  }
  if (next !== '(') return undefined
  const to = ends.get(index + 1) ?? index
  const event = kinds[index + 2] === TEXT && texts[index + 3] === ',' ? texts[index + 2] : undefined
  if (registering.has(name) && event !== undefined)
    return isPress(event, pageWide.has(owner ?? '')) ? [index + 3, to] : undefined
  // jQuery: `$('#b').click(function () {…})`.
  const isPassed = texts[index - 1] === '.' && functionFrom(script, index + 2, ends) !== undefined
  return isPassed && isPress(name) ? [index + 2, to] : undefined
}

/** Returns the function that starts at a token: its body and its first parameter. */
function functionFrom(
  script: Script,
  from: number,
  ends: Map<number, number>,
): { body: Range; parameter: string } | undefined {
  const { kinds, texts } = script.tokens
  let at = from
  if (texts[at] === 'async') at += 1
  const isArrow = texts[at] !== 'function' && texts[from - 2] !== 'function'
  if (texts[at] === 'function') at += kinds[at + 1] === NAME ? 2 : 1
  const parameter = (texts[at] === '(' ? texts[at + 1] : texts[at]) ?? ''
  const after = (texts[at] === '(' ? (ends.get(at) ?? at) : at) + 1
  if (isArrow ? texts[after] !== '=>' : texts[after] !== '{') return undefined
  const start = isArrow ? after + 1 : after
  const isBlock = texts[start] === '{'
  const end = isBlock ? (ends.get(start) ?? texts.length) : endOfValue(script, start, ends)
  return { body: [start, end], parameter }
}

/** Returns the end of a value: before a comma, a semicolon, a new line or the bracket around it. */
function endOfValue({ tokens }: Script, from: number, ends: Map<number, number>): number {
  const { code, kinds, starts, texts } = tokens
  let at = from
  while (at < texts.length && !(kinds[at] === PUNCT && /^[,;)\]}]$/.test(texts[at] ?? ''))) {
    at = (ends.get(at) ?? at) + 1
    const isOpen = kinds[at - 1] === PUNCT && !closing.has(texts[at - 1] ?? '')
    if (!isOpen && code.slice(starts[at - 1], starts[at]).includes('\n')) break
  }
  return at - 1
}

/** Returns the end of an assigned handler, which may have no semicolon. */
function endOfHandler(script: Script, from: number, ends: Map<number, number>): number {
  const body = functionFrom(script, from, ends)?.body
  return body ? body[1] : endOfValue(script, from, ends)
}
