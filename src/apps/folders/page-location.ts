/**
 * Lets scripts of a folder read the location that their page has on a static host, which routers
 * match their routes with. A page in the sandbox has another one, and no code can replace
 * `location`. So each read of its path becomes `(globalThis.pageLocation?.(location)??location)`:
 * the sandbox has that function (public/frame/page-location.ts), which answers for the location of
 * the window alone. Elsewhere, and for other objects of that name, the code does what it did.
 */
import { attributeOf, rewriteTags } from './page-tags.ts'

const chain = String.raw`(?<![\w$.])((?:[\w$]+\.){0,8}location)`
const reads = new RegExp(
  `${chain}(?=\\.(?:pathname|search)\\b(?!\\s*(?:=[^=]|\\+\\+|--|\\()))`,
  'g',
)
/** `let {pathname:a,search:b}=e.location`, as React Router has it. */
const parts = new RegExp(
  String.raw`(\{[^{}()]*\}\s*=\s*)((?:[\w$]+\.){0,8}location)\b(?![\w$.(\[])`,
  'g',
)
/** `this._location=window.location`, as Angular has it. */
const aliases = /(?<![=!<>])(=\s*)((?:window|self|globalThis|document)\.location)(?=\s*[;,)}\n])/g
/** `const{history:a,location:b}=window`, as Vue Router has it. */
const ofWindow =
  /(\{\s*(?:history|location)\s*(?::\s*[\w$]+\s*)?,\s*(?:history|location)\s*(?::\s*[\w$]+\s*)?\}\s*=\s*)window\b(?![\w$.(\[])/g

const own = (location: string): string => `(globalThis.pageLocation?.(${location})??${location})`

/** Returns code that reads the location of its folder; the same text where it reads none. */
function withPageLocation(code: string): string {
  if (!code.includes('location')) return code
  const inWindow = `{history:window.history,location:${own('window.location')}}`
  return code
    .replace(parts, (whole, start: string, location: string) =>
      /\bpathname\b/.test(start) ? start + own(location) : whole,
    )
    .replace(aliases, (_, start: string, location: string) => start + own(location))
    .replace(ofWindow, (_, start: string) => start + inWindow)
    .replace(reads, (_, location: string) => own(location))
}

/** Rewrites the scripts of a folder, and notes the files that it changed. */
export interface Locations {
  inHtml(html: string, name: string): string
  inScript(code: string, name: string): string
  changed: Set<string>
}

const codeType = /^(?:|module|(?:text|application)\/javascript)$/i
const isOwn = (tag: string, name: string): boolean =>
  !/^(?:[a-z][a-z\d+.-]*:|\/\/|$)/i.test(attributeOf(tag, name) ?? '')

/** Prepares the scripts of a folder. Those whose bytes the page pins by hashes stay. */
export function openLocations(page: string): Locations {
  const changed = new Set<string>()
  let hasPinnedFiles = false
  rewriteTags(page, ({ text }) => {
    const isPinned = attributeOf(text, 'integrity') !== undefined
    hasPinnedFiles ||= isPinned && (isOwn(text, 'src') || isOwn(text, 'href'))
    return ''
  })
  const note = (before: string, text: string, name: string): string => {
    if (text !== before) changed.add(name)
    return text
  }
  return {
    changed,
    inScript: (code, name) => (hasPinnedFiles ? code : note(code, withPageLocation(code), name)),
    inHtml(html, name) {
      // A policy of the page that names its scripts by hashes.
      if (/'sha(?:256|384|512)-/.test(html)) return html
      const text = rewriteTags(html, (tag) => {
        const isCode =
          tag.name === 'script' && codeType.test(attributeOf(tag.text, 'type')?.trim() ?? '')
        return tag.text + (isCode ? withPageLocation(tag.body) : tag.body)
      })
      return note(html, text, name)
    },
  }
}
