import type { Hit } from '../findings.ts'
import { type Constants, fold } from '../fold.ts'
import { isRemote, newScanBudget, type Page, type ScanBudget, type Script } from '../page.ts'
import { Presses } from '../presses.ts'
import { keepConstant } from '../read-script.ts'
import { CHUNK, NAME, TEXT } from '../tokens.ts'

const help =
  'A script cannot open another page here. Use a plain link, which the viewer offers to open in a ' +
  'new tab.'

/**
 * Meta refreshes to a URL, and scripts that leave the page by themselves. A script that does so
 * when a visitor presses something does not work here either, but does nothing to visitors.
 */
export function* redirects(page: Page): Generator<Hit> {
  for (const { url, at } of page.refreshes)
    if (!url.startsWith('#')) yield { code: 'redirect.meta', at }
  const presses = new Presses(page)
  const budget = newScanBudget('')
  const all = page.scripts.map((script) => ({ script, names: new Navigations(script, budget) }))
  for (const { script, names } of all) {
    for (const { index, use } of names.found) {
      const at = script.place(index)
      if (use === 'meta') yield { code: 'redirect.meta', at }
      else if (!presses.has(script, index)) yield { code: 'redirect.script', at }
      else if (use === 'go') yield { code: 'sandbox.differs', at, help }
    }
    for (const index of clicks(page, script, names))
      if (!presses.has(script, index)) yield { code: 'redirect.script', at: script.place(index) }
  }
  yield* passedUrls(all, presses)
}

/** Functions that open their parameter, called with another host: `go('https://…')`. */
function* passedUrls(
  all: { script: Script; names: Navigations }[],
  presses: Presses,
): Generator<Hit> {
  const openers = new Set<string>()
  for (const { script, names } of all)
    for (const { index, value } of names.unknown) {
      const around = presses.functionAt(script, index)
      if (around && around.parameter === script.tokens.texts[value]) openers.add(around.name)
    }
  for (const { script, names } of all)
    for (const opener of openers)
      for (const index of script.tokens.find(opener)) {
        const { texts } = script.tokens
        if (texts[index - 1] === 'function' || texts[index + 1] !== '(') continue
        if (!names.leadsAway(index + 2)) continue
        if (!presses.has(script, index)) yield { code: 'redirect.script', at: script.place(index) }
        else yield { code: 'sandbox.differs', at: script.place(index), help }
      }
}

const lookBack = 24

/** Clicks on links to other hosts, and forms that are sent there, by a script. */
function* clicks(page: Page, script: Script, { pointed }: Navigations): Generator<number> {
  const { texts, find } = script.tokens
  const ids = new Set(page.links.map(({ id }) => id))
  const sends = page.forms.some(({ action }) => isRemote(action))
  for (const name of ['click', 'dispatchEvent', 'submit', 'requestSubmit'])
    for (const index of find(name)) {
      if (texts[index + 1] !== '(' || !/^\??\.$/.test(texts[index - 1] ?? '')) continue
      const owner = texts[index - 2] ?? ''
      const isClick = name === 'click' || name === 'dispatchEvent'
      const isAway = isClick
        ? pointed.links.has(owner) || namesLink(script, index - 2, ids)
        : pointed.forms.has(owner) || sends
      if (isAway) yield index
    }
}

/** Returns whether an expression that ends at a token names a link to another host. */
function namesLink({ tokens }: Script, end: number, ids: Set<string>): boolean {
  const { kinds, texts } = tokens
  const isLink = (id: string): boolean => id !== '' && ids.has(id)
  if (kinds[end] === NAME) return isLink(texts[end] ?? '')
  if (ids.size === 0 || !/^[)\]]$/.test(texts[end] ?? '')) return false
  for (let at = end - 1; at > end - lookBack && !/^[;{]$/.test(texts[at] ?? ''); at -= 1) {
    const text = kinds[at] === TEXT ? (texts[at] ?? '') : ''
    if (/^a(?:$|[.#[:])/.test(text) || isLink(text.replace('#', ''))) return true
  }
  return false
}

/** An object or a function of the browser that leads to another page. */
type Place = 'window' | 'document' | 'location' | 'href' | 'host' | 'go' | 'navigation' | 'open'

const windows = ['window', 'self', 'top', 'parent', 'globalThis', 'frames', 'opener']
const placesOf = (places: Record<string, Place>): ReadonlyMap<string, Place> =>
  new Map(Object.entries(places))
/** The places that a window has. Their names are also those of its variables. */
const ofWindow = placesOf({
  ...Object.fromEntries(windows.map((name) => [name, 'window' as const])),
  document: 'document',
  location: 'location',
  navigation: 'navigation',
  open: 'open',
})
/** The places that lead to others. */
const members: Partial<Record<Place, ReadonlyMap<string, Place>>> = {
  window: ofWindow,
  document: placesOf({ defaultView: 'window', location: 'location', parentWindow: 'window' }),
  location: placesOf({
    href: 'href',
    host: 'host',
    hostname: 'host',
    assign: 'go',
    replace: 'go',
  }),
  navigation: placesOf({ navigate: 'go' }),
}

const isCallable: ReadonlySet<Place> = new Set(['go', 'open'])
/** Methods of functions whose arguments begin with the receiver. */
const indirect = new Set(['call', 'apply', 'bind'])
const setters = new Set(['Reflect', 'Object'])
const starts = new Set([...setters, 'setAttribute'])

const stepsMax = 8
const bracketsMax = 2
const valueTokensMax = 60
const page = 'https://page.invalid/'
/** Data URLs that a browser would show as a page. */
const aPage = /^\s*data:(?!application\/octet-stream)/i
const refresh = /^\s*[\d.]*\s*[;,]?\s*url\s*=\s*["']?/i

/** A place of a script that opens a URL. `use: 'meta'` writes a refresh into the page. */
export interface Navigation {
  index: number
  use: 'go' | 'open' | 'meta'
}

function isAway(value: string): boolean {
  const url = value.slice(0, 2_000)
  if (isRemote(url) || aPage.test(url)) return true
  return URL.canParse(url, page) && /^(?:https?|ftp):/.test(new URL(url, page).protocol)
    ? new URL(url, page).origin !== new URL(page).origin
    : false
}

/**
 * Follows the names of a script in one pass: constants, and aliases of the window, its location and
 * its functions, in any spelling (`self['loc' + 'ation']`).
 */
class Navigations {
  readonly found: Navigation[] = []
  /** Names of links and of forms that the script leads to another host: `a.href = '//…'`. */
  readonly pointed = { links: new Set<string>(), forms: new Set<string>() }
  /** Values that are no constants: the tokens at which they begin. */
  readonly unknown: { index: number; value: number }[] = []
  private readonly constants: Constants
  private readonly aliases = new Map<string, Place | undefined>()

  /** All scripts of a page share a budget. */
  constructor(
    private readonly script: Script,
    private readonly budget: ScanBudget,
  ) {
    this.constants = { values: new Map(), budget }
    const { kinds, texts, find } = script.tokens
    const isOwn = (index: number): boolean => texts[index - 1] === 'function'
    for (const name of ofWindow.keys())
      if (find(name).some(isOwn)) this.aliases.set(name, undefined)
    for (let index = 0; index < kinds.length; index += 1) {
      const text = texts[index]
      if (text === '=' && kinds[index] !== TEXT) this.readAssignment(index)
      else if (this.mayStart(index)) this.readPlace(index)
    }
  }

  /**
   * Returns whether a value leads to another host: a constant, or one of several. It does where the
   * page has more values than its budget allows to read.
   */
  leadsAway(at: number): boolean {
    const { kinds, texts } = this.script.tokens
    const end = Math.min(at + valueTokensMax, texts.length)
    let depth = 0
    for (let index = at; index < end; index += 1) {
      this.budget.nested -= 1
      if (this.budget.nested < 0) return true
      const text = kinds[index] === TEXT ? '' : (texts[index] ?? '')
      if (text === ';' || text === ',' || (/^[)\]}]$/.test(text) && (depth -= 1) < 0)) break
      const isStart = index === at || /^(?:\?|:|\|\||\?\?|&&|\()$/.test(texts[index - 1] ?? '')
      if (isStart && this.isAwayAt(index)) return true
      if (/^(?:[([{]|\$\{)$/.test(text)) depth += 1
    }
    return false
  }

  private isAwayAt(at: number): boolean {
    const { kinds, texts } = this.script.tokens
    if (texts[at] === '`' && kinds[at + 1] === CHUNK && isRemote(texts[at + 1] ?? '')) return true
    const value = fold(this.script.tokens, at, this.constants)
    return value !== undefined && isAway(value.value)
  }

  private add(index: number, place: Place, value: number): void {
    if (this.leadsAway(value)) this.found.push({ index, use: place === 'open' ? 'open' : 'go' })
    else this.unknown.push({ index, value })
  }

  /** Reads `name = …`: constants, aliases, refreshes and URLs of elements. */
  private readAssignment(index: number): void {
    const { kinds, texts } = this.script.tokens
    const [name, before] = [texts[index - 1] ?? '', texts[index - 2]]
    if (name === '}') return this.readDestructuring(index)
    if (kinds[index - 1] !== NAME) return
    const value = fold(this.script.tokens, index + 1, this.constants)
    if (value) keepConstant(this.script, index + 1, value, this.constants)
    if (before === '.') {
      const owner = texts[index - 3] ?? ''
      if (name === 'content' && value && isRefresh(value.value)) this.addRefresh(index)
      if (/^(?:href|action|formAction)$/.test(name) && this.leadsAway(index + 1))
        this.point(owner, name)
      return
    }
    const place = this.read(index + 1)
    if (place && !/^[.([=]$/.test(texts[place.next] ?? '')) this.aliases.set(name, place.place)
    // A variable of the page hides that of the browser. Without a declaration it is the browser's.
    else if (
      /^(?:const|let|var|,)$/.test(before ?? '') &&
      name !== 'location' &&
      ofWindow.has(name)
    )
      this.aliases.set(name, undefined)
  }

  /** Reads `const { location: l } = window`. */
  private readDestructuring(index: number): void {
    const place = this.read(index + 1)?.place
    const known = place && members[place]
    const { texts } = this.script.tokens
    for (let at = index - 2; known && at > index - valueTokensMax && texts[at] !== '{'; at -= 1) {
      const member = known.get(texts[texts[at - 1] === ':' ? at - 2 : at] ?? '')
      if (member) this.aliases.set(texts[at] ?? '', member)
    }
  }

  /** Returns whether a token may start an expression that leads somewhere. */
  private mayStart(index: number): boolean {
    const { kinds, texts } = this.script.tokens
    const text = texts[index] ?? ''
    if (kinds[index] !== NAME) return text === '(' && kinds[index + 1] === NAME
    return ofWindow.has(text) || this.aliases.has(text) || starts.has(text)
  }

  /** Reads an expression that starts at a token, and records where it leads. */
  private readPlace(at: number): void {
    const { texts } = this.script.tokens
    if (setters.has(texts[at] ?? '') && texts[at + 3] === '(') return this.readSetter(at)
    if (texts[at] === 'setAttribute' && texts[at + 1] === '(') return this.readAttribute(at)
    const before = texts[at - 1]
    if (before === '.' || before === '?.' || before === 'function') return
    const found = this.read(at)
    if (!found) return
    const { place, next } = found
    const isDeclared = before === 'const' || before === 'let'
    const sign = texts[next] ?? ''
    if (/^(?:\|\||\?\?|&&)?=$/.test(sign) && /^(?:location|href|host)$/.test(place) && !isDeclared)
      return place === 'host' ? this.addHost(at, next + 1) : this.add(at, place, next + 1)
    if (!isCallable.has(place)) return
    if (sign === '(') return this.add(at, place, next + 1)
    const method = this.member(next)
    const isIndirect = method !== undefined && indirect.has(method.name)
    // The arguments after the receiver, or after this function as an argument.
    if (isIndirect || sign === ',')
      this.readArguments(at, place, isIndirect ? method.next + 1 : next)
  }

  /** Reads later arguments: `go.call(location, …)`, `Reflect.apply(go, location, […])`. */
  private readArguments(at: number, place: Place, from: number): void {
    const { texts } = this.script.tokens
    for (let index = from; index < from + valueTokensMax && texts[index] !== ')'; index += 1) {
      const value = index + (texts[index + 1] === '[' ? 2 : 1)
      if (texts[index] === ',' && this.leadsAway(value)) return this.add(at, place, value)
    }
  }

  /** Reads `Reflect.set(location, 'href', …)` and `Object.assign(location, { href: … })`. */
  private readSetter(at: number): void {
    const { texts } = this.script.tokens
    const target = this.read(at + 4)
    const known = target && members[target.place]
    if (!known || texts[target.next] !== ',') return
    const isObject = texts[target.next + 1] === '{'
    const name = isObject ? undefined : fold(this.script.tokens, target.next + 1, this.constants)
    const key = isObject ? texts[target.next + 2] : name?.value
    const value = isObject ? target.next + 4 : (name?.next ?? 0) + 1
    if (/^(?:location|href)$/.test(known.get(key ?? '') ?? '')) this.add(at, 'href', value)
  }

  /** Reads `a.setAttribute('href', …)` and `m.setAttribute('content', '0;url=…')`. */
  private readAttribute(at: number): void {
    const { texts } = this.script.tokens
    const [owner, property] = [texts[at - 2] ?? '', texts[at + 2] ?? '']
    const value = fold(this.script.tokens, at + 4, this.constants)
    if (property === 'content' && value && isRefresh(value.value)) this.addRefresh(at)
    if (/^(?:href|action)$/.test(property) && this.leadsAway(at + 4)) this.point(owner, property)
  }

  private point(name: string, property: string): void {
    this.pointed[property === 'href' ? 'links' : 'forms'].add(name)
  }

  private addRefresh(index: number): void {
    this.found.push({ index, use: 'meta' })
  }

  private addHost(index: number, value: number): void {
    if (fold(this.script.tokens, value, this.constants)) this.found.push({ index, use: 'go' })
  }

  /** Returns the object or function that an expression names, and the token after it. */
  private read(at: number, depth = 0): { place: Place; next: number } | undefined {
    const { kinds, texts } = this.script.tokens
    let found: { place: Place; next: number } | undefined
    if (texts[at] === '(' && kinds[at] !== TEXT && depth < bracketsMax) {
      const inner = this.read(at + 1, depth + 1)
      if (inner && texts[inner.next] === ')') found = { ...inner, next: inner.next + 1 }
    } else if (kinds[at] === NAME) {
      const name = texts[at] ?? ''
      const place = this.aliases.has(name) ? this.aliases.get(name) : ofWindow.get(name)
      if (place) found = { place, next: at + 1 }
    }
    for (let steps = 0; found && steps < stepsMax; steps += 1) {
      const member = this.member(found.next)
      const place: Place | undefined = member && members[found.place]?.get(member.name)
      // `location.assign.bind(location)` is the same function.
      const isBound = member?.name === 'bind' && texts[member.next + 2] === ')'
      if (member && isBound && isCallable.has(found.place)) {
        found = { place: found.place, next: member.next + 3 }
        continue
      }
      if (!member || !place) break
      found = { place, next: member.next }
    }
    return found
  }

  /** Returns the member after a token: `.name`, `?.name` or `['na' + 'me']`. */
  private member(at: number): { name: string; next: number } | undefined {
    const { kinds, texts } = this.script.tokens
    const isDot = texts[at] === '.' || texts[at] === '?.'
    if (isDot && kinds[at + 1] === NAME) return { name: texts[at + 1] ?? '', next: at + 2 }
    const open = texts[at] === '?.' ? at + 1 : at
    if (texts[open] !== '[' || kinds[open] === TEXT) return undefined
    const name = fold(this.script.tokens, open + 1, this.constants)
    if (!name || texts[name.next] !== ']') return undefined
    return { name: name.value, next: name.next + 1 }
  }
}

const isRefresh = (value: string): boolean =>
  refresh.test(value) && isAway(value.replace(refresh, ''))
