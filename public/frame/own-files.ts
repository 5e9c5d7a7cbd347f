import type { LibraryFile } from './messages.ts'

/** The app's own files, which the page names by relative URLs. */
export interface OwnFiles {
  /** Returns the blob: URL of a file; undefined for a URL that names none. */
  find(url: unknown): string | undefined
  /** Returns the URL that the page would have read; undefined for any other URL. */
  original(url: unknown): string | undefined
  /** Returns HTML whose tags and styles load these files. */
  inHtml(html: string): string
  inCss(css: string): string
}

const attributes = `(?:[^>"']|"[^"]*"|'[^']*')*`
/** Comments and raw text, so that a text stays as it is, and all other tags. */
const parts = new RegExp(
  `<!--[^]*?(?:-->|$)|<(script|style|textarea|title|xmp)\\b(${attributes})>([^]*?)(?=</\\1|$)|<([a-z][\\w:-]*)(${attributes})>`,
  'gi',
)
const named =
  /(\s(?:xlink:)?(src|href|poster|srcset|style)\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi
const cssUrl = /url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]+))\s*\)/gi
const otherScheme = /^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i

/** Returns the name under which a folder's file is stored: "img/Ship 1.png" is "img-ship-1.png". */
const flattened = (path: string): string =>
  path
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Makes the files of an app available by their names. `urlOf` gives the blob: URL of each. */
export function openOwnFiles(files: LibraryFile[], urlOf: (file: LibraryFile) => string): OwnFiles {
  const urls = new Map(files.map((file) => [file.name, urlOf(file)]))
  const base = new URL('.', document.baseURI).href
  const originals = new Map([...urls].map(([name, url]) => [url, base + name]))
  const find = (given: unknown): string | undefined => {
    const text = String(given).trim()
    const inside = text.startsWith(base) ? text.slice(base.length) : text
    if (inside === '' || otherScheme.test(inside)) return undefined
    const path = decoded(inside.replace(/[?#][^]*$/, '').replace(/^(?:\.?\/)+/, ''))
    return urls.get(path) ?? urls.get(flattened(path))
  }
  const inCss = (css: string): string =>
    css.replace(cssUrl, (whole, double?: string, single?: string, bare?: string) => {
      const url = find(double ?? single ?? bare)
      return url === undefined ? whole : `url(${url})`
    })
  const inSet = (list: string): string =>
    list.replace(/[^\s,]\S*/g, (url) => find(url.replace(/,$/, '')) ?? url)
  const inTag = (inside: string): string =>
    inside.replace(
      named,
      (whole, start: string, name: string, double?: string, single?: string, bare?: string) => {
        const value = double ?? single ?? bare ?? ''
        const kind = name.toLowerCase()
        if (kind === 'style') {
          const css = inCss(value.replaceAll('&quot;', '"'))
          return css.includes('blob:') ? `${start}"${css.replaceAll('"', '&quot;')}"` : whole
        }
        const url = kind === 'srcset' ? inSet(value) : find(value)
        return url === undefined ? whole : `${start}"${url}"`
      },
    )
  const inHtml = (html: string): string =>
    html.replace(parts, (whole, raw?: string, inside = '', body = '', tag?: string, rest = '') => {
      if (raw !== undefined) {
        return /^style$/i.test(raw) ? `<${raw}${inside}>${inCss(body)}` : whole
      }
      return tag === undefined ? whole : `<${tag}${inTag(rest)}>`
    })
  return { find, original: (url) => originals.get(String(url)), inHtml, inCss }
}

/** Makes HTML that scripts insert load the files. */
function replaceSinks({ inHtml }: OwnFiles): void {
  for (const [owner, name] of [
    [Element.prototype, 'innerHTML'],
    [Element.prototype, 'outerHTML'],
    [ShadowRoot.prototype, 'innerHTML'],
  ] as const) {
    const real = Object.getOwnPropertyDescriptor(owner, name)
    if (!real?.set) continue
    const { set } = real
    Object.defineProperty(owner, name, {
      ...real,
      set(this: Element, html: unknown) {
        const text = html === null ? '' : String(html)
        const isStyle = this instanceof HTMLStyleElement || this instanceof HTMLScriptElement
        Reflect.apply(set, this, [isStyle ? text : inHtml(text)])
      },
    })
  }
  const { insertAdjacentHTML } = Element.prototype
  Element.prototype.insertAdjacentHTML = function (where, html) {
    insertAdjacentHTML.call(this, where, inHtml(String(html)))
  }
}

/** Makes styles that scripts set load the files, before the browser draws them. */
function watchStyles({ inCss }: OwnFiles): void {
  const fix = (node: Node): void => {
    if (node instanceof HTMLStyleElement) {
      const text = node.textContent ?? ''
      const css = inCss(text)
      if (css !== text) node.textContent = css
      return
    }
    if (!(node instanceof HTMLElement || node instanceof SVGElement)) return
    const text = node.getAttribute('style') ?? ''
    const css = text.includes('url(') ? inCss(text) : text
    if (css !== text) node.setAttribute('style', css)
  }
  new MutationObserver((records) => {
    for (const { type, target, addedNodes } of records) {
      if (type === 'attributes') fix(target)
      else if (target instanceof HTMLStyleElement) fix(target)
      for (const node of addedNodes) {
        fix(node)
        if (node instanceof Element) node.querySelectorAll('style, [style]').forEach(fix)
      }
    }
  }).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['style'],
  })
}

/** Makes scripts that set URLs, HTML and styles load the files. */
export function replaceOwnLoaders(own: OwnFiles): void {
  const construct = (
    real: typeof Audio,
    [url, ...rest]: [string?],
    made: NewableFunction,
  ): object => Reflect.construct(real, url === undefined ? rest : [own.find(url) ?? url], made)
  window.Audio = new Proxy(Audio, { construct })
  const { setAttributeNS } = Element.prototype
  Element.prototype.setAttributeNS = function (space, name, value) {
    const isUrl = /^(?:xlink:)?href$/i.test(name)
    setAttributeNS.call(this, space, name, (isUrl ? own.find(value) : undefined) ?? value)
  }
  replaceSinks(own)
  watchStyles(own)
}
