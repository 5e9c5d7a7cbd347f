/** Lets the document of a page load its files at their address as on a static host. */
import { openAddresses, rootImports } from './file-urls.ts'
import { fileWorkers } from './file-workers.ts'
import { follow, type GoInFolder } from './links.ts'
import { replaceLinks, replaceProperty, replaceRequests } from './loaders.ts'
import type { AppMessage, OwnFiles } from './messages.ts'
import { inlineSymbols } from './svg-symbols.ts'

const readable = 'img|audio|video|image'
const tags = new RegExp(`<(?:${readable})(?=[\\s/])(?:[^>"']|"[^"]*"|'[^']*')*>`, 'gi')
const reference = /(\s(?:src|href|poster)\s*=\s*["']?)(\/[^\s"'>]+)/gi

type Addresses = ReturnType<typeof openAddresses>

/** Adds the import map of a build for the root of a host. */
function addImportMap(address: string): void {
  const map = document.createElement('script')
  map.type = 'importmap'
  map.textContent = JSON.stringify({ imports: rootImports(address) })
  document.head.append(map)
  map.remove()
}

/** Lets a page read the pixels and samples of its files, which CORS allows to its opaque origin. */
function makeReadable(element: unknown, url: unknown, { urlOf }: Addresses): void {
  const isElement =
    element instanceof HTMLImageElement ||
    element instanceof HTMLMediaElement ||
    element instanceof SVGImageElement
  if (isElement && !element.hasAttribute('crossorigin') && urlOf(url) !== undefined) {
    element.setAttribute('crossorigin', '')
  }
}

/** Makes elements load their files by the names that scripts set. */
function replaceElements(addresses: Addresses): void {
  const { find } = addresses
  const take = (url: unknown, element: unknown): string | undefined => {
    makeReadable(element, url, addresses)
    return find(url)
  }
  for (const { prototype } of [HTMLImageElement, HTMLMediaElement, HTMLSourceElement]) {
    replaceProperty(prototype, 'src', take)
  }
  replaceProperty(HTMLImageElement.prototype, 'srcset', take)
  replaceProperty(HTMLVideoElement.prototype, 'poster', take)
  replaceProperty(HTMLScriptElement.prototype, 'src', take)
  replaceProperty(HTMLLinkElement.prototype, 'href', take)
  const { setAttribute, setAttributeNS } = Element.prototype
  const loaders = /^(?:script|link|img|image|audio|video|source|use|x-off)$/
  const names = /^(?:src|srcset|poster|(?:xlink:)?href)$/i
  const replaced = (element: Element, name: string, value: unknown): string => {
    if (!loaders.test(element.localName) || !names.test(name)) return String(value)
    return take(value, element) ?? String(value)
  }
  Element.prototype.setAttribute = function (name, value) {
    setAttribute.call(this, name, replaced(this, String(name), value))
  }
  Element.prototype.setAttributeNS = function (space, name, value) {
    setAttributeNS.call(this, space, name, replaced(this, String(name), value))
  }
  const construct = (real: typeof Audio, [url]: [string?], made: NewableFunction): object => {
    const audio: HTMLAudioElement = Reflect.construct(real, [], made)
    if (url !== undefined) Object.assign(audio, { preload: 'auto', src: url })
    return audio
  }
  window.Audio = new Proxy(Audio, { construct })
  const { FontFace } = window
  const face = (
    real: typeof FontFace,
    [family, source, ...rest]: unknown[],
    made: NewableFunction,
  ) =>
    Reflect.construct(
      real,
      [family, typeof source === 'string' ? inCss(source, addresses) : source, ...rest],
      made,
    )
  window.FontFace = new Proxy(FontFace, { construct: face })
}

const inCss = (css: string, { find }: Addresses): string =>
  css.replace(
    /(url\(\s*["']?)(\/[^"')]+)/g,
    (_, start: string, url: string) => start + (find(url) ?? url),
  )

/** Makes HTML that scripts insert load the files. */
function replaceSinks(addresses: Addresses): void {
  const inTag = (tag: string): string =>
    /\scrossorigin|\ssrc\s*=\s*["']?(?:data|blob):/i.test(tag)
      ? tag
      : tag.replace(/^<\w+/, '$& crossorigin')
  const inHtml = (given: unknown): string => {
    const html = String(given)
    if (!html.includes('<')) return html
    return html
      .replace(tags, inTag)
      .replace(reference, (_, start: string, url: string) => start + (addresses.find(url) ?? url))
  }
  for (const [owner, name] of [
    [Element.prototype, 'innerHTML'],
    [Element.prototype, 'outerHTML'],
    [ShadowRoot.prototype, 'innerHTML'],
  ] as const) {
    const isRaw = (element: unknown): boolean =>
      element instanceof HTMLStyleElement || element instanceof HTMLScriptElement
    replaceProperty(owner, name, (html, element) =>
      html === null || isRaw(element) ? undefined : inHtml(html),
    )
  }
  const { insertAdjacentHTML } = Element.prototype
  Element.prototype.insertAdjacentHTML = function (where, html) {
    insertAdjacentHTML.call(this, where, inHtml(html))
  }
}

/** Returns whether a URL looks like that of a page: about.html, about or about/. */
const isPage = (url: string): boolean => /(?:\.html?|\/|\/[^/.]+)$/i.test(url.replace(/[?#].*/, ''))

/**
 * Returns a function that follows links inside the folder: the shell shows its pages and offers to
 * save its other files. The root of the host is that of the folder, as on a static host.
 */
export const goInFolder =
  ({ address }: OwnFiles, tell: (message: AppMessage) => void): GoInFolder =>
  ({ href, name }, download) => {
    const found = URL.parse(href, document.baseURI)
    const { origin } = new URL(address)
    if (found?.origin !== origin) return false
    const { href: whole } = found
    const url = whole.startsWith(address) ? whole : address + whole.slice(origin.length + 1)
    if (name === null && isPage(url)) tell({ type: 'service:page', url })
    else void download(url, name || url.replace(/.*\//, '')).catch(() => undefined)
    return true
  }

/** Prepares a document whose files have an address. */
export function start(files: OwnFiles, needsFallback: boolean): void {
  const addresses = openAddresses(files)
  const { hash } = files
  if (!files.isMapped) addImportMap(files.address)
  replaceRequests(addresses.find)
  replaceElements(addresses)
  replaceSinks(addresses)
  fileWorkers(files, addresses)
  inlineSymbols(addresses)
  const here = (): string => addresses.base + location.hash
  // SvelteKit loads a page again whose document.URL is not the href of its location.
  for (const name of files.isSvelteKit ? [] : ['URL', 'documentURI']) {
    Object.defineProperty(Document.prototype, name, { get: here, configurable: true })
  }
  if (hash !== '') addEventListener('DOMContentLoaded', () => follow(hash), { once: true })
  if (!needsFallback) return
  replaceLinks((url) => {
    const found = addresses.urlOf(url)
    return found === undefined ? undefined : `@import url(${JSON.stringify(found)});`
  })
}
