import { attributeOf, rewriteTags, type Tag } from '../../src/apps/folders/page-tags.ts'
import { type CopiedMarkup, unescaped } from './copied-markup.ts'
import { rootImports, urlOfPage } from './file-urls.ts'
import { field, type OwnFiles, text } from './messages.ts'
import { isScript } from './scripts-text.ts'
import type { FilesDress } from './wrap.ts'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Returns the URL of a page: that of its name, or where its own base leads inside the folder. */
function baseOf(html: string, files: OwnFiles): string {
  const { address } = files
  const own = urlOfPage(files)
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
/** A style sheet, or a script or a style sheet that is loaded as it was preloaded. */
const isReadableLink = ({ name, text }: Tag): boolean =>
  name === 'link' &&
  (/^(?:script|style)$/i.test(attributeOf(text, 'as') ?? '') ||
    /\bstylesheet\b/i.test(attributeOf(text, 'rel') ?? ''))
/**
 * The opaque origin of a page can read the pixels of its own files, the rules of its style sheets,
 * and what its scripts throw, only with CORS.
 */
function withCors(tag: Tag, address: string): string {
  // Files need no credentials, and browsers reject the response to a request with some.
  const text = tag.text.replace(/(\scrossorigin)\s*=\s*["']?use-credentials["']?/i, '$1')
  const isReadable = readable.test(tag.name) || isReadableLink(tag)
  return isReadable &&
    !/\scrossorigin\b/i.test(text) &&
    isFile(tag, 'src|srcset|href|poster', address)
    ? text.replace(/^<\w+/, '$& crossorigin')
    : text
}

/** Returns whether a tag names a file by a relative URL, or by its address. */
function isFile({ text }: Tag, names: string, address: string): boolean {
  const url = attributeOf(text, `(?:${names})`)
  if (url === undefined) return false
  return url.startsWith(address) || !/^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i.test(url.trim())
}

const kept = ['rel', 'href', 'media', 'onload', 'onerror', 'title', 'id', 'class']

/**
 * Returns a style element in place of a link to a style sheet, since the fallback has no links.
 * Scripts find it as the link, and change its URL.
 */
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
  return `<style x-off-link${attributes.join('')}>@import url("${url}");</style>`
}

/**
 * The policy of a page would stop its files, which have another origin here, and scripts whose
 * lines the wrapper counts. That of the wrapper is stricter.
 */
const isPolicy = (tag: Tag): boolean => isMeta(tag, 'content-security-policy')
const isRefresh = (tag: Tag): boolean => isMeta(tag, 'refresh')
const isMeta = ({ name, text }: Tag, kind: string): boolean =>
  name === 'meta' && attributeOf(text, 'http-equiv')?.trim().toLowerCase() === kind

const pictured = /\.(?:svg|png|jpe?g|gif|webp|avif)(?:[?#]|$)/i
const shown = ['id', 'class', 'style', 'width', 'height', 'title']

/** Returns an image in place of an object or embed element that shows one: neither can load. */
function asImage({ name, text, body }: Tag, address: string): Tag | undefined {
  const source = { object: 'data', embed: 'src' }[name]
  const url = source === undefined ? undefined : attributeOf(text, source)
  if (source === undefined || url === undefined || !pictured.test(url)) return undefined
  if (!isFile({ name, text, body }, source, address)) return undefined
  const attributes = ['src', ...shown].flatMap((one) => {
    const value = one === 'src' ? url : attributeOf(text, one)
    return value === undefined ? [] : [` ${one}="${escaped(unescaped(value))}"`]
  })
  return { name: 'img', text: ['<img', ...attributes, '>'].join(''), body }
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

/** Resolves the names that inline scripts and handlers import: WebKit does from about:srcdoc. */
const withImports = (code: string, base: string): string =>
  code.replace(
    /\bimport\((\s*)(["'`])(\.{1,2}\/[^"'`$\n]+)\2/g,
    (_, space: string, quote: string, name: string) =>
      `import(${space}${quote}${new URL(name, base).href}${quote}`,
  )

const attributes = /\s([^\s"'=<>]+)\s*=\s*(?:"[^"]*"|'[^']*')/g

/** Resolves the names that a tag imports in a script that runs, and in handlers. */
function withOwnImports(tag: Tag, base: string): Tag {
  const isCode = tag.name === 'script' && isScript.test(attributeOf(tag.text, 'type')?.trim() ?? '')
  const text = tag.text.replace(attributes, (whole, name: string) =>
    /^on/i.test(name) ? withImports(whole, base) : whole,
  )
  return { ...tag, text, body: isCode ? withImports(tag.body, base) : tag.body }
}

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
    const [path, search] = [text(files, 'path', nameCharsMax), text(files, 'search', nameCharsMax)]
    return { address, page, path, hash, search, names, ...contents, isMapped: false }
  },
  dress(html, files, { needsFallback, hasLoader }) {
    const { address } = files
    const copied = openMarkup?.(files)
    // The loader has a map of its own, without the files of a copy.
    let isMapped = hasLoader && !copied
    const from = baseOf(html, files)
    const base = `<base href="${escaped(from)}">`
    const dressed = rewriteTags(html, (given) => {
      if (given.name === 'base' || isPolicy(given)) return ''
      // No location is a page in a copy, so the boot script follows this one.
      if (copied && isRefresh(given)) return given.text.replace(/^<meta/i, '<basefont x-off-meta')
      const tag = withOwnImports(asImage(given, address) ?? given, from)
      // What is in the object is for browsers that cannot show it.
      const rest = given.name === 'object' && tag.name === 'img' ? '<object hidden>' : ''
      const isMap = tag.name === 'script' && attributeOf(tag.text, 'type') === 'importmap'
      const style = needsFallback && tag.name === 'link' ? asStyle(tag, address) : undefined
      if (copied) {
        isMapped ||= isMap && !hasLoader
        return copied(tag, from, style) + rest
      }
      const map = isMap && !isMapped ? withRoot(tag.body, address) : undefined
      if (map !== undefined) {
        isMapped = true
        return tag.text + map
      }
      return style ?? withCors(tag, address) + tag.body + rest
    })
    return { html: dressed, base, isMapped }
  },
})
