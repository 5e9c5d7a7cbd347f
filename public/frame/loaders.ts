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

/** Replaces what requests load: fetch and XMLHttpRequest. */
export function replaceRequests(find: Find): void {
  const load = window.fetch
  window.fetch = (input, init) => {
    const isRequest = typeof input === 'object' && 'method' in input
    return load(find(isRequest ? input.url : input) ?? input, init)
  }
  const { open } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (method: string, url: string | URL, ...rest: unknown[]) {
    Reflect.apply(open, this, [method, find(url) ?? url, ...(rest.length > 0 ? rest : [true])])
  }
}

/**
 * Loads style sheets of links that scripts create: in the fallback a link is another element.
 * `sheetOf` returns the CSS of a URL; undefined for one that is not loaded here.
 */
export function replaceLinks(sheetOf: Find): void {
  const take = (node: Node): void => {
    if (!(node instanceof HTMLElement) || node.localName !== 'x-off') return
    const read = (name: string): unknown => Reflect.get(node, name) ?? node.getAttribute(name)
    const css = /stylesheet/i.test(String(read('rel'))) ? sheetOf(read('href')) : undefined
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
  new MutationObserver((records) => {
    for (const { addedNodes } of records) addedNodes.forEach(take)
  }).observe(document, { childList: true, subtree: true })
}
