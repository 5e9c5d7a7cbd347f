/** Lets the document of a page load its files at their address as on a static host. */
import { type Addresses, isPage, openAddresses } from './file-urls.ts'
import { fileWorkers } from './file-workers.ts'
import { follow, type GoInFolder } from './links.ts'
import { replaceProperty, replaceRequests } from './loaders.ts'
import type { AppMessage, OwnFiles } from './messages.ts'
import { findFrame, showInFrames } from './own-frames.ts'
import { openPageLocation } from './page-location.ts'
import { followRefresh, replaceRenamed } from './renamed-files.ts'
import { inlineSymbols } from './svg-symbols.ts'
import { replaceStyles } from './written-css.ts'

const readable = 'img|audio|video|image'
const tags = new RegExp(`<(?:${readable})(?=[\\s/])(?:[^>"']|"[^"]*"|'[^']*')*>`, 'gi')
/** Names from the root of the host, and in a copy all names. */
const rooted = /(\s(src|srcset|href|poster)\s*=\s*)("\/[^"]*"|'\/[^']*'|\/[^\s"'>]+)/gi
const named = /(\s(src|srcset|href|poster)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi

/** Adds the import map of a build for the root of a host, or of a copy. */
function addImportMap(imports: Addresses['imports']): void {
  const map = document.createElement('script')
  map.type = 'importmap'
  map.textContent = JSON.stringify({ imports })
  document.head.append(map)
  map.remove()
}

/**
 * Lets a page read the pixels, samples and rules of its files, and what their scripts throw, which
 * CORS allows to its opaque origin. Those of a copy are its own.
 */
function makeReadable(element: unknown, url: unknown, { urlOf, copy }: Addresses): void {
  if (copy) return
  const isElement =
    element instanceof HTMLImageElement ||
    element instanceof HTMLMediaElement ||
    element instanceof HTMLScriptElement ||
    element instanceof HTMLLinkElement ||
    element instanceof SVGImageElement
  if (isElement && !element.hasAttribute('crossorigin') && urlOf(url) !== undefined) {
    element.setAttribute('crossorigin', '')
  }
}

/** Returns the value to load instead of that of an attribute; undefined where it names no file. */
function valueOf(attribute: string, value: unknown, { find }: Addresses): string | undefined {
  if (!/^srcset$/i.test(attribute)) return find(value)
  const set = String(value)
  const replaced = set.replace(/[^\s,](?:\S*[^\s,])?/g, (url) => find(url) ?? url)
  return replaced === set ? undefined : replaced
}

/** Makes elements load their files by the names that scripts set. */
function replaceElements(addresses: Addresses): void {
  const original = addresses.copy?.original
  const take = (name: string, url: unknown, element: unknown): string | undefined => {
    makeReadable(element, url, addresses)
    return valueOf(name, url, addresses)
  }
  const owners = {
    src: [HTMLImageElement, HTMLMediaElement, HTMLSourceElement, HTMLScriptElement],
    srcset: [HTMLImageElement, HTMLSourceElement],
    poster: [HTMLVideoElement],
    href: [HTMLLinkElement],
  }
  for (const [name, classes] of Object.entries(owners)) {
    for (const { prototype } of classes) {
      replaceProperty(prototype, name, (url, element) => take(name, url, element), original)
    }
  }
  const { setAttribute, setAttributeNS } = Element.prototype
  const loaders = /^(?:script|link|img|image|audio|video|source|use|x-off)$/
  const names = /^(?:src|srcset|poster|(?:xlink:)?href)$/i
  const replaced = (element: Element, name: string, value: unknown): string => {
    if (!loaders.test(element.localName) || !names.test(name)) return String(value)
    return take(name, value, element) ?? String(value)
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
      [family, typeof source === 'string' ? addresses.inCss(source) : source, ...rest],
      made,
    )
  window.FontFace = new Proxy(FontFace, { construct: face })
}

/** Makes HTML that scripts insert load the files. */
function replaceSinks(addresses: Addresses): void {
  const reference = addresses.copy ? named : rooted
  const inTag = (tag: string): string =>
    /\scrossorigin|\ssrc\s*=\s*["']?(?:data|blob):/i.test(tag)
      ? tag
      : tag.replace(/^<\w+/, '$& crossorigin')
  const inHtml = (given: unknown): string => {
    const html = String(given)
    if (!html.includes('<')) return html
    const whole = addresses.inCss(addresses.copy ? html : html.replace(tags, inTag))
    return whole.replace(reference, (text: string, start: string, name: string, value: string) => {
      const url = value.replace(/^["']|["']$/g, '')
      const found = name === 'href' && isPage(url) ? undefined : valueOf(name, url, addresses)
      return found === undefined ? text : `${start}"${found}"`
    })
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

/** Returns the URL of a page without its fragment, by which it has one name. */
const pageOf = (url: string): string =>
  url.replace(/#.*/, '').replace(/(?<=\/)index\.html?(?=$|\?)/i, '')

/** Returns the fields of a form as a query. */
const queryOf = (fields: FormData): string =>
  new URLSearchParams(
    [...fields].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]),
  ).toString()

/**
 * Returns a function that follows links inside the folder: the shell shows its pages and offers to
 * save its other files. The root of the host is that of the folder, as on a static host.
 */
export const goInFolder =
  (files: OwnFiles, tell: (message: AppMessage) => void): GoInFolder =>
  ({ href, name, target = '', form, submitter = null }, download) => {
    const { address } = files
    const found = URL.parse(href, document.baseURI)
    const { origin } = new URL(address)
    if (found?.origin !== origin) return false
    if (form?.method === 'get') found.search = queryOf(new FormData(form, submitter))
    const { href: whole, hash } = found
    const url = whole.startsWith(address) ? whole : address + whole.slice(origin.length + 1)
    const frame = target === '' ? undefined : findFrame(target)
    if (frame) frame.src = url
    else if (hash !== '' && pageOf(url) === pageOf(document.URL.replace(`${origin}/`, address)))
      follow(hash)
    else if (name === null && isPage(url)) tell({ type: 'service:page', url })
    else void download(url, name || url.replace(/.*\//, '')).catch(() => undefined)
    return true
  }

/** Prepares a document whose files have an address. */
export function start(
  files: OwnFiles,
  needsFallback: boolean,
  tell: (message: AppMessage) => void,
  addresses: Addresses = openAddresses(files),
): (() => void) | undefined {
  const { copy } = addresses
  const { hash } = files
  // Firefox takes one import map alone, so another one may have these names.
  if (!files.isMapped) addImportMap(addresses.imports)
  replaceRequests((url) => addresses.requested(url), addresses.copy?.isMissing)
  replaceElements(addresses)
  replaceSinks(addresses)
  fileWorkers(files, addresses)
  inlineSymbols(addresses)
  replaceStyles(addresses.inCss)
  // Scripts find the fragment at once, without an event. Its element is there later.
  if (hash !== '') history.replaceState(history.state, '', location.href.replace(/#.*/, '') + hash)
  openPageLocation(files, tell)
  if (hash !== '') addEventListener('DOMContentLoaded', () => follow(hash), { once: true })
  if (needsFallback) replaceRenamed(addresses)
  if (needsFallback || copy) addEventListener('DOMContentLoaded', followRefresh, { once: true })
  else showInFrames(files)
  return copy?.write
}
