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
    frame.srcdoc = `<base href="${base.replaceAll('"', '%22')}">${storage}${html}`
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
