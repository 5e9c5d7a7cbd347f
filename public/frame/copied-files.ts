/**
 * The files of an offline copy in its document. They came with it, since no request of an opaque
 * origin reaches a worker or a cache: each is a blob: URL, by which everything loads it that the
 * browser would load at its address.
 */
import { fileNameOf, findPageName } from '../../src/apps/folders/page-names.ts'
import { copiedNames, inStyle, placeholder } from './copied-names.ts'
import { isText, toBytes } from './fetch-libraries.ts'
import { type Addresses, baseNow } from './file-urls.ts'
import { field, type LibraryFile, type OwnFiles } from './messages.ts'

const places = new RegExp(`${placeholder}(\\d+)`, 'g')
const maps = /(<script\b[^>]*\btype\s*=\s*["']?importmap\b[^>]*>)([^]*?)(?=<\/script)/i
const sheets = /<style([^>]*)>@import url\(([^)]*)\);<\/style>/g
/** Names of modules. Vite writes those of `import()` as templates. */
const specifiers = /(\b(?:from|import)\s*\(?\s*)(["'`])(\.{0,2}\/[^"'`$\n]+)\2/g
/** An import whose name the code computes. A method of this name has a body. */
const computed =
  /(?<=(?:^|[=>(?:&|[,;{})])\s*|\b(?:await|return)\s+)import\s*\((?![^()]*\)\s*\{)(?=\s*(?:\/\*[^*]*\*\/\s*)*(?:[\w$[(]|(["'])[^"'\n]*\1\s*\+|`[^`\n]*\$\{))/gm
const ownUrl = /\bimport\.meta\.url\b/g
const ownResolve = /\bimport\.meta\.resolve\b/g

/** Returns what resolves names in a module at a URL: relative ones are not those of its blob. */
const resolveAt = (here: string): string =>
  `((name)=>/^\\.{0,2}\\//.test(name)?new URL(name,${JSON.stringify(here)}).href:import.meta.resolve(name))`

/**
 * Returns code that imports a computed name in a module at a URL. Workers have only blobs. It
 * begins with a name: a parenthesis would call the line before.
 */
const importAt = (here: string): string =>
  `Object(globalThis.importOfCopy??((_,name)=>import(name)))(${JSON.stringify(here)},`

/** Creates the blob: URLs of files. Modules and style sheets name others by these URLs. */
function createUrls(contents: LibraryFile[], { urlOf, find }: ReturnType<typeof copiedNames>) {
  const urls = new Map<number, string>()
  const texts = new Map<string, string>()
  const urlAt = (index: number): string => {
    const known = urls.get(index)
    const file = contents[index]
    if (known !== undefined || !file) return known ?? ''
    const here = urlOf(file.name)
    // Files that name each other in a circle: the import map resolves the address of a module.
    urls.set(index, here)
    const replaced = (given: string): string | undefined => {
      const found = find(given, here)
      return found && urlAt(found.index) + found.hash
    }
    const { type, text } = file
    let content: BlobPart = isText(type) ? text : toBytes(text)
    if (type.startsWith('text/css')) content = inStyle(text, replaced)
    else if (type.includes('javascript'))
      content = text
        .replace(ownUrl, () => JSON.stringify(here))
        .replace(ownResolve, () => resolveAt(here))
        .replace(computed, () => importAt(here))
        .replace(specifiers, (whole: string, start: string, quote: string, given: string) => {
          const url = replaced(given)
          return url === undefined ? whole : start + quote + url + quote
        })
    const url = URL.createObjectURL(new Blob([content], { type }))
    urls.set(index, url)
    if (typeof content === 'string') texts.set(url, content)
    return url
  }
  contents.forEach((_, index) => urlAt(index))
  return { urlAt, texts }
}

/** Returns an import map with more names. Those of the map win. */
function withNames(map: string, names: Record<string, string>): string {
  try {
    const parsed: unknown = JSON.parse(map)
    const imports = { ...names, ...Object(field(parsed, 'imports')) }
    return JSON.stringify({ ...Object(parsed), imports }).replaceAll('<', '\\u003c')
  } catch {
    return map
  }
}

/** Returns what tells the path of a URL in the folder, however named; undefined for any other. */
function pathsIn(address: string): (given: unknown) => string | undefined {
  const { origin, pathname } = new URL(address)
  const { parse } = URL
  return (given) => {
    const url = parse.call(URL, String(given), baseNow())
    if (url?.origin !== origin) return undefined
    return url.pathname.slice(url.href.startsWith(address) ? pathname.length : 1)
  }
}

/** Opens the files of a copy. */
export function openCopied({ address, contents = [], rest = '' }: OwnFiles): Addresses {
  const names = copiedNames({ address, contents })
  const { urlAt, texts } = createUrls(contents, names)
  const { origin } = new URL(address)
  const originals = new Map(contents.map(({ name }, at) => [urlAt(at), names.urlOf(name)]))
  /** Each file by its address, and from the root of the host. */
  const table = contents.flatMap(({ name }, at): [string, string][] => {
    const url = names.urlOf(name)
    return [
      [url, urlAt(at)],
      [`${origin}/${url.slice(address.length)}`, urlAt(at)],
    ]
  })
  const find = (given: unknown): string | undefined => {
    const found = names.find(given, baseNow())
    return found && urlAt(found.index) + found.hash
  }
  const pages = new Set(contents.map(({ name }) => name))
  const pathOf = pathsIn(address)
  const imports = Object.fromEntries(table)
  const inCss = (css: string): string => inStyle(css, find)
  const write = (): void => {
    const html = rest
      .replace(places, (_, index: string) => urlAt(Number(index)))
      // Firefox takes one import map alone.
      .replace(maps, (_, tag: string, map: string) => tag + withNames(map, imports))
      .replace(sheets, (whole, attributes: string, url: string) => {
        const css = texts.get(url)?.replace(/<\/(?=style)/gi, '<\\/')
        return css === undefined ? whole : `<style${attributes}>${css}</style>`
      })
    document.write(html)
  }
  replaceWorklets(find)
  const importOfCopy = (here: string, name: unknown): Promise<unknown> => {
    const found = names.find(name, /^\.{0,2}\//.test(String(name)) ? here : baseNow())
    return import(found ? urlAt(found.index) : String(name))
  }
  Object.defineProperty(window, 'importOfCopy', { value: importOfCopy })
  return {
    base: baseNow(),
    find,
    urlOf: find,
    requested(given) {
      const path = pathOf(given)
      const page = path === undefined ? undefined : findPageName(pages, fileNameOf(path))
      return find(page === undefined ? given : names.urlOf(page))
    },
    inCss,
    imports,
    copy: {
      table,
      isMissing: (url) => pathOf(url) !== undefined && !find(url),
      original: (blob) => originals.get(String(blob)),
      sheetOf: (url) => texts.get(String(find(url) ?? url)),
      // As if the parser had found it after this script.
      write,
    },
  }
}

function replaceWorklets(find: Addresses['find']): void {
  if (!('Worklet' in window)) return
  const { addModule } = Worklet.prototype
  Worklet.prototype.addModule = function (url, options) {
    return addModule.call(this, find(url) ?? url, options)
  }
}
