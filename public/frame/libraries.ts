/** Loader: runs after the boot script in the document of an app with libraries. */
import { isText, toBytes } from './fetch-libraries.ts'
import { rootImports } from './file-urls.ts'
import { markLibraries, placeholder, sheetPlaceholder } from './library-markup.ts'
import { type Find, linkLoader, replaceProperty, replaceRequests } from './loaders.ts'
import type { LibraryFile, LibraryPage } from './messages.ts'

const loaders = /^(?:script|link|img|image|audio|video|source|use|a)$/
const names = /berth:[^\s"')]+/g
const places = new RegExp(`(${placeholder}|${sheetPlaceholder})(\\d+)`, 'g')

/** Creates a blob: URL for each file. Style sheets refer to their files by these URLs. */
function createUrls(files: LibraryFile[]): {
  urls: Map<string, string>
  sheets: Map<string, string>
} {
  const urls = new Map<string, string>()
  /** Texts of the style sheets, by URL. */
  const sheets = new Map<string, string>()
  const byName = new Map(files.map((file) => [file.name, file]))
  const urlOf = (name: string): string => {
    const known = urls.get(name)
    const file = byName.get(name)
    if (known !== undefined || !file) return known ?? name
    // A sheet that imports itself gets its name, which loads nothing.
    urls.set(name, name)
    const { type, text } = file
    const content = !isText(type)
      ? toBytes(text)
      : type === 'text/css'
        ? text.replace(names, urlOf)
        : text
    const url = URL.createObjectURL(new Blob([content], { type }))
    urls.set(name, url)
    if (type === 'text/css') sheets.set(url, String(content))
    return url
  }
  for (const { name } of files) urlOf(name)
  return { urls, sheets }
}

/** Adds the import map, by which modules find each other, before the page's own. */
function addImportMap({ files, imports, address }: LibraryPage, urls: Map<string, string>): void {
  const modules = files.filter(({ type }) => type === 'text/javascript').map(({ name }) => name)
  const entries = [...modules.map((name) => [name, name]), ...imports].map(
    ([name = '', target = '']) => [name, urls.get(target) ?? target],
  )
  const map = document.createElement('script')
  map.type = 'importmap'
  map.textContent = JSON.stringify({
    imports: { ...(address !== '' && rootImports(address)), ...Object.fromEntries(entries) },
  })
  document.head.append(map)
  map.remove()
}

/** Adds the fonts that style sheets of a folder import: no text of the page names their URL. */
function addFonts({ html, urls }: LibraryPage, sheetOf: (name: string) => string): void {
  for (const [url, name] of urls) {
    const isInPage = [url, url.replaceAll('&', '&amp;')].some((one) => html.includes(one))
    if (isInPage || !name.startsWith('berth:fonts/')) continue
    const style = document.createElement('style')
    style.textContent = sheetOf(name)
    document.head.append(style)
  }
}

/** Loads libraries that scripts name: elements, fetch, XMLHttpRequest, document.write. */
function replaceLoaders(find: Find, original: Find, inHtml: (html: string) => string): void {
  replaceProperty(HTMLScriptElement.prototype, 'src', find, original)
  replaceProperty(HTMLLinkElement.prototype, 'href', find, original)
  for (const owner of [HTMLImageElement, HTMLMediaElement, HTMLSourceElement]) {
    replaceProperty(owner.prototype, 'src', find, original)
  }
  replaceProperty(HTMLVideoElement.prototype, 'poster', find, original)
  const { setAttribute } = Element.prototype
  Element.prototype.setAttribute = function (name, value) {
    const isLoader = loaders.test(this.localName) && /^(?:src|href|poster)$/i.test(name)
    setAttribute.call(this, name, (isLoader ? find(value) : undefined) ?? value)
  }
  replaceRequests(find)
  const { write } = Document.prototype
  Document.prototype.write = function (...texts) {
    write.apply(
      this,
      texts.map((text) => inHtml(String(text))),
    )
  }
}

/**
 * Returns a function that finds files by what the page or a library writes: a URL of the page, one
 * below a folder of it, or the name of a file beside a script. It is text in workers, too.
 */
function openFinder(urls: [url: string, target: string][], own: string[]): Find {
  const targets = new Map(urls)
  const names = new Set(own)
  return (given) => {
    const url = String(given)
    const whole = url.replace(/^\/\//, 'https://')
    const known = targets.get(url) ?? targets.get(whole)
    if (known !== undefined) return known
    const isRemote = /^https?:/.test(whole)
    for (let at = isRemote ? whole.lastIndexOf('/') : 0; at > 8;) {
      const folder = targets.get(whole.slice(0, at + 1))
      if (folder !== undefined) return folder + whole.slice(at + 1)
      at = whole.lastIndexOf('/', at - 1)
    }
    // A library computes the URL of a file beside it, so only its name is known.
    const path = whole.replace(/[?#].*/, '')
    const isOther = !isRemote && (/^[a-z]+:/i.test(path) || names.has(path.replace(/^\.?\//, '')))
    return isOther ? undefined : targets.get(path.replace(/^.*\//, ''))
  }
}

/** Text that makes workers load libraries, before their own code. */
const prelude = (urls: [url: string, target: string][], own: string[]): string => `{
if (self.trustedTypes) try { trustedTypes.createPolicy('default', { createScriptURL: (u) => u }) } catch {}
const { importScripts: real, fetch: load } = self, { open } = XMLHttpRequest.prototype
const find = (${openFinder})(${JSON.stringify(urls)}, ${JSON.stringify(own)})
self.importScripts = (...given) => real.apply(self, given.map((url) => find(url) ?? url))
self.fetch = (url, options) => load.call(self, find(url?.url ?? url) ?? url, options)
XMLHttpRequest.prototype.open = function (method, url, ...rest) { return open.call(this, method, find(url) ?? url, ...(rest.length > 0 ? rest : [true])) }
};`

const importerBytesMax = 2_000

/**
 * Returns the text of a blob that only imports a library, with the URL of its file: so pdf.js
 * starts a module worker of another origin. Undefined for any other one.
 */
function importerOf(blob: Blob, url: string, inText: (text: string) => string): string | undefined {
  if (blob.size > importerBytesMax) return undefined
  try {
    const request = new XMLHttpRequest()
    request.open('GET', url, false)
    request.send()
    const text = inText(request.responseText)
    return text === request.responseText ? undefined : text
  } catch {
    return undefined
  }
}

/** Starts workers from blobs with that text, and those of libraries by their files. */
function replaceWorkers(
  urls: [url: string, target: string][],
  own: string[],
  find: Find,
  inText: (text: string) => string,
): void {
  const blobs = new Map<string, Blob>()
  const { createObjectURL } = URL
  URL.createObjectURL = (thing) => {
    const url = createObjectURL(thing)
    if (thing instanceof Blob && /script|^$|plain/.test(thing.type)) blobs.set(url, thing)
    return url
  }
  const construct = (
    real: typeof Worker,
    [address, options]: [string | URL, WorkerOptions?],
    made: NewableFunction,
  ): object => {
    const blob = blobs.get(String(address))
    const isModule = options?.type === 'module'
    const parts =
      blob && (isModule ? importerOf(blob, String(address), inText) : prelude(urls, own))
    const rest = isModule ? [] : [blob ?? '']
    const url =
      parts === undefined
        ? (find(address) ?? address)
        : createObjectURL(new Blob([parts, ...rest], { type: 'text/javascript' }))
    return Reflect.construct(real, [url, options], made)
  }
  window.Worker = new Proxy(Worker, { construct })
}

/**
 * Makes the libraries of a page available and returns its HTML with their URLs. Everything stays in
 * this document: the files came with it, and no request leaves.
 */
function openLibraries(page: LibraryPage): string {
  const { urls: byName, sheets } = createUrls(page.files)
  const sheetOf = (url: string): string => (sheets.get(url) ?? '').replace(/<\/(?=style)/gi, '<\\/')
  const packages = `${page.address}npm/`
  const targetOf = (name: string): string => name.replace('berth:', packages)
  const urls = page.urls
    // Without an address only what came with the page is there.
    .filter(([, name]) => page.address !== '' || byName.has(name))
    .map(([url, name]): [string, string] => [url, byName.get(name) ?? targetOf(name)])
  const find = openFinder(urls, page.own)
  const originals = new Map(
    page.urls.flatMap(([url, name]) => {
      const target = byName.get(name)
      return target === undefined ? [] : [[target, url]]
    }),
  )
  const inHtml = (text: string): string => {
    let html = text
    const exact = urls.filter(([url]) => url.includes('//') && !url.endsWith('/'))
    if (html.includes('//')) for (const [url, target] of exact) html = html.replaceAll(url, target)
    return html
  }
  addImportMap(page, byName)
  addFonts(page, (name) => sheetOf(byName.get(name) ?? ''))
  replaceLoaders(find, (url) => originals.get(String(url)), inHtml)
  replaceWorkers(urls, page.own, find, inHtml)
  if (page.needsFallback) {
    const take = linkLoader((given) => {
      const url = find(given)
      return url === undefined ? undefined : sheetOf(url)
    })
    new MutationObserver((records) => {
      for (const { addedNodes } of records) addedNodes.forEach(take)
    }).observe(document, { childList: true, subtree: true })
  }
  return markLibraries(page).replace(places, (whole, kind: string, at: string) => {
    const url = byName.get(page.files[Number(at)]?.name ?? '')
    if (url === undefined) return whole
    return kind === sheetPlaceholder ? sheetOf(url) : url
  })
}

const script = document.currentScript
const data = script?.previousElementSibling
script?.remove()
if (data instanceof HTMLScriptElement) {
  const page: LibraryPage = JSON.parse(data.text)
  data.remove()
  const write = document.write.bind(document)
  // The page follows this script, as if the parser had found it there.
  write(openLibraries(page))
}
