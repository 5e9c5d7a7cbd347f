import type { OwnFiles } from './messages.ts'

/** Import map of a build for the root of a host: its absolute names are those of the folder. */
export const rootImports = (address: string): Record<string, string> => ({
  '/': address,
  [new URL(address).pathname]: address,
})

/** Finds the files that the URLs of a page name. */
export function openAddresses({ address, names }: Pick<OwnFiles, 'address' | 'names'>) {
  const known = new Set(names)
  const { origin } = new URL(address)
  const base = document.baseURI.replace(/#.*/, '')
  const { parse } = URL
  const decoded = (path: string): string => {
    try {
      return decodeURIComponent(path)
    } catch {
      return path
    }
  }
  /** Resolves a URL. `location.origin` of a page is "null". */
  const resolve = (given: unknown): URL | null =>
    parse.call(URL, String(given).replace(/^null(?=\/)/, origin), base)
  const find = (given: unknown): string | undefined => {
    const url = resolve(given)
    if (!url || url.origin !== origin || url.href.startsWith(address)) return undefined
    const path = url.href.slice(origin.length + 1)
    return known.has(decoded(url.pathname.slice(1))) ? address + path : undefined
  }
  return {
    /** URL of the page. */
    base,
    /** Returns the URL of a file that a build names from the root of the host: "/assets/a.js". */
    find,
    /** Returns the URL of a file of the folder, however named; undefined for any other URL. */
    urlOf(given: unknown): string | undefined {
      const url = find(given) ?? resolve(given)?.href
      return url?.startsWith(address) ? url : undefined
    },
  }
}
