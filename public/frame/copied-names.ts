import { assetNameOf, fileNameOf } from '../../src/apps/folders/page-names.ts'
import { startOfName } from './file-urls.ts'
import type { PageFiles } from './messages.ts'

/** Scheme of the placeholders by which the wrapper names a file of a copy: its index. */
export const placeholder = 'berth-own:'

const references =
  /url\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"')\s]+))\s*\)|@import\s+(?:"([^"\n]*)"|'([^'\n]*)')/gi

/** Returns what a style sheet loads instead of a URL; undefined for any other URL. */
type Replace = (url: string) => string | undefined

/** Replaces the URLs that a style sheet, or the style of an element, loads. */
export const inStyle = (css: string, replace: Replace): string =>
  css.replace(references, (whole: string, ...given: (string | undefined)[]) => {
    const isImport = (given[3] ?? given[4]) !== undefined
    const found = replace(given.slice(0, 5).find((url) => url !== undefined) ?? '')
    if (found === undefined) return whole
    return isImport ? `@import url(${found})` : `url(${found})`
  })

/** A file of a copy, as a URL names it. */
interface CopiedFile {
  index: number
  /** The fragment of the URL, with its #, or ''. */
  hash: string
}

/** Finds the files of a copy by URLs below their address, or from the root of the host. */
export function copiedNames({
  address,
  contents = [],
}: {
  address: string
  contents?: PageFiles['contents']
}) {
  const indexes = new Map(contents.map(({ name }, index) => [name, index]))
  const { origin, pathname } = new URL(address)
  const { parse } = URL
  return {
    /** Returns the URL of a file by its name. */
    urlOf: (name: string): string =>
      address + name.split('/').map(encodeURIComponent).join('/').replaceAll("'", '%27'),
    /** Returns whether the URL of a file, also from the root of the host, is one or below it. */
    isIn(name: string, given: string, base: string): boolean {
      const scope = parse.call(URL, given, base)?.href ?? ''
      const path = name.split('/').map(encodeURIComponent).join('/')
      const isOne = (url: string): boolean =>
        url === scope || (scope.endsWith('/') && url.startsWith(scope))
      return isOne(address + path) || isOne(`${origin}/${path}`)
    },
    find(given: unknown, base: string): CopiedFile | undefined {
      // `location.origin` of a page is "null".
      const url = parse.call(URL, String(given).replace(/^null(?=\/)/, origin), base)
      if (url?.origin !== origin) return undefined
      const { pathname: path } = url
      const start = path.startsWith(pathname)
        ? pathname.length
        : startOfName(path, pathname, (one) => indexes.has(fileNameOf(one)))
      const name = fileNameOf(path.slice(start))
      // A page that came without a folder names its assets by paths.
      const index = indexes.get(name) ?? indexes.get(assetNameOf(name))
      return index === undefined ? undefined : { index, hash: url.hash }
    },
  }
}
