import { attributeOf, rewriteTags, type Tag } from '../../src/apps/folders/page-tags.ts'
import { type CopiedMarkup, unescaped } from './copied-markup.ts'
import { rootImports } from './file-urls.ts'
import { field, type OwnFiles, text } from './messages.ts'
import type { FilesDress } from './wrap.ts'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Returns the URL of a page: that of its name, or where its own base leads inside the folder. */
function baseOf(html: string, { address, page }: OwnFiles): string {
  const own = address + page.split('/').map(encodeURIComponent).join('/')
  let given: string | undefined
  rewriteTags(html, (tag) => {
    if (tag.name === 'base') given ??= attributeOf(tag.text, 'href')
    return ''
  })
  if (given === undefined) return own
  // The root of the host is that of the folder.
  const url = URL.parse(given.replace(/^\/(?!\/)/, address), own)
  return url?.href.startsWith(address) ? url.href : own
}

const readable = /^(?:img|audio|video|image|script)$/
/** A script is loaded as it was preloaded. */
const isScriptPreload = (tag: Tag): boolean =>
  tag.name === 'link' && /^script$/i.test(attributeOf(tag.text, 'as') ?? '')
/**
 * The opaque origin of a page can read the pixels of its own files, and what their scripts throw,
 * only with CORS.
 */
const withCors = (tag: Tag, address: string): string =>
  (readable.test(tag.name) || isScriptPreload(tag)) &&
  !/\scrossorigin\b/i.test(tag.text) &&
  isFile(tag, 'src|srcset|href|poster', address)
    ? tag.text.replace(/^<\w+/, '$& crossorigin')
    : tag.text

/** Returns whether a tag names a file by a relative URL, or by its address. */
function isFile({ text }: Tag, names: string, address: string): boolean {
  const url = attributeOf(text, `(?:${names})`)
  if (url === undefined) return false
  return url.startsWith(address) || !/^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i.test(url.trim())
}

const kept = ['media', 'onload', 'onerror', 'title', 'id', 'class']

/** Returns a style element in place of a link to a style sheet, since the fallback has no links. */
function asStyle(tag: Tag, address: string): string | undefined {
  const { text } = tag
  const rel = attributeOf(text, 'rel') ?? ''
  const isSheet = /\bstylesheet\b/i.test(rel) && !/\balternate\b/i.test(rel)
  const isPreload = /\bpreload\b/i.test(rel) && /^style$/i.test(attributeOf(text, 'as') ?? '')
  if (!(isSheet || isPreload) || !isFile(tag, 'href', address)) return undefined
  const url = unescaped(attributeOf(text, 'href') ?? '')
  if (/[<>"\\\n]/.test(url)) return undefined
  const attributes = kept.flatMap((name) => {
    const value = attributeOf(text, name)
    // A preload becomes a style sheet by its handler, which this one is already.
    const isSwitch = isPreload && name === 'onload'
    return value === undefined || isSwitch ? [] : [` ${name}="${escaped(unescaped(value))}"`]
  })
  return `<style${attributes.join('')}>@import url("${url}");</style>`
}

/**
 * Makes the names from the root of the host in an import map those of the folder, and adds that
 * root to it; undefined for a malformed one.
 */
function withRoot(map: string, address: string): string | undefined {
  const fromRoot = (name: string): string => name.replace(/^\/(?!\/)/, address)
  const rooted = (names: unknown): object =>
    Object.fromEntries(
      Object.entries(Object(names)).map(([name, to]) => [
        name,
        typeof to === 'string' ? fromRoot(to) : to,
      ]),
    )
  try {
    const parsed: unknown = JSON.parse(map)
    const imports = { ...rootImports(address), ...rooted(field(parsed, 'imports')) }
    const scopes = Object.entries(Object(field(parsed, 'scopes'))).map(([scope, names]) => [
      fromRoot(scope),
      rooted(names),
    ])
    const merged = { ...Object(parsed), imports, scopes: Object.fromEntries(scopes) }
    return JSON.stringify(merged).replaceAll('<', '\\u003c')
  } catch {
    return undefined
  }
}

/** Resolves the names that the inline script of SvelteKit imports. */
const withImports = (script: string, base: string): string =>
  script.replace(
    /\bimport\("(\.{1,2}\/[^"]+)"\)/g,
    (_, name: string) => `import(${JSON.stringify(new URL(name, base).href)})`,
  )

const nameCharsMax = 4_000

/**
 * Prepares pages whose files have an address: that of this wrapper, unless the shell names it. In
 * an offline copy `openMarkup` replaces what the tags load.
 */
export const filesDress = (openMarkup?: (files: OwnFiles) => CopiedMarkup): FilesDress => ({
  read(message) {
    const files = field(message, 'files')
    const names = field(files, 'names')
    if (!Array.isArray(names)) return undefined
    const [page, hash] = [text(files, 'page', nameCharsMax), text(files, 'hash', nameCharsMax)]
    const address = text(files, 'address', nameCharsMax) || location.href.replace(/\?.*/, '')
    const given = field(files, 'contents')
    const contents = Array.isArray(given) ? { contents: given } : {}
    const search = text(files, 'search', nameCharsMax)
    return { address, page, hash, search, names, ...contents, isMapped: false, isSvelteKit: false }
  },
  dress(html, files, { needsFallback, hasLoader }) {
    const { address } = files
    const copied = openMarkup?.(files)
    // The loader has a map of its own, without the files of a copy.
    let isMapped = hasLoader && !copied
    const from = baseOf(html, files)
    const base = `<base href="${escaped(from)}">`
    const isSvelteKit = html.includes('__sveltekit_')
    const dressed = rewriteTags(html, (tag) => {
      if (tag.name === 'base') return ''
      const isMap = tag.name === 'script' && attributeOf(tag.text, 'type') === 'importmap'
      const style = needsFallback && tag.name === 'link' ? asStyle(tag, address) : undefined
      // WebKit resolves these names of inline scripts from about:srcdoc.
      const hasImports = isSvelteKit && tag.name === 'script'
      const body = hasImports ? withImports(tag.body, from) : tag.body
      if (copied) {
        isMapped ||= isMap && !hasLoader
        return copied({ ...tag, body }, from, style)
      }
      const map = isMap && !isMapped ? withRoot(tag.body, address) : undefined
      if (map !== undefined) {
        isMapped = true
        return tag.text + map
      }
      if (hasImports) return tag.text + body
      return style ?? withCors(tag, address) + tag.body
    })
    return { html: dressed, base, isMapped, isSvelteKit }
  },
})
