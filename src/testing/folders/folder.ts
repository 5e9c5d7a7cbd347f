import { unzip } from '../../apps/folders/unzip.ts'
import type { Tab } from '../browsers/browser.ts'

/** A folder as people bring it, whose pages post what they found. */
export interface Folder {
  name: string
  files: Record<string, string | Uint8Array>
  /** The messages that its pages post, in order. */
  says: unknown[]
  /** User input after so many messages. */
  act?: { after: number; run(tab: Tab): Promise<void> }[]
  /** Style sheets of CDNs that its own ones import. */
  sheets?: string[]
  /** It is too large for the repository, and slow. */
  isLarge?: true
  /** Browsers in which it cannot run, each with the reason. */
  except?: Partial<Record<'chromium' | 'firefox' | 'webkit', string>>
  /** Browsers in which its offline copy finds something else, each with the reason. */
  exceptInCopy?: Folder['except']
}

/** Returns one reason for all browsers. */
export const everywhere = (reason: string): Folder['except'] => ({
  chromium: reason,
  firefox: reason,
  webkit: reason,
})

/** Returns a page with a script that posts the value of an expression. */
export const page = (body: string, expression?: string): string =>
  `<!doctype html><html><head><meta charset=utf-8><title>t</title></head><body>${body}${
    expression === undefined ? '' : `<script type=module>${post(expression)}</script>`
  }</body></html>`

/** Returns code that posts the value of an expression. */
export const post = (expression: string): string =>
  `try{top.postMessage({said:await(${expression})},'*')}catch(e){top.postMessage({said:String(e)},'*')}`

/** Returns a promise of an element's load, as code. */
export const loads = (element: string): string =>
  `new Promise((done)=>{const e=${element};e.onload=()=>done('loaded');e.onerror=()=>done('failed')})`

/** Reads a zip as the server does. */
export async function filesOf(zip: Uint8Array): Promise<Record<string, Uint8Array>> {
  const found = await unzip(zip, { bytesMax: 100 * 1_048_576, filesMax: 2_000 })
  if (!('files' in found)) throw new Error(JSON.stringify(found))
  return Object.fromEntries(found.files.map(({ path, bytes }) => [path, bytes]))
}
