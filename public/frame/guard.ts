/**
 * Fallback for browsers without Connection-Allowlist (Firefox, Safari, old Chromium). There, CSP
 * leaves WebRTC from a new realm, dns-prefetch and preconnect open, so no link, meta or frame
 * element may exist. The guard saves every function that it uses before the app starts.
 */
import { listen } from './listen.ts'
import { own, swap, test } from './patterns.ts'
import { findRenamed, opened, parseRenamed, renamed } from './renamed.ts'
import { worklets } from './worklets.ts'

const { apply } = Reflect
const text = String

const banned = own(/^(?:link|meta|base|iframe|frame|frameset|object|embed|portal|fencedframe)$/i)
const entities = own(/<!ENTITY|<!DOCTYPE[^>]*\[/i)
const declarations = own(/<!/g)
const writes = own(/write/i)
const halfTag = own(/<([\\/a-z]*)$/i)
const goes = own(/location|href|javascript|navigat|action|iframe src/i)
const scheme = own(/^\s*javascript:/i)
const prefix = own(/^[^]*:/)
const replacements = [...opened, ...renamed]
const { add } = WeakSet.prototype

/** Functions that get each shadow root of the page. */
export const shadowListeners: ((root: ShadowRoot) => void)[] = []

/** Events that the guard prevented, and perhaps the page did not. */
export const stopped = new WeakSet<Event>()

const bad = (name: string): boolean => test(banned, swap(name, prefix, ''))

/** Defines a property that cannot be changed. */
export function lock(owner: object | undefined, name: string, value: unknown): void {
  if (!owner || !(name in owner)) return
  try {
    Object.defineProperty(owner, name, { value, writable: false, configurable: false })
  } catch {
    // The browser has locked it already.
  }
}

/** Returns HTML without the elements that could open connections. */
function clean(given: string, sink: string): string {
  let html = text(given)
  if (test(entities, html)) html = swap(html, declarations, '&lt;!')
  for (let i = 0; i < replacements.length; i++) {
    const row = replacements[i]
    if (row) html = swap(html, row[0], row[1])
  }
  return test(writes, sink) ? swap(html, halfTag, '&lt;$1') : html
}

/** The browser calls this policy at every sink, including document.write and setAttribute. */
function policy(): void {
  window.trustedTypes?.createPolicy('default', {
    createHTML: (html: string, _kind?: string, sink = '') => clean(html, sink),
    createScriptURL: (url: string) => url,
    createScript: (script: string, _kind?: string, sink = '') =>
      test(goes, sink) || test(scheme, script)
        ? `(()=>{${swap(text(script), scheme, '')}\n})()`
        : script,
  })
}

/** Guards elements that are created by calls instead of text. */
function creation(): void {
  const { createElement, createElementNS } = Document.prototype
  const { define } = CustomElementRegistry.prototype
  const extended = (options: unknown): [] | [{ is: string }] => {
    const is = typeof options === 'object' && options ? Reflect.get(options, 'is') : options
    return is ? [{ is: text(is) }] : []
  }
  lock(Document.prototype, 'createElement', function (this: Document, name: string, o: unknown) {
    const requested = text(name)
    const rest = extended(o)
    return apply(createElement, this, bad(requested) ? ['x-off'] : [requested, ...rest])
  })
  const byNamespace = function (this: Document, space: string, name: string, o: unknown): Element {
    const requested = text(name)
    const rest = extended(o)
    return bad(requested)
      ? apply(createElement, this, ['x-off'])
      : apply(createElementNS, this, [space, requested, ...rest])
  }
  lock(Document.prototype, 'createElementNS', byNamespace)
  const { createDocument } = DOMImplementation.prototype
  const byDocument = function (
    this: DOMImplementation,
    space: string | null,
    name: string | null,
    doctype: DocumentType | null = null,
  ): XMLDocument {
    const requested = text(name ?? '')
    return apply(createDocument, this, [space, bad(requested) ? 'x-off' : requested, doctype])
  }
  lock(DOMImplementation.prototype, 'createDocument', byDocument)
  const named = function (
    this: CustomElementRegistry,
    name: string,
    maker: CustomElementConstructor,
    options: unknown,
  ): void {
    const base = typeof options === 'object' && options ? Reflect.get(options, 'extends') : null
    if (base === undefined || base === null) return apply(define, this, [name, maker])
    const kind = text(base)
    if (bad(kind)) throw new TypeError('not allowed')
    return apply(define, this, [name, maker, { extends: kind }])
  }
  lock(CustomElementRegistry.prototype, 'define', named)
}

/** Closes ways around the policy: other parsers, closed shadow roots, responses as documents. */
function parsers(): void {
  for (const name of ['setHTML', 'streamHTML', 'streamHTMLUnsafe']) {
    lock(Element.prototype, name, undefined)
    lock(ShadowRoot.prototype, name, undefined)
  }
  lock(Document, 'parseHTML', undefined)
  for (const name of ['XSLTProcessor', 'Sanitizer', 'SharedWorker']) lock(window, name, undefined)

  const kind = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, 'responseType')
  Object.defineProperty(XMLHttpRequest.prototype, 'responseType', {
    get: kind?.get,
    set(given: string) {
      const value = text(given)
      if (kind?.set) apply(kind.set, this, [value === 'document' ? 'text' : value])
    },
    configurable: true,
  })
  Object.defineProperty(XMLHttpRequest.prototype, 'responseXML', {
    get: () => null,
    configurable: true,
  })
  const { attachShadow } = Element.prototype
  lock(Element.prototype, 'attachShadow', function (this: Element, init?: ShadowRootInit) {
    const delegatesFocus = init?.delegatesFocus === true
    const slotAssignment = init?.slotAssignment === 'manual' ? 'manual' : 'named'
    const root = apply(attachShadow, this, [{ mode: 'open', delegatesFocus, slotAssignment }])
    for (let i = 0; i < shadowListeners.length; i++) shadowListeners[i]?.(root)
    return root
  })
}

const getter = (owner: object, name: string): (() => unknown) => {
  const get = Object.getOwnPropertyDescriptor(owner, name)?.get
  if (!get) throw new Error(`no ${name}`)
  return get
}

const mathml = 'http://www.w3.org/1998/Math/MathML'
const html = 'http://www.w3.org/1999/xhtml'
const xlink = 'http://www.w3.org/1999/xlink'
const shown = 'a, foreignObject area, foreignObject math'
const presses = ['mousedown', 'click', 'auxclick', 'touchstart', 'pointerdown'] as const

/** Decides whether an element on an event's path is a link that leaves the page. */
function linkTests() {
  const { closest, getAttribute, getAttributeNS } = Element.prototype
  const { getRootNode } = Node.prototype
  const { querySelectorAll: allOf } = Document.prototype
  const { querySelectorAll: allOfShadow } = DocumentFragment.prototype
  const localName = getter(Element.prototype, 'localName')
  const namespace = getter(Element.prototype, 'namespaceURI')
  /** Content of `use` is on no event path, so any SVG link in its tree counts. */
  const showsLinks = (part: EventTarget): boolean => {
    const root = apply(getRootNode, part, [])
    const links = apply(root === document ? allOf : allOfShadow, root, [shown])
    for (let i = 0; links[i]; i++) {
      if (apply(namespace, links[i], []) !== html) return true
      if (apply(closest, links[i], ['foreignObject'])) return true
    }
    return false
  }
  const leaves = (part: EventTarget): boolean => {
    const name = apply(localName, part, [])
    if (name === 'use') return showsLinks(part)
    const href = apply(getAttribute, part, ['href']) || apply(getAttributeNS, part, [xlink, 'href'])
    if (href && href[0] !== '#') return true
    return name === 'a' && apply(namespace, part, []) !== html
  }
  /** Returns whether an element could become a leaving link before all listeners have run. */
  const mayLeave = (part: EventTarget): boolean => {
    const name = apply(localName, part, [])
    return name === 'a' || name === 'area' || apply(namespace, part, []) === mathml
  }
  return { leaves, mayLeave }
}

/** Stops clicks on leaving links in the capture phase, since they would preconnect. */
function stopPresses(): void {
  const { composedPath, preventDefault, stopImmediatePropagation } = Event.prototype
  const { focus } = HTMLElement.prototype
  const typeOf = getter(Event.prototype, 'type')
  const key = getter(KeyboardEvent.prototype, 'key')
  const { leaves, mayLeave } = linkTests()
  /** Stops the event if this element of its path requires that. Returns whether it did. */
  const stopAt = (event: Event, part: EventTarget, type: unknown): boolean => {
    try {
      const outside = leaves(part)
      if (!outside && (type !== 'mousedown' || !mayLeave(part))) return false
      apply(preventDefault, event, [])
      apply(add, stopped, [event])
      if (!outside) apply(focus, part, [{ preventScroll: true }])
      return true
    } catch {
      // The window and the document are not elements.
      return false
    }
  }
  const stop = (event: Event): void => {
    const type = apply(typeOf, event, [])
    const path: EventTarget[] = apply(composedPath, event, [])
    for (let i = 0; i < path.length; i++) {
      const part = path[i]
      if (part && stopAt(event, part, type)) return
    }
  }
  for (const type of presses) listen(type, stop, { capture: true, passive: false })
  const enter = (event: KeyboardEvent): void => {
    if (apply(key, event, []) === 'Enter') stop(event)
  }
  listen('keydown', enter, { capture: true })

  // When the document is reopened, a listener of the app can run before this one.
  Event.prototype.stopImmediatePropagation = function () {
    const type = apply(typeOf, this, [])
    for (let i = 0; i < presses.length; i++) if (presses[i] === type) stop(this)
    apply(stopImmediatePropagation, this, [])
  }
}

export function guard(): void {
  for (const [pattern] of replacements) own(pattern)
  policy()
  creation()
  parsers()
  worklets(lock)
  findRenamed()
  parseRenamed()
  stopPresses()
  for (const meta of document.querySelectorAll('meta')) meta.remove()
  lock(window, 'trustedTypes', undefined)
}
