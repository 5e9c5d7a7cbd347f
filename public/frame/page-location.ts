import { listen } from './listen.ts'
import type { OwnFiles } from './messages.ts'

/** URLs of the history to go back to; the last ones. */
const givenMax = 1_000

/** Parts of a location that only tell where it is. */
const parts = ['pathname', 'search', 'origin', 'protocol', 'host', 'hostname', 'port'] as const

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
  const stand = {
    assign: (url: string | URL): void => location.assign(url),
    replace: (url: string | URL): void => location.replace(url),
    reload: (): void => location.reload(),
    toString: (): string => here().href,
  }
  for (const name of parts) Object.defineProperty(stand, name, { get: () => here()[name] })
  for (const name of ['href', 'hash'] as const) {
    const set = (value: unknown): void => void (location[name] = String(value))
    Object.defineProperty(stand, name, { get: () => here()[name], set })
  }
  const value = (input: unknown): unknown => (input === location ? stand : undefined)
  Object.defineProperty(window, 'folderPageLocation', { value, configurable: true })
}
