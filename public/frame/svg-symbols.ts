import { type Root, watchRoots } from './roots.ts'

const svg = 'http://www.w3.org/2000/svg'
const xlink = 'http://www.w3.org/1999/xlink'

interface Addresses {
  urlOf(url: unknown): string | undefined
}

/**
 * Copies symbols of files into the page, or into the shadow root that uses them: `use` loads only
 * from its own origin, which an opaque one never is.
 */
export function inlineSymbols(addresses: Addresses): void {
  const load = fetch.bind(window)
  const copies = new WeakMap<Root, Map<string, Promise<string | undefined>>>()
  let count = 0
  const copy = async (root: Root, file: string, id: string): Promise<string | undefined> => {
    const text = await (await load(file)).text()
    const symbol = new DOMParser().parseFromString(text, 'image/svg+xml').getElementById(id)
    if (!symbol) return undefined
    const holder = document.createElementNS(svg, 'svg')
    holder.style.cssText = 'position:absolute;width:0;height:0'
    count += 1
    symbol.id = `file-${count}-${id}`
    holder.append(document.importNode(symbol, true))
    const parent = root instanceof Document ? root.body : root
    parent.append(holder)
    return symbol.id
  }
  const take = async (use: Element, root: Root): Promise<void> => {
    const href = use.getAttribute('href') ?? use.getAttributeNS(xlink, 'href') ?? ''
    const url = href.startsWith('#') ? '' : (addresses.urlOf(href) ?? '')
    const [file = '', id = ''] = url.split('#')
    if (id === '') return
    const known = copies.get(root) ?? new Map<string, Promise<string | undefined>>()
    copies.set(root, known)
    const copied = known.get(url) ?? copy(root, file, id)
    known.set(url, copied)
    const name = await copied
    if (name !== undefined) use.setAttribute('href', `#${name}`)
  }
  watchRoots(['href', 'xlink:href'], (element, root) => {
    if (element.localName === 'use') void take(element, root).catch(() => undefined)
  })
}
