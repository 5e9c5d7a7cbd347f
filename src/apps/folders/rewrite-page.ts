import { attributeOf, type Tag, withoutAttributes } from './page-tags.ts'

/** A file of a folder or zip. This module runs on the server and in the browser. */
export interface PageFile {
  path: string
  bytes: Uint8Array
}

/** The files of a page by their role, with paths relative to the page. */
export interface SortedFiles {
  byPath: Map<string, PageFile>
  /** Asset names by path. */
  names: Map<string, string>
  /** Data URLs of files that assets cannot hold, by path. */
  inlined: Map<string, string>
  /** Files that the page names or that scripts can load, and the page itself. */
  used: Set<PageFile>
  /** Scripts to run after the page is parsed. */
  deferred: string[]
  problems: string[]
  /** Counts characters of the page. Returns '' instead of a text that no longer fits. */
  add(text: string): string
  isFull(): boolean
}

/** Resolves a relative reference from a folder: ("css/", "../img/a.png") is "img/a.png". */
function resolvePath(folder: string, reference: string): string {
  const parts: string[] = []
  const [path = ''] = reference.split(/[?#]/)
  for (const part of (path.startsWith('/') ? path : folder + path).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(decodePart(part))
  }
  return parts.join('/').normalize('NFC')
}

/** Decodes a part of a reference once. A page may name "100%.png" without encoding it. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

const cssUrl = /url\(\s*(?:"([^"()]*)"|'([^'()]*)'|([^"'()\s]+))\s*\)/g

/** Replaces `url()` of a style: custom properties stand for assets. */
const rewriteStyle = (css: string, folder: string, { names, inlined, add }: SortedFiles): string =>
  css.replaceAll(cssUrl, (whole, double?: string, single?: string, bare?: string) => {
    const path = resolvePath(folder, double ?? single ?? bare ?? '')
    const [url, name] = [inlined.get(path), names.get(path)]
    if (url !== undefined) return add(`url("${url}")`)
    return name === undefined ? whole : `var(--file-${name.replaceAll('.', '-')})`
  })

const reference = /\s(src|poster|href)\s*=\s*(["'])([^"']+)\2/gi

/** Marks an element that shows an asset, or gives it the data URL of a file. */
const rewriteReferences = (tag: string, { names, inlined, add }: SortedFiles): string =>
  tag.replaceAll(reference, (whole, attribute: string, _: string, given: string) => {
    const path = resolvePath('', given)
    const [url, name] = [inlined.get(path), names.get(path)]
    if (url !== undefined) return add(` ${attribute}="${url}"`)
    return name === undefined ? whole : ` data-file-${attribute}="${name}"`
  })

/** Returns the text of a file that the page names; undefined for other references. */
function read(given: string | undefined, { byPath, used, add, isFull }: SortedFiles) {
  const file = given === undefined ? undefined : byPath.get(resolvePath('', given))
  if (!file) return undefined
  used.add(file)
  return isFull() ? '' : add(new TextDecoder().decode(file.bytes))
}

const uselessLink = /^(icon|manifest|apple-touch-icon|shortcut|preload|modulepreload)/i

function rewriteLink(tag: string, sorted: SortedFiles): string {
  const rel = attributeOf(tag, 'rel') ?? ''
  if (uselessLink.test(rel)) return ''
  const href = attributeOf(tag, 'href')
  const css = /\bstylesheet\b/i.test(rel) ? read(href, sorted) : undefined
  if (css === undefined || href === undefined) return rewriteReferences(tag, sorted)
  const media = attributeOf(tag, 'media')?.replaceAll('"', '')
  const style = rewriteStyle(css, folderOf(href), sorted).replaceAll(/<\/(style)/gi, '<\\/$1')
  return `<style${media === undefined ? '' : ` media="${media}"`}>\n${style}\n</style>`
}

const importsFile = /^[ \t]*(?:import|export)\b[^'"\n]*['"](\.{1,2}\/[^'"\n]+)/m

/** Notes that a script would not load: it imports another file of the folder. */
function checkImports(code: string, src: string | undefined, sorted: SortedFiles): void {
  const imported = importsFile.exec(code)?.[1]
  if (imported === undefined) return
  const path = resolvePath(src === undefined ? '' : folderOf(src), imported)
  if (!sorted.byPath.has(path)) return
  const script = src ?? 'A script of the page'
  sorted.problems.push(`${script} imports ${imported}. Bundle the scripts into one file first.`)
}

function rewriteScript({ text, body }: Tag, sorted: SortedFiles): string {
  const src = attributeOf(text, 'src')
  const code = read(src, sorted)
  checkImports(code ?? body, code === undefined ? undefined : src, sorted)
  if (code === undefined) return text + body
  const safe = code.replaceAll(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '<\\!--')
  const script = `${withoutAttributes(text, 'src|async|defer|integrity|crossorigin')}\n${safe}\n`
  const isModule = attributeOf(text, 'type')?.toLowerCase() === 'module'
  if (isModule || !/\s(?:async|defer)\b/i.test(text)) return script
  // An inline script runs at once, and this one may need the elements after it.
  sorted.deferred.push(`${script}</script>`)
  return '<script>'
}

/** Rewrites one tag of a page with its raw text. */
export function rewriteTag(tag: Tag, sorted: SortedFiles): string {
  const { name, text, body } = tag
  if (sorted.isFull()) return ''
  if (name === 'script') return rewriteScript(tag, sorted)
  if (name === 'link') return rewriteLink(text, sorted)
  if (name === 'style') return text + rewriteStyle(body, '', sorted)
  return rewriteReferences(text, sorted) + body
}
