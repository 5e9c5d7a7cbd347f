import { listen } from './listen.ts'
import type { FirstScript } from './messages.ts'

/** Code may import from the address of its script. */
const imports = /\bimport\b/
const types: readonly string[] = ['', 'text/javascript', 'application/javascript']

/** Returns whether an element is a script that runs in its place, with its code inside. */
const isInline = (node: Node): node is HTMLScriptElement =>
  node instanceof HTMLScriptElement &&
  types.includes(node.type) &&
  !['src', 'async', 'defer', 'nomodule'].some((name) => node.hasAttribute(name))

/**
 * Loads the first script of a page from a blob: URL, which `loaded` gets. WebKit hides what a
 * script throws whose URL is that of a page with an opaque origin. It waits for the script as it
 * would for a file, so timers of earlier scripts would run before it: only the first one has none
 * (docs/decisions/0147).
 */
export function loadFirstScript(
  first: FirstScript | undefined,
  loaded: (url: string) => void,
): void {
  if (!first) return
  const { createObjectURL } = URL
  // The parser delivers the records before it prepares a script.
  const observer = new MutationObserver((records) => {
    for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!isInline(node) || node.text.length !== first.length) continue
      observer.disconnect()
      if (imports.test(node.text)) return
      const url = createObjectURL(new Blob([node.text]))
      loaded(url)
      // Code that runs finds its script as it is in the page.
      Object.defineProperty(node, 'src', { value: '', configurable: true })
      const hide = (event: Event): void => {
        if (event.target !== node) return
        event.stopImmediatePropagation()
        node.removeAttribute('src')
        Reflect.deleteProperty(node, 'src')
      }
      listen('load', hide, { capture: true })
      node.setAttribute('src', url)
      return
    }
  })
  observer.observe(document, { childList: true, subtree: true })
  listen('DOMContentLoaded', () => observer.disconnect())
}
