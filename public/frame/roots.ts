import { shadowListeners } from './guard.ts'

/** The page, or a shadow root in it. */
export type Root = Document | ShadowRoot

/**
 * Calls a function for each element that comes into the page or into a shadow root, and for each
 * whose attribute of these changes.
 */
export function watchRoots(
  attributes: string[],
  take: (element: Element, root: Root) => void,
): void {
  const watched = new WeakSet<Root>()
  const watch = (root: Root): void => {
    if (watched.has(root)) return
    watched.add(root)
    const takeAll = (element: Element): void => {
      take(element, root)
      // That of a declaration in the HTML.
      if (element.shadowRoot) watch(element.shadowRoot)
    }
    new MutationObserver((records) => {
      for (const { type, target, addedNodes } of records) {
        if (type === 'attributes' && target instanceof Element) take(target, root)
        for (const node of addedNodes) {
          if (!(node instanceof Element)) continue
          takeAll(node)
          node.querySelectorAll('*').forEach(takeAll)
        }
      }
    }).observe(root, { childList: true, subtree: true, attributeFilter: attributes })
    root.querySelectorAll('*').forEach(takeAll)
  }
  watch(document)
  // In the fallback the guard has locked it.
  shadowListeners.push(watch)
  const { value: attach, writable } =
    Object.getOwnPropertyDescriptor(Element.prototype, 'attachShadow') ?? {}
  if (!writable) return
  Element.prototype.attachShadow = function (init) {
    const root: ShadowRoot = attach.call(this, init)
    watch(root)
    return root
  }
}
