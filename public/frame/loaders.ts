/** Replacements of what loads a URL, for libraries and for the files of a page. */

/** Returns the URL to load instead; undefined for any other URL. */
export type Find = (url: unknown) => string | undefined

/** Replaces a URL property: reading gives the page's own, writing loads what `find` returns. */
export function replaceProperty(
  owner: object,
  name: string,
  find: (url: unknown, element: unknown) => string | undefined,
  original: Find = () => undefined,
): void {
  const real = Object.getOwnPropertyDescriptor(owner, name)
  if (!real?.get || !real.set) return
  const { get, set } = real
  Object.defineProperty(owner, name, {
    ...real,
    get(this: unknown) {
      const url: unknown = Reflect.apply(get, this, [])
      return original(url) ?? url
    },
    set(this: unknown, value: unknown) {
      Reflect.apply(set, this, [find(value, this) ?? value])
    },
  })
}

/** Headers of requests to another origin for which a browser needs no permission of the server. */
const simpleHeaders = /^(?:accept|accept-language|range)$/i

/** Returns the response of a server without the file. */
const notFound = async (): Promise<Response> => new Response('Not found.\n', { status: 404 })

/**
 * Replaces what requests load: fetch and XMLHttpRequest. A file is at another origin than the page.
 * So its request has no credentials, and no header for which a browser would ask the server first.
 * `isMissing` tells which files a copy lacks.
 */
export function replaceRequests(
  find: Find,
  isMissing: (url: unknown) => boolean = () => false,
): void {
  const load = window.fetch
  window.fetch = (input, init) => {
    const given = typeof input === 'object' && 'method' in input ? input : undefined
    const requested = given?.url ?? input
    const url = find(requested)
    if (url === undefined) return isMissing(requested) ? notFound() : load(input, init)
    const sent = new Headers(init?.headers ?? given?.headers)
    const headers = [...sent].filter(([name]) => simpleHeaders.test(name))
    const own = given && { method: given.method, signal: given.signal }
    return load(url, { ...own, ...init, headers, mode: 'cors', credentials: 'same-origin' })
  }
  const files = new WeakSet<XMLHttpRequest>()
  const { open, send, setRequestHeader } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (method: string, url: string | URL, ...rest: unknown[]) {
    const found = find(url)
    if (found === undefined) files.delete(this)
    else files.add(this)
    Reflect.apply(open, this, [method, found ?? url, ...(rest.length > 0 ? rest : [true])])
  }
  XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
    if (!files.has(this) || simpleHeaders.test(name)) setRequestHeader.call(this, name, value)
  }
  XMLHttpRequest.prototype.send = function (body) {
    if (files.has(this)) this.withCredentials = false
    send.call(this, body)
  }
}

/**
 * Returns a function that loads the style sheet of an element, if it is a link that the fallback
 * has renamed. `sheetOf` returns the CSS of a URL; undefined for one that is not loaded here.
 */
export const linkLoader =
  (sheetOf: Find) =>
  (node: Node): void => {
    if (!(node instanceof HTMLElement) || node instanceof HTMLStyleElement) return
    if (node.localName !== 'x-off' && !node.hasAttribute('x-off-link')) return
    const read = (name: string): unknown => Reflect.get(node, name) ?? node.getAttribute(name)
    const rel = String(read('rel'))
    const isSheet = /stylesheet/i.test(rel) && !/alternate/i.test(rel)
    const css = isSheet ? sheetOf(read('href')) : undefined
    if (css === undefined) return
    const style = document.createElement('style')
    style.textContent = css
    for (const type of ['load', 'error']) {
      style.addEventListener(type, () => node.dispatchEvent(new Event(type)), { once: true })
      const handler: unknown = Reflect.get(node, `on${type}`)
      if (typeof handler === 'function') style.addEventListener(type, () => handler.call(node))
    }
    node.after(style)
  }
