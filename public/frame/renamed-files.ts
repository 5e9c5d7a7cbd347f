/** Elements that the fallback has renamed, in a page with files. */
import type { Addresses } from './file-urls.ts'
import { stopped } from './guard.ts'
import { linkLoader } from './loaders.ts'
import { names } from './renamed.ts'
import { watchRoots } from './roots.ts'

/**
 * Shows the page only what it prevented itself: routers follow a link where no code has prevented
 * its click, and the guard prevents them all.
 */
function hideGuard(): void {
  const requested = new WeakSet<Event>()
  const { preventDefault } = Event.prototype
  Event.prototype.preventDefault = function () {
    requested.add(this)
    preventDefault.call(this)
  }
  const { get } = Object.getOwnPropertyDescriptor(Event.prototype, 'defaultPrevented') ?? {}
  Object.defineProperty(Event.prototype, 'defaultPrevented', {
    get() {
      return stopped.has(this) ? requested.has(this) : get?.call(this)
    },
  })
}

/** Lets scripts change the URL of a link to a style sheet, which is a style element. */
function replaceSheets(cssOf: (url: unknown) => string | undefined): void {
  Object.defineProperty(HTMLStyleElement.prototype, 'href', {
    get(this: Element) {
      const given = this.getAttribute('href')
      return given === null ? '' : (URL.parse(given, document.baseURI)?.href ?? given)
    },
    set(this: Element, url: unknown) {
      this.setAttribute('href', String(url))
    },
    configurable: true,
  })
  new MutationObserver((records) => {
    for (const { target } of records) {
      if (!(target instanceof HTMLStyleElement)) continue
      target.textContent = cssOf(target.getAttribute('href')) ?? ''
    }
  }).observe(document, { subtree: true, attributeFilter: ['href'] })
}

/** Lets scripts list links and meta elements. */
function listRenamed(): void {
  const { querySelectorAll, getElementsByTagName } = Document.prototype
  const list = (selectors: string): NodeListOf<Element> => {
    const found = querySelectorAll.call(document, selectors)
    for (const one of found) {
      if (one.hasAttribute('x-off-meta'))
        Object.assign(one, { content: one.getAttribute('content') })
    }
    return found
  }
  const replace = (name: string, value: (selectors: string) => unknown): void => {
    Object.defineProperty(Document.prototype, name, { value, writable: true, configurable: true })
  }
  replace('querySelectorAll', function (this: Document, given) {
    const text = String(given)
    if (this !== document || text.search(names) < 0) return querySelectorAll.call(this, text)
    return list(text.replace(names, ':is($&,[x-off-$&],x-off-$&)'))
  })
  replace('getElementsByTagName', function (this: Document, name) {
    const isRenamed = this === document && /^(?:link|meta)$/i.test(name)
    return isRenamed ? list(`[x-off-${name}]`) : getElementsByTagName.call(this, name)
  })
}

/** Parses the documents of requests, which the guard leaves as texts. */
function parseResponses(): void {
  const { prototype } = XMLHttpRequest
  const asDocument = new WeakSet<XMLHttpRequest>()
  const parsed = new WeakMap<XMLHttpRequest, { text: string; made: Document }>()
  const kind = Object.getOwnPropertyDescriptor(prototype, 'responseType')
  const response = Object.getOwnPropertyDescriptor(prototype, 'response')
  const kindOf = (request: XMLHttpRequest): unknown => kind?.get?.call(request)
  const parse = (request: XMLHttpRequest): Document | null => {
    const type = request.getResponseHeader('content-type') ?? ''
    const isHtml = type.startsWith('text/html')
    const isDocument = asDocument.has(request) || (kindOf(request) === '' && !isHtml)
    if (request.readyState !== 4 || !isDocument) return null
    const { responseText: text } = request
    const known = parsed.get(request)
    const parser = new DOMParser()
    const made =
      known?.text === text
        ? known.made
        : parser.parseFromString(text, isHtml ? 'text/html' : 'text/xml')
    parsed.set(request, { text, made })
    return made.querySelector('parsererror') ? null : made
  }
  const properties = {
    responseType: {
      get(this: XMLHttpRequest) {
        return asDocument.has(this) ? 'document' : kindOf(this)
      },
      set(this: XMLHttpRequest, value: unknown) {
        if (value === 'document') asDocument.add(this)
        else asDocument.delete(this)
        kind?.set?.call(this, value)
      },
    },
    response: {
      get(this: XMLHttpRequest): unknown {
        return asDocument.has(this) ? parse(this) : response?.get?.call(this)
      },
    },
    responseXML: {
      get(this: XMLHttpRequest) {
        return parse(this)
      },
    },
  }
  for (const [name, property] of Object.entries(properties)) {
    Object.defineProperty(prototype, name, { ...property, configurable: true })
  }
}

/** Follows the meta element by which a page leads to another one of its folder. */
export function followRefresh(): void {
  const content = document
    .querySelector('[x-off-meta][http-equiv="refresh" i]')
    ?.getAttribute('content')
  const [, seconds, url] =
    /^\s*([\d.]+)\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i.exec(content ?? '') ?? []
  if (url === undefined) return
  const link = Object.assign(document.createElement('a'), { href: url.trim() })
  setTimeout(() => link.click(), Number(seconds) * 1_000)
}

/** Lets the renamed elements of a page load its files. */
export function replaceRenamed({ urlOf, copy }: Addresses): void {
  hideGuard()
  const cssOf = (url: unknown): string | undefined => {
    // A link whose address was set as an attribute has the blob: URL of a copy already.
    const text = copy?.sheetOf(url)
    if (text !== undefined) return text
    const found = urlOf(url)
    return found === undefined ? undefined : `@import url(${JSON.stringify(found)});`
  }
  watchRoots([], linkLoader(cssOf))
  replaceSheets(cssOf)
  listRenamed()
  parseResponses()
}
