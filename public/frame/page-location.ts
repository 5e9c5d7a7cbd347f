import { listen } from './listen.ts'
import type { OwnFiles } from './messages.ts'

/** URLs of the history to go back to; the last ones. */
const givenMax = 1_000

/** Parts of a location that only tell where it is. */
const parts = ['pathname', 'origin', 'protocol', 'host', 'hostname', 'port'] as const

/**
 * Gives scripts the location that the page has on a static host, by the function that
 * src/apps/folders/page-location.ts lets them call. Paths of the history are hashes here.
 */
export function openPageLocation({ address, page, search }: OwnFiles): void {
  const { origin, pathname } = new URL(address)
  const { location } = window
  const { parse } = URL
  const first = new URL(`/${page.replace(/(^|\/)index\.html?$/i, '$1')}${search}`, origin)
  let last = first
  /** URLs that scripts gave to the history, by the address of the frame that stands for each. */
  const given = new Map([[location.href, first]])
  /** A fragment that no script gave is one of the last URL. */
  const here = (): URL => {
    const known = given.get(location.href)
    last = known ?? last
    return known ?? new URL(location.hash, last)
  }
  const remember = (url: URL): void => {
    given.set(location.href, url)
    for (const [oldest] of given) if (given.size > givenMax) given.delete(oldest)
  }
  /** Resolves a URL of the history. `location.origin` and `location.host` of a page are empty. */
  const resolve = (url: unknown): URL | null =>
    parse.call(
      URL,
      String(url)
        .replace(/^(?:null|about:\/\/)(?=\/)/, '')
        .replace(address, `${origin}/`)
        .replace(pathname, '/'),
      here().href,
    )
  for (const name of ['pushState', 'replaceState'] as const) {
    const change = History.prototype[name]
    History.prototype[name] = function (state: unknown, title: string, url?: string | URL | null) {
      const next = url === undefined || url === null ? undefined : resolve(url)
      change.call(this, state, title, url)
      if (next?.origin === origin) remember(next)
      here()
    }
  }
  listen('popstate', here)
  const folder: FolderLocation = {
    here,
    inFolder: ({ pathname: path, search: query, hash }) => address + path.slice(1) + query + hash,
  }
  const stand = standFor(folder)
  replaceUrls(folder)
  const value = (input: unknown): unknown => (input === location ? stand : undefined)
  Object.defineProperty(window, 'folderPageLocation', { value, configurable: true })
}

interface FolderLocation {
  /** Returns the URL of the page at the root of a host. */
  here(): URL
  /** Returns the URL of a file at its address. */
  inFolder(url: URL): string
}

/** Returns what scripts read in place of `location`. */
function standFor({ here, inFolder }: FolderLocation): object {
  const { location } = window
  const stand = {
    assign: (url: string | URL): void => location.assign(url),
    replace: (url: string | URL): void => location.replace(url),
    reload: (): void => location.reload(),
    toString: (): string => here().href,
  }
  for (const name of parts) Object.defineProperty(stand, name, { get: () => here()[name] })
  Object.defineProperty(stand, 'search', {
    get: () => here().search,
    set(value: unknown) {
      const url = new URL(here())
      url.search = String(value)
      url.hash = ''
      location.assign(inFolder(url))
    },
  })
  for (const name of ['href', 'hash'] as const) {
    const set = (value: unknown): void => void (location[name] = String(value))
    Object.defineProperty(stand, name, { get: () => here()[name], set })
  }
  return stand
}

/** Gives a URL that a script makes of its location the path and the query of the page. */
function replaceUrls({ here, inFolder }: FolderLocation): void {
  const { location } = window
  const construct = (
    real: typeof URL,
    [url, ...rest]: [string | URL, (string | URL)?],
    made: NewableFunction,
  ): object => {
    const isHere = rest.length === 0 && String(url) === location.href
    // That of a srcdoc has no path.
    const isBetter = isHere && (location.protocol === 'about:' || here().search !== '')
    return Reflect.construct(real, [isBetter ? inFolder(here()) : url, ...rest], made)
  }
  window.URL = new Proxy(URL, { construct })
}
