/**
 * Lets scripts of a folder read the location that their page has on a static host, which routers
 * match their routes with. A page in the sandbox has another one, and no code can replace
 * `location`. So each read of its path becomes
 * `(globalThis.folderPageLocation?.(location)??location)`: the sandbox has that function
 * (public/frame/page-location.ts), which answers for the location of the window alone. Elsewhere,
 * and for other objects of that name, the code does what it did.
 */
import { isScript, pathFrom } from './page-names.ts'
import { attributeOf, rewriteTags } from './page-tags.ts'
import type { InputFile } from './unzip.ts'

/**
 * Scripts that are longer, or name more locations, stay as they are: the server answers no other
 * request while it reads one.
 */
export const locatedScriptMax = 2 * 1_048_576
const locationsMax = 2_000

/** Locations whose path is read, whose query is read or assigned, and those that may get a name. */
const candidates =
  /location(?:(?=\.(?:pathname|search)\b(?!\s*(?:[-+*/%&|^?]{0,2}=(?!=)|<<=|>>>?=|\+\+|--|\())|\.search\s*=(?!=))|(?![\w$.([:\x80-\uffff]))/g
const chain = /^(?:[\w$]+\.){0,8}location$/
const ofPage = /^(?:window|self|globalThis|document)\.location$/
/** `const{history:a,location:b}=window`, as Vue Router has it. */
const ofWindow =
  /(\{\s*(?:history|location)\s*(?::\s*[\w$]+\s*)?,\s*(?:history|location)\s*(?::\s*[\w$]+\s*)?\}\s*=\s*)window\b(?![\w$.(\[])/g

const own = (location: string): string =>
  `(globalThis.folderPageLocation?.(${location})??${location})`
const inWindow = `{history:window.history,location:${own('window.location')}}`
/** Finds what `own` made, also at the start of a line. */
const owned =
  /(?:globalThis\.Object)?\(globalThis\.folderPageLocation\?\.\(([\w$.]+)\)\?\?[\w$.]+\)/g

/** A location in a script. Nothing reads the text before `from` again, so the time is linear. */
interface Place {
  from: number
  start: number
  end: number
}

/** Returns code that reads the location of its folder; the same text where it reads none. */
function withPageLocation(code: string): string {
  if (code.length > locatedScriptMax || !code.includes('location')) return code
  const parts: string[] = []
  const next = new RegExp(candidates)
  let [from, done, count] = [0, 0, 0]
  while (next.test(code)) {
    count += 1
    if (count > locationsMax) return code
    const end = next.lastIndex
    const start = startOfName(code, end - 'location'.length, from)
    const location = code.slice(start, end)
    const place = { from, start, end }
    from = end
    const isRead = code[end] === '.'
    if (!chain.test(location) || !(isRead || isNamed(code, place, location))) continue
    // After a line without a semicolon a parenthesis would call its value.
    const before = isRead && beginsLine(code, place) ? 'globalThis.Object' : ''
    parts.push(code.slice(done, start), before, own(location))
    done = end
  }
  return (parts.join('') + code.slice(done)).replace(ofWindow, (_, start) => start + inWindow)
}

/** Returns the code that an author wrote, of which `openLocations` made this code. */
export const withoutPageLocation = (code: string): string =>
  code.replaceAll(inWindow, 'window').replace(owned, '$1')

/** Characters of names, and those that make a name another one, such as `#location`. */
const nameCodes = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w$.#\\]/.test(String.fromCharCode(code))),
)

function startOfName(code: string, end: number, from: number): number {
  let start = end
  while (start > from && nameCodes[code.charCodeAt(start - 1)] !== 0) start -= 1
  return start
}

/** Returns the index of the last character before `end` that is no space. */
function skipBlanks(code: string, end: number, from: number): number {
  let at = end - 1
  while (at >= from && code.charCodeAt(at) <= 32) at -= 1
  return at
}

/** Returns whether a line, or code after a comment that may contain one, begins here. */
function beginsLine(code: string, { from, start }: Place): boolean {
  const at = skipBlanks(code, start, from)
  return (
    /[\n\r]/.test(code.slice(at + 1, start)) || /(?:[^\0-~]|\*\/)$/.test(code.slice(at - 1, at + 1))
  )
}

/**
 * Returns whether code names the parts of a location, `let{pathname:a,search:b}=e.location` of
 * React Router, or that of the page, `this._location=window.location` of Angular.
 */
function isNamed(code: string, { from, start, end }: Place, location: string): boolean {
  const equals = skipBlanks(code, start, from)
  if (code[equals] !== '=') return false
  const before = skipBlanks(code, equals, from)
  if (code[before] === '}') {
    const text = code.slice(from, before)
    const parts = text.slice(text.lastIndexOf('{') + 1)
    if (parts.length < text.length && !/[}()]/.test(parts) && /\bpathname\b/.test(parts))
      return true
  }
  if (!ofPage.test(location) || /[=!<>]/.test(code[equals - 1] ?? '')) return false
  const follows = /\s*[;,)}\n]/y
  follows.lastIndex = end
  return follows.test(code)
}

/** Rewrites the scripts of a folder, and notes the files that it changed. */
export interface Locations {
  inHtml(html: string, name: string): string
  inScript(code: string, name: string): string
  /** Returns whether hashes pin the bytes of a file, which stays as it is then. */
  isPinned(path: string): boolean
  changed: Set<string>
}

const codeType = /^(?:|module|(?:text|application)\/javascript)$/i
/** A hash in code: a loader, such as that of webpack, or an import map pins what it loads. */
const hashInCode = /\bsha(?:256|384|512)-[\w+/]{43}/

/** A page of the folder. */
interface NamedPage {
  path: string
  text: string
}

/** Returns a function that tells whether hashes pin the bytes of a file. */
function openPins(pages: NamedPage[], files: InputFile[]): (path: string) => boolean {
  const pinned = new Set<string>()
  let isPinnedByCode = false
  for (const { path, text } of pages) {
    if (!/integrity/i.test(text)) continue
    rewriteTags(text, (tag) => {
      isPinnedByCode ||= tag.name === 'script' && hashInCode.test(tag.body)
      const url = attributeOf(tag.text, 'src') ?? attributeOf(tag.text, 'href')
      const hasHash = attributeOf(tag.text, 'integrity') !== undefined
      // A page with a base element names files from the root.
      if (hasHash && url !== undefined) pinned.add(pathFrom(path, url)).add(pathFrom('', url))
      return ''
    })
  }
  // That of another host.
  pinned.delete('')
  const textOf = ({ bytes }: InputFile): string => new TextDecoder().decode(bytes)
  isPinnedByCode ||=
    pinned.size > 0 && files.some((file) => isScript(file.path) && hashInCode.test(textOf(file)))
  return (path) => isPinnedByCode || pinned.has(path)
}

/** Prepares the scripts of a folder. */
export function openLocations(pages: NamedPage[] = [], files: InputFile[] = []): Locations {
  const changed = new Set<string>()
  const note = (before: string, text: string, name: string): string => {
    if (text !== before) changed.add(name)
    return text
  }
  return {
    changed,
    isPinned: openPins(pages, files),
    inScript: (code, name) => note(code, withPageLocation(code), name),
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
