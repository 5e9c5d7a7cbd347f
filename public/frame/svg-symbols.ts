const svg = 'http://www.w3.org/2000/svg'
const xlink = 'http://www.w3.org/1999/xlink'

interface Addresses {
  urlOf(url: unknown): string | undefined
}

/**
 * Copies symbols of files into the page: `use` loads only from its own origin, which an opaque one
 * never is.
 */
export function inlineSymbols(addresses: Addresses): void {
  const load = fetch.bind(window)
  const copies = new Map<string, Promise<string | undefined>>()
  const copy = async (file: string, id: string): Promise<string | undefined> => {
    const text = await (await load(file)).text()
    const symbol = new DOMParser().parseFromString(text, 'image/svg+xml').getElementById(id)
    if (!symbol) return undefined
    const holder = document.createElementNS(svg, 'svg')
    holder.style.cssText = 'position:absolute;width:0;height:0'
    symbol.id = `file-${copies.size}-${id}`
    holder.append(document.importNode(symbol, true))
    document.body.append(holder)
    return symbol.id
  }
  const take = async (use: Element): Promise<void> => {
    const href = use.getAttribute('href') ?? use.getAttributeNS(xlink, 'href') ?? ''
    const url = href.startsWith('#') ? '' : (addresses.urlOf(href) ?? '')
    const [file = '', id = ''] = url.split('#')
    if (id === '') return
    const copied = copies.get(url) ?? copy(file, id)
    copies.set(url, copied)
    const name = await copied
    if (name !== undefined) use.setAttribute('href', `#${name}`)
  }
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue
        const uses = node.localName === 'use' ? [node] : node.querySelectorAll('use')
        for (const use of uses) void take(use).catch(() => undefined)
      }
    }
  }).observe(document, { childList: true, subtree: true })
}
