import { listen } from './listen.ts'
import type { Told } from './messages.ts'

const xlink = 'http://www.w3.org/1999/xlink'

/** The link a press is on, with its address as written; undefined when there is none. */
function linkOf(path: EventTarget[]): { link: Element; href: string } | undefined {
  for (const link of path) {
    if (!(link instanceof Element) || !/^(?:a|area)$/.test(link.localName)) continue
    const href = link.getAttribute('href') ?? link.getAttributeNS(xlink, 'href')
    if (href !== null) return { link, href: href.trim() }
  }
  return undefined
}

/** Percent-decoded; a stray % leaves the text as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A fragment of the app's own page: a srcdoc's links resolve against the wrapper's address. */
function follow(hash: string): void {
  location.hash = hash
  const name = decoded(hash.slice(1))
  if (name === '') scrollTo(0, 0)
  else (document.getElementById(name) ?? document.getElementsByName(name)[0])?.scrollIntoView()
}

/** Links that leave, window.open and downloads: stopped here, and handed to the shell to offer. */
export function links(tell: (told: Told) => void, hard: boolean): void {
  const asked = new WeakSet<Event>()
  const settled = new WeakSet<Event>()
  const load = fetch.bind(window)
  const later = setTimeout.bind(window)

  const download = async (href: string, name: string): Promise<void> => {
    const answer = await load(href)
    tell({ type: 'service:download', name, blob: await answer.blob() })
  }
  /** Does what a press on a link means. */
  const act = (href: string, name: string | null): void => {
    if (href.startsWith('#')) follow(href)
    else if (/^(?:blob|data):/i.test(href)) download(href, name ?? '').catch(() => undefined)
    else if (/^javascript:/i.test(href)) later(decoded(href.slice(11)))
    else tell({ type: 'service:link', href })
  }
  const settle = (event: Event): void => {
    const path = event.composedPath()
    const found = event instanceof MouseEvent && event.button < 2 ? linkOf(path) : undefined
    if (!found || settled.has(event)) return
    settled.add(event)
    const { link, href } = found
    const inside = href.startsWith('#')
    const own = (part: EventTarget): boolean => part instanceof HTMLElement && part.onclick !== null
    // In the fallback the guard has stopped the press already: then look who else wanted that.
    const handled =
      event.defaultPrevented && (!hard || inside || asked.has(event) || path.some(own))
    if (handled) return
    event.preventDefault()
    act(href, link.getAttribute('download'))
  }

  watchEvents(asked, settle)
  listen('click', settle)
  listen('auxclick', settle)
  listen('submit', (event) => {
    const form = event.target
    if (form instanceof HTMLFormElement && form.method !== 'dialog') event.preventDefault()
  })

  // No form goes anywhere: Chromium would begin the page anew, Firefox throws.
  HTMLFormElement.prototype.submit = () => undefined

  detached(act)
  const open = (url: unknown = ''): null => {
    const href = String(url)
    if (href !== '' && href !== 'about:blank') act(href, null)
    return null
  }
  // As the browser's own is: a page may have an `open` of its own.
  Object.defineProperty(window, 'open', { value: open, writable: true, configurable: true })
}

/** Notes who wants a press stopped, and settles one whose way up is cut short. */
function watchEvents(asked: WeakSet<Event>, settle: (event: Event) => void): void {
  const { preventDefault, stopPropagation, stopImmediatePropagation } = Event.prototype
  Event.prototype.preventDefault = function () {
    asked.add(this)
    preventDefault.call(this)
  }
  const watched = { stopPropagation, stopImmediatePropagation }
  for (const [name, real] of Object.entries(watched)) {
    const value = function (this: Event): void {
      real.call(this)
      if (/^(?:aux)?click$/.test(this.type)) settle(this)
    }
    Object.defineProperty(Event.prototype, name, { value, writable: true, configurable: true })
  }
}

/** Pages save files by pressing a link that is in no document: no press ever bubbles from it. */
function detached(act: (href: string, name: string | null) => void): void {
  const { click } = HTMLElement.prototype
  const { dispatchEvent } = EventTarget.prototype
  const loose = (target: EventTarget): boolean => {
    if (!(target instanceof HTMLAnchorElement) || target.isConnected) return false
    const href = target.getAttribute('href')
    if (href !== null) act(href.trim(), target.getAttribute('download'))
    return href !== null
  }
  HTMLElement.prototype.click = function () {
    if (!loose(this)) click.call(this)
  }
  EventTarget.prototype.dispatchEvent = function (event: Event) {
    return (event?.type === 'click' && this && loose(this)) || dispatchEvent.call(this, event)
  }
}

/** An address within the page as its own hash: a srcdoc may change nothing else of its address. */
function here(url: string): string {
  const page = location.href.replace(/#[^]*/, '')
  const rest = url.startsWith(page) ? url.slice(page.length) : url
  const path = rest.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  return path === '' ? page : page + (path.startsWith('#') ? path : `#${path}`)
}

/** pushState and replaceState with a path or a query are kept in the hash, and never throw. */
export function histories(): void {
  for (const name of ['pushState', 'replaceState'] as const) {
    const real = History.prototype[name]
    History.prototype[name] = function (state: unknown, title: string, url?: string | URL | null) {
      try {
        real.call(this, state, title, url === undefined || url === null ? url : here(String(url)))
      } catch {
        // A state that cannot be cloned, or too many calls: the page goes on without the entry.
      }
    }
  }
}

/** A page's own address is no base for others in a srcdoc: the wrapper's is, as links have it. */
export function bases(): void {
  const own = document.baseURI
  const construct = (
    real: typeof URL,
    [url, base]: [string | URL, (string | URL)?],
    made: NewableFunction,
  ): object => {
    const none = base !== undefined && /^(?:about:srcdoc|null$)/.test(String(base))
    return Reflect.construct(real, [url, none ? own : base], made)
  }
  window.URL = new Proxy(URL, { construct })
}
