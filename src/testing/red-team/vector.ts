import type { Browser } from '../browsers/browser.ts'

/** One way to send data out, tried in a page load of its own. */
export interface Vector {
  name: string
  /**
   * Markup of the attempt. {http} {ws} {host} {stun} {turn} are addresses of its own canary,
   * {name} a unique host name, {self} a unique address of the host, {mark} the end of that
   * address, {at} the host with its port. {other} is the address of a file of another app,
   * {version} that of a file of another version of the same app, and {guess} that of a token that
   * nobody made. {own} is the start of the addresses of the page's own files. {cdn} is the start of
   * library URLs: of a CDN in the sandbox, of the canary where the page is unprotected. {library}
   * is the address of a library file that another app uses.
   */
  page: string
  /** Evidence that it got through. Default: a connection to its canary. */
  by?: 'lookup' | 'datagram' | 'told' | 'host' | 'native'
  /** User input at the center of the page. */
  hand?: 'click' | 'middle' | 'Enter'
  /** Browsers in which an unprotected page gets through. Default: all. */
  live?: Browser['name'][]
  /** The page has libraries. `removed`: their files are gone when the page asks for them. */
  libraries?: 'there' | 'removed'
  /** The page has a file, and so the address of its files. */
  hasFiles?: true
  /** Its own files by name, with the words of `page`. */
  own?: Record<string, string>
  /** Browsers have this feature only in a secure context. */
  isSecureOnly?: true
  /** Runs in the thorough run only. */
  isThorough?: true
  /** Works only if the unprotected page is the top document. */
  alone?: true
}

export const script = (text: string): string => `<script>${text}</script>`

/** Returns a module script. */
export const module = (text: string): string => `<script type=module>${text}</script>`

/** Changes to built-in methods that could disable a filter. */
export const patches =
  "String.prototype.replace=function(){return''+this};Array.prototype.some=()=>false;" +
  'RegExp.prototype.test=()=>false;RegExp.prototype.exec=()=>null;' +
  'RegExp.prototype[Symbol.replace]=(text)=>text;' +
  "for(const name of['flags','global','unicode','sticky','hasIndices','ignoreCase'])" +
  "Object.defineProperty(RegExp.prototype,name,{get:()=>''});"
