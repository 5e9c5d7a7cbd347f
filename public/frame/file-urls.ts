import { fileNameOf, findPageName } from '../../src/apps/folders/page-names.ts'
import type { OwnFiles } from './messages.ts'

/** Import map of a build for the root of a host: its absolute names are those of the folder. */
export const rootImports = (address: string): Record<string, string> => ({
  '/': address,
  [new URL(address).pathname]: address,
})

/** Returns the URL of the page that runs, with its query. */
export const urlOfPage = ({ address, page, search }: OwnFiles): string =>
  address + page.split('/').map(encodeURIComponent).join('/') + search

/**
 * Returns where the name of a file starts in a path that is not at the address of the folder. Names
 * that go above the folder, such as "../data.json", stay in it as at the root of a host. A name
 * from the root that `has` knows comes first: a folder may have the first part of its address.
 * Workers get the text of this function, so it calls nothing.
 */
export function startOfName(path: string, address: string, has: (path: string) => boolean): number {
  const above = address.replace(/[^/]*\/$/, '')
  return path.startsWith(above) && !has(path.slice(1)) ? above.length : 1
}

const { get: baseOf } = Object.getOwnPropertyDescriptor(Node.prototype, 'baseURI') ?? {}
/** Returns the URL that relative names of the page resolve against. */
export const baseNow = (): string => String(baseOf?.call(document)).replace(/#.*/, '')

/** Returns whether a URL looks like that of a page: about.html, about or about/. */
export const isPage = (url: string): boolean =>
  /(?:\.html?|\/|\/[^/.]+)$/i.test(url.replace(/[?#].*/, ''))

/** The URLs of the files of a page. */
export interface Addresses {
  /** URL of the page. */
  base: string
  /** Returns the URL to load instead of one that a page names; undefined for any other URL. */
  find(given: unknown): string | undefined
  /** Returns the URL of a file of the folder, however named; undefined for any other URL. */
  urlOf(given: unknown): string | undefined
  /** Returns the URL to request: as `urlOf`, and for pages by their paths, and missing files. */
  requested(given: unknown): string | undefined
  /** Returns CSS with the URLs to load. */
  inCss(css: string): string
  /** Names from the root of the host, as an import map has them. */
  imports: Record<string, string>
  /** In an offline copy, the blob: URLs of all files. */
  copy?: {
    table: [url: string, blob: string][]
    /** Returns the URL of the file of a blob: URL. */
    original(blob: unknown): string | undefined
    /** Returns whether a URL is that of a file of the folder, which the copy does not have. */
    isMissing(url: unknown): boolean
    /** Returns the text of a style sheet. */
    sheetOf(url: unknown): string | undefined
    /** Writes the document after the boot script. */
    write(): void
  }
}

/** Finds the files that the URLs of a page name. */
export function openAddresses({
  address,
  names,
  page,
}: Pick<OwnFiles, 'address' | 'names' | 'page'>): Addresses {
  const known = new Set(names)
  const { origin, pathname } = new URL(address)
  /** Names from the root, and URLs that code made of its location. */
  const inUrls = new RegExp(
    `(url\\(\\s*["']?)((?:${origin.replaceAll(/[.[\]]/g, '\\$&')})?/[^"')]+)`,
    'g',
  )
  const { parse } = URL
  /** Resolves a URL. `location.origin` of a page is "null". */
  const resolve = (given: unknown): URL | null =>
    parse.call(URL, String(given).replace(/^null(?=\/)/, origin), baseNow())
  const find = (given: unknown): string | undefined => {
    const url = resolve(given)
    if (!url || url.origin !== origin || url.href.startsWith(address)) return undefined
    const start = startOfName(url.pathname, pathname, (one) => known.has(fileNameOf(one)))
    const path = url.href.slice(origin.length + start)
    const name = fileNameOf(url.pathname.slice(start))
    // What a player uploaded, as pages of Claude Code name it.
    return known.has(name) || name.startsWith('_blob/') ? address + path : undefined
  }
  const urlOf = (given: unknown): string | undefined => {
    const url = find(given) ?? resolve(given)?.href
    return url?.startsWith(address) ? url : undefined
  }
  const pages = new Set([...names, page])
  return {
    base: baseNow(),
    // A build names its files from the root of the host: "/assets/a.js".
    find,
    urlOf,
    requested(given) {
      const url = resolve(given)
      if (url?.origin !== origin) return undefined
      const file = urlOf(given) ?? address + url.href.slice(origin.length + 1)
      const [path = ''] = file.slice(address.length).split(/[?#]/)
      const found = known.has(fileNameOf(path)) ? undefined : findPageName(pages, fileNameOf(path))
      if (found === undefined) return file
      return address + found.split('/').map(encodeURIComponent).join('/') + url.search
    },
    inCss: (css) =>
      css.replace(inUrls, (_, start: string, url: string) => start + (find(url) ?? url)),
    imports: rootImports(address),
  }
}
