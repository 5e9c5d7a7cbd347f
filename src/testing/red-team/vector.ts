import type { Browser } from '../browsers/browser.ts'

/** One way out, tried in a page load of its own. */
export interface Vector {
  name: string
  /**
   * Markup that tries it. {http} {ws} {host} {stun} {turn} are its own canary, {name} a host
   * name that only it asks for, {self} an
   * address of the host that only it asks for, {mark} the end of that address.
   */
  page: string
  /** What shows that it got through; a connection to its canary when left out. */
  by?: 'lookup' | 'datagram' | 'told' | 'host' | 'native'
  /** What the person does in the middle of the page. */
  hand?: 'click' | 'middle' | 'Enter'
  /** Where an unprotected page gets through; everywhere when left out. */
  live?: Browser['name'][]
  /** The unprotected page must be the top document for it to work. */
  alone?: true
}

export const script = (text: string): string => `<script>${text}</script>`

/** The same as a module. */
export const module = (text: string): string => `<script type=module>${text}</script>`

/** What a guard could be blinded with, before a way out is tried. */
export const patches =
  "String.prototype.replace=function(){return''+this};Array.prototype.some=()=>false;" +
  'RegExp.prototype.test=()=>false;RegExp.prototype.exec=()=>null;' +
  'RegExp.prototype[Symbol.replace]=(text)=>text;' +
  "for(const name of['flags','global','unicode','sticky','hasIndices','ignoreCase'])" +
  "Object.defineProperty(RegExp.prototype,name,{get:()=>''});"
