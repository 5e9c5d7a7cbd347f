import { decoded } from '../../src/apps/folders/page-names.ts'
import { stopped } from './guard.ts'
import { listen } from './listen.ts'
import type { AppMessage } from './messages.ts'

const xlink = 'http://www.w3.org/1999/xlink'

/** Returns the link of a click with its literal href, or undefined. */
function linkOf(path: EventTarget[]): { link: Element; href: string } | undefined {
  for (const link of path) {
    if (!(link instanceof Element) || !/^(?:a|area)$/.test(link.localName)) continue
    const href = link.getAttribute('href') ?? link.getAttributeNS(xlink, 'href')
    if (href !== null) return { link, href: href.trim() }
  }
  return undefined
}

/** Handles fragment links: a srcdoc resolves its links against the wrapper's URL. */
export function follow(hash: string): void {
  location.hash = hash
  const name = decoded(hash.slice(1))
  if (name === '') scrollTo(0, 0)
  else (document.getElementById(name) ?? document.getElementsByName(name)[0])?.scrollIntoView()
}

/** A link that a person or a script follows, or a form that is sent. */
interface FollowedLink {
  href: string
  /** Its `download` attribute. */
  name: string | null
  /** Name of the frame in which it opens, or ''. */
  target?: string
  form?: HTMLFormElement
  submitter?: HTMLElement | null
}

/** Follows a link inside the folder of a page. Returns false for any other link. */
export type GoInFolder = (
  link: FollowedLink,
  download: (href: string, name: string) => Promise<void>,
) => boolean

/** Blocks links that leave the page, window.open and downloads. The shell offers them instead. */
export function links(
  tell: (message: AppMessage) => void,
  needsFallback: boolean,
  goInFolder: GoInFolder = () => false,
): void {
  const requested = new WeakSet<Event>()
  const settled = new WeakSet<Event>()
  const load = fetch.bind(window)
  const later = setTimeout.bind(window)

  const download = async (href: string, name: string): Promise<void> => {
    const response = await load(href)
    tell({ type: 'service:download', name, blob: await response.blob() })
  }
  /** Performs a click on a link. */
  const act = (href: string, name: string | null, target = ''): void => {
    if (href.startsWith('#')) follow(href)
    else if (/^(?:blob|data):/i.test(href)) download(href, name ?? '').catch(() => undefined)
    else if (/^javascript:/i.test(href)) later(decoded(href.slice(11)))
    else if (!goInFolder({ href, name, target }, download)) tell({ type: 'service:link', href })
  }
  const settle = (event: Event): void => {
    const path = event.composedPath()
    const found = event instanceof MouseEvent && event.button < 2 ? linkOf(path) : undefined
    if (!found || settled.has(event)) return
    settled.add(event)
    const { link, href } = found
    const inside = href.startsWith('#')
    const own = (part: EventTarget): boolean => part instanceof HTMLElement && part.onclick !== null
    // In the fallback the guard has already stopped the click, so check whether the app did too.
    const isPrevented = stopped.has(event) || event.defaultPrevented
    const isOwn = !needsFallback || inside || requested.has(event) || path.some(own)
    if (isPrevented && isOwn) return
    event.preventDefault()
    act(href, link.getAttribute('download'), link.getAttribute('target') ?? '')
  }

  watchEvents(requested, settle)
  listen('click', settle)
  listen('auxclick', settle)
  forms((form, submitter) => {
    const href = submitter?.getAttribute('formaction') ?? form.getAttribute('action') ?? ''
    goInFolder({ href, name: null, form, submitter }, download)
  })
  detached(act)
  const open = (url: unknown = ''): null => {
    const href = String(url)
    if (href !== '' && href !== 'about:blank') act(href, null)
    return null
  }
  // Writable like the browser's own, so that a page can define `open`.
  Object.defineProperty(window, 'open', { value: open, writable: true, configurable: true })
}

/** Stops forms: Chromium would reload the page, Firefox throws. `send` gets those of the app. */
function forms(send: (form: HTMLFormElement, submitter: HTMLElement | null) => void): void {
  listen('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || form.method === 'dialog') return
    if (!event.defaultPrevented) send(form, event.submitter)
    event.preventDefault()
  })
  HTMLFormElement.prototype.submit = function () {
    if (this.method !== 'dialog') send(this, null)
  }
}

/** Records whether the app prevents a click, and handles clicks whose propagation is stopped. */
function watchEvents(requested: WeakSet<Event>, settle: (event: Event) => void): void {
  const { preventDefault, stopPropagation, stopImmediatePropagation } = Event.prototype
  Event.prototype.preventDefault = function () {
    requested.add(this)
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

/** Pages save files with a click on a detached link, which does not bubble. */
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

/**
 * Maps a URL within the page to a hash: the only part of its URL that a srcdoc can change, and the
 * only one that never reaches a server.
 */
function here(url: string): string {
  const page = location.href.replace(/#[^]*/, '')
  const rest = url.startsWith(page) ? url.slice(page.length) : url
  const path = rest.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  return path === '' ? page : page + (path.startsWith('#') ? path : `#${path}`)
}

/** Goes to a fragment, for scripts-text.ts. */
export function fragments(): void {
  const value = (hash: unknown): void => void (location.hash = String(hash))
  Object.defineProperty(window, 'goToHash', { value, writable: true, configurable: true })
}

/** Makes pushState and replaceState with a path or query use the hash, and never throw. */
export function histories(): void {
  for (const name of ['pushState', 'replaceState'] as const) {
    const real = History.prototype[name]
    History.prototype[name] = function (state: unknown, title: string, url?: string | URL | null) {
      try {
        real.call(this, state, title, url === undefined || url === null ? url : here(String(url)))
      } catch {
        // The state cannot be cloned, or there were too many calls: skip the entry.
      }
    }
  }
}

/** Uses the base of the page where code names its location, since about:srcdoc cannot be one. */
export function bases(): void {
  const own = document.baseURI
  const page = location.href.replace(/#[^]*/, '')
  const construct = (
    real: typeof URL,
    [url, base]: [string | URL, (string | URL)?],
    made: NewableFunction,
  ): object => {
    const isHere = base !== undefined && ['null', page].includes(String(base).replace(/#[^]*/, ''))
    return Reflect.construct(real, [url, isHere ? own : base], made)
  }
  window.URL = new Proxy(URL, { construct })
}
