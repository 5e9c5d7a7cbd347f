/**
 * Other pages of a folder in frames of its page, where the browser lets the page have frames. Such
 * a frame loads the document that asks the shell for a page. It gets that page as its text, with
 * the policy of the page around it.
 */
import { findPageName } from '../../src/apps/folders/page-names.ts'
import { listen } from './listen.ts'
import { field, type OwnFiles, text } from './messages.ts'

const urlCharsMax = 4_000

/** Storage of a page in a frame, for the time that it is there. */
const storage = `<script>for(const name of ['localStorage','sessionStorage']){
const kept=new Map(),area={getItem:(key)=>kept.get(String(key))??null,setItem:(key,value)=>void kept.set(String(key),String(value)),removeItem:(key)=>void kept.delete(String(key)),clear:()=>kept.clear(),key:(at)=>[...kept.keys()][at]??null,get length(){return kept.size}};
Object.defineProperty(window,name,{value:area,configurable:true})}document.currentScript.remove()</script>`

/**
 * Gives the scripts of a frame the location of its page at the root of a host, as
 * page-location.ts does for the page around it. This function is sent as text.
 */
function placeFrame(url: string, address: string): void {
  const { location } = window
  const here = new URL(url)
  const { origin } = here
  if (here.hash !== '') location.hash = here.hash
  here.hash = ''
  const to = (given: unknown): void => {
    const { href } = new URL(String(given), here)
    const path = href.slice(origin.length + 1)
    const isHere = href.split('#')[0] === here.href && href.includes('#')
    if (isHere) location.hash = href.replace(/[^#]*/, '')
    else location.assign(href.startsWith(`${origin}/`) ? address + path : href)
  }
  const stand: object = Object.create(Location.prototype)
  for (const name of ['origin', 'protocol', 'host', 'hostname', 'port'] as const)
    Object.defineProperty(stand, name, { value: here[name], enumerable: true })
  for (const name of ['href', 'pathname', 'search', 'hash'] as const) {
    const get = (): string => Object.assign(new URL(here), { hash: location.hash })[name]
    const set = (value: unknown): void =>
      to(name === 'href' ? value : Object.assign(new URL(here), { [name]: value }))
    Object.defineProperty(stand, name, { get, set, enumerable: true })
  }
  const toString = (): string => Reflect.get(stand, 'href')
  const methods = { assign: to, replace: to, reload: (): void => location.reload(), toString }
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(stand, name, { value })
  // The text of a frame has no URL that its history may change.
  for (const name of ['pushState', 'replaceState'] as const) {
    const change = History.prototype[name]
    History.prototype[name] = function (state: unknown, title: string, url?: string | URL | null) {
      change.call(this, state, title)
      if (url !== undefined && url !== null)
        Object.assign(here, { href: new URL(url, here), hash: '' })
    }
  }
  const within = (target: object): object =>
    new Proxy(target, {
      get: (_, name) => (name === 'location' ? stand : Reflect.get(target, name)),
      set: (_, name, value) =>
        name === 'location' ? Reflect.set(stand, 'href', value) : Reflect.set(target, name, value),
    })
  const known = new Map<unknown, object>([
    [location, stand],
    [window, within(window)],
    [document, within(document)],
  ])
  const value = (input: unknown): unknown => known.get(input)
  Object.defineProperty(window, 'folderPageLocation', { value, configurable: true })
  document.currentScript?.remove()
}

const quoted = (text: string): string => JSON.stringify(text).replaceAll('<', '\\u003c')

const frames = (): HTMLIFrameElement[] => [...document.querySelectorAll('iframe')]

/** Returns the frame that a link names as its target. */
export const findFrame = (target: string): HTMLIFrameElement | undefined =>
  frames().find((frame) => frame.name === target)

/** Shows pages of the folder in frames of this one. */
export function showInFrames({ address, page, names }: OwnFiles): void {
  const load = fetch.bind(window)
  const pages = new Set([page, ...names])
  /** The texts of frames that show a page of the folder. Those of the page itself stay. */
  const shown = new WeakMap<Node, string>()
  const show = async (frame: HTMLIFrameElement, url: URL): Promise<void> => {
    const path = decodeURIComponent(url.href.slice(address.length).replace(/[?#].*/, ''))
    const name = findPageName(pages, path)
    if (name === undefined) return
    const at = address + name.split('/').map(encodeURIComponent).join('/')
    const response = await load(at)
    if (!response.ok) return
    const html = await response.text()
    const base = at + url.search
    const own = [url.href.replace(address, `${url.origin}/`), address].map(quoted)
    const place = `<script>(${String(placeFrame)})(${own.join()})</script>`
    frame.srcdoc = `<base href="${base.replaceAll('"', '%22')}">${storage}${place}${html}`
    shown.set(frame, frame.srcdoc)
  }
  // A frame with a text of its own does not load another URL.
  new MutationObserver((records) => {
    for (const { target } of records)
      if (target instanceof HTMLIFrameElement && target.srcdoc === shown.get(target))
        target.removeAttribute('srcdoc')
  }).observe(document, { subtree: true, attributeFilter: ['src'] })
  listen(
    'message',
    (event) => {
      if (field(event.data, 'type') !== 'service:page') return
      const frame = frames().find(({ contentWindow }) => contentWindow === event.source)
      const url = URL.parse(text(event.data, 'url', urlCharsMax))
      if (!frame) return
      event.stopImmediatePropagation()
      if (url?.href.startsWith(address)) void show(frame, url).catch(() => undefined)
    },
    { capture: true },
  )
}
