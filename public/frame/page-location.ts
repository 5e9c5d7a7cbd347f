import { baseNow, isPage, urlOfPage } from './file-urls.ts'
import { follow } from './links.ts'
import { listen } from './listen.ts'
import type { AppMessage, OwnFiles } from './messages.ts'

/** URLs of the history to go back to; the last ones. */
const givenMax = 1_000

/** Parts of a location that only tell where it is. */
const parts = ['origin', 'protocol', 'host', 'hostname', 'port'] as const
/** Parts that a script may set, which leads elsewhere. */
const settable = ['href', 'pathname', 'search'] as const

/** Returns a native accessor of a property. */
const getterOf = (owner: object, name: string): ((self: object) => unknown) => {
  const { get } = Object.getOwnPropertyDescriptor(owner, name) ?? {}
  return (self) => get?.call(self)
}

const baseOf = getterOf(Node.prototype, 'baseURI')

/** The URLs of a page at the root of a host, whose folder is that of the page. */
interface FolderLocation {
  /** Returns the URL of the page. */
  here(): URL
  /** Notes that the history has a URL now. */
  remember(url: URL): void
  /** Resolves a URL as the page does. */
  resolve(url: unknown): URL | null
  /** Returns the URL at the root of a host for one at the address of the folder. */
  atRoot(url: string): string
  /** The page has a base element. */
  hasOwnBase: boolean
  /** Makes relative names those of the new URL of the page. */
  moveBase(): void
}

/** Returns the URL that a page starts at. */
function firstUrl({ address, page, path, search, hash }: OwnFiles): URL {
  const names = page.replace(/(^|\/)index\.html?$/i, '$1').split('/')
  // A path may start with slashes of its own, which are no host.
  const pathname = `/${path || names.map(encodeURIComponent).join('/')}`
  return Object.assign(new URL(address), { pathname, search, hash })
}

function openLocation(files: OwnFiles): FolderLocation {
  const { address } = files
  const { origin, pathname } = new URL(address)
  const { location } = window
  const { parse } = URL
  let last = firstUrl(files)
  /** URLs that scripts gave to the history, by the address of the frame that stands for each. */
  const given = new Map([[location.href, last]])
  /** A fragment that no script gave is one of the last URL. */
  const here = (): URL => {
    const known = given.get(location.href)
    last = known ?? last
    return known ?? new URL(location.hash, last)
  }
  const atRoot = (url: string): string =>
    url.startsWith(address) ? `${origin}/${url.slice(address.length)}` : url
  const base = document.querySelector('base')
  const hasOwnBase = baseNow() !== urlOfPage(files)
  return {
    here,
    atRoot,
    hasOwnBase,
    remember(url) {
      given.set(location.href, url)
      for (const [oldest] of given) if (given.size > givenMax) given.delete(oldest)
    },
    resolve: (url) =>
      parse.call(
        URL,
        // `location.origin` and `location.host` of code that no publish has changed are empty.
        atRoot(String(url).replace(/^(?:null|about:\/\/)(?=\/)/, '')).replace(pathname, '/'),
        hasOwnBase ? atRoot(baseNow()) : here().href,
      ),
    moveBase() {
      const folder =
        address +
        here()
          .pathname.slice(1)
          .replace(/[^/]*$/, '')
      const isThere = baseNow().replace(/[^/]*$/, '') === folder
      if (base && !hasOwnBase && !isThere) base.href = folder
    },
  }
}

/**
 * Gives scripts the location that the page has on a static host, whose root is the folder, by the
 * function that src/apps/folders/script-location.ts lets them call. Links and documents tell the
 * same. Paths of the history are hashes here. Names of files stay at their address.
 */
export function openPageLocation(files: OwnFiles, tell: (message: AppMessage) => void): void {
  const { address } = files
  const { origin } = new URL(address)
  const folder = openLocation(files)
  replaceHistory(folder, origin)
  replaceMessages(origin)
  const stand = standFor(folder, (url) => {
    const isOwn = url.origin === origin && isPage(url.pathname)
    const own = address + url.href.slice(origin.length + 1)
    if (isOwn) tell({ type: 'service:page', url: own, replaces: true })
    return isOwn
  })
  replaceUrls(folder)
  const within = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => (name === 'location' ? stand : Reflect.get(target, name)),
      set: (_, name, value) =>
        name === 'location' ? Reflect.set(stand, 'href', value) : Reflect.set(target, name, value),
    })
  const known = new Map<unknown, object>([
    [window.location, stand],
    [window, within(window)],
    [document, within(document)],
  ])
  const value = (input: unknown): unknown => known.get(input)
  Object.defineProperty(window, 'folderPageLocation', { value, configurable: true })
}

function replaceHistory({ resolve, remember, moveBase }: FolderLocation, origin: string): void {
  for (const name of ['pushState', 'replaceState'] as const) {
    const change = History.prototype[name]
    History.prototype[name] = function (state: unknown, title: string, url?: string | URL | null) {
      const next = url === undefined || url === null ? undefined : resolve(url)
      change.call(this, state, title, next?.origin === origin ? next : url)
      if (next?.origin !== origin) return
      remember(next)
      moveBase()
    }
  }
  listen('popstate', moveBase)
}

/** Lets the messages of a page to itself arrive with the origin that it reads, and not "null". */
function replaceMessages(origin: string): void {
  const { postMessage } = window
  window.postMessage = (message: unknown, target?: unknown, ...rest: unknown[]): void =>
    Reflect.apply(postMessage, window, [message, target === origin ? '*' : target, ...rest])
  const { prototype } = MessageEvent
  const originOf = getterOf(prototype, 'origin')
  const get = function (this: MessageEvent): unknown {
    return this.source === window ? origin : originOf(this)
  }
  Object.defineProperty(prototype, 'origin', { get, enumerable: true, configurable: true })
}

/**
 * Returns what scripts read in place of `location`. `replace` shows a page of the folder without a
 * new entry of the history; it returns false for any other URL.
 */
function standFor({ here, resolve }: FolderLocation, replace: (url: URL) => boolean): object {
  const { location } = window
  const first = here().href
  const to = (given: unknown, replaces = false): void => {
    const url = resolve(given)
    const now = here()
    const isHere = url?.href.replace(/#.*/, '') === now.href.replace(/#.*/, '')
    if (!url) location.assign(String(given))
    // A fragment loads nothing, also where it is that of the page.
    else if (isHere && (url.href.includes('#') || url.href !== now.href)) follow(url.hash)
    // A click, for the shell: no browser would go on from here to such a URL.
    else if (!replaces || !replace(url))
      Object.assign(document.createElement('a'), { href: url.href }).click()
  }
  const stand: object = Object.create(Location.prototype)
  const define = (name: string, property: PropertyDescriptor): void =>
    void Object.defineProperty(stand, name, { enumerable: true, ...property })
  const methods = {
    assign: (given: unknown): void => to(given),
    replace: (given: unknown): void => to(given, true),
    // A route of a script is a page, too: that of its path.
    reload: (): void => void ((here().href !== first && replace(here())) || location.reload()),
    toString: (): string => here().href,
  }
  for (const [name, value] of Object.entries(methods)) define(name, { value })
  for (const name of parts) define(name, { get: () => here()[name] })
  for (const name of settable) {
    define(name, {
      get: () => here()[name],
      set(value: unknown) {
        if (name === 'href') return to(value)
        const url = Object.assign(new URL(here()), { [name]: String(value) })
        url.hash = ''
        to(url)
      },
    })
  }
  define('hash', {
    get: () => here().hash,
    set: (value: unknown) => void (location.hash = String(value)),
  })
  define('ancestorOrigins', { get: () => location.ancestorOrigins })
  return stand
}

/** Gives links, documents and URLs of code that no publish has changed the URL of the page. */
function replaceUrls({ here, atRoot, hasOwnBase }: FolderLocation): void {
  const { location } = window
  const construct = (
    real: typeof URL,
    [url, ...rest]: [string | URL, (string | URL)?],
    made: NewableFunction,
  ): object => {
    const isHere = rest.length === 0 && String(url) === location.href
    return Reflect.construct(real, [isHere ? here() : url, ...rest], made)
  }
  const Native = URL
  window.URL = new Proxy(Native, { construct })
  const define = (owner: object, name: string, get: (this: object) => unknown): void => {
    const real = Object.getOwnPropertyDescriptor(owner, name)
    Object.defineProperty(owner, name, { ...real, get, configurable: true })
  }
  for (const name of ['URL', 'documentURI']) define(Document.prototype, name, () => here().href)
  define(Node.prototype, 'baseURI', function (this: object) {
    const isOwn = this === document || (this instanceof Node && this.ownerDocument === document)
    return isOwn && !hasOwnBase ? here().href.replace(/#.*/, '') : atRoot(String(baseOf(this)))
  })
  for (const owner of [HTMLAnchorElement.prototype, HTMLAreaElement.prototype]) {
    const hrefOf = getterOf(owner, 'href')
    const linked = (link: object): string => atRoot(String(hrefOf(link)))
    define(owner, 'href', function () {
      return linked(this)
    })
    owner.toString = function () {
      return linked(this)
    }
    for (const name of ['pathname', ...parts] as const) {
      const get = getterOf(owner, name)
      define(owner, name, function () {
        const url = linked(this)
        return url === hrefOf(this) ? get(this) : new Native(url)[name]
      })
    }
  }
}
