import { fileLoader } from './file-loader.ts'

/** A file of a dropped folder or zip. This module runs on the server and in the browser. */
export interface PageFile {
  path: string
  bytes: Uint8Array
}

/** One page with the files that become its assets, or the problem of the folder. */
export type PackedPage = { html: string; assets: PageFile[] } | { problem: string }

const assetTypes = /\.(png|jpe?g|webp|gif|mp3|ogg|wav|json)$/i
const inlineTypes: Record<string, string> = {
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  woff: 'font/woff',
  ttf: 'font/ttf',
  otf: 'font/otf',
  txt: 'text/plain',
  csv: 'text/csv',
  xml: 'application/xml',
  glsl: 'text/plain',
  wasm: 'application/wasm',
  m4a: 'audio/mp4',
}
const decoder = new TextDecoder()

const extensionOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''

/** Resolves a relative reference from a folder: ("css/", "../img/a.png") is "img/a.png". */
function resolvePath(folder: string, reference: string): string {
  const parts: string[] = []
  const [path = ''] = reference.split(/[?#]/)
  for (const part of (path.startsWith('/') ? path : folder + path).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const joined = parts.join('/')
  try {
    return decodeURI(joined)
  } catch {
    return joined
  }
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

/** Returns the name of an asset: a path in the characters of asset names. */
const assetNameOf = (path: string): string =>
  path
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(-60)
    .replace(/^[^a-z0-9]+/, '')

function dataUrl(type: string, bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8_192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  }
  return `data:${type};base64,${btoa(binary)}`
}

const isHidden = (path: string): boolean => /(^|\/)(\.|__MACOSX\/|Thumbs\.db$)/.test(path)

/** Finds the page of a folder: its only HTML file, or the topmost index.html. */
function findPage(files: PageFile[]): PageFile | { problem: string } {
  const pages = files.filter(({ path }) => /\.html?$/i.test(path))
  const indexes = pages
    .filter(({ path }) => /(^|\/)index\.html?$/i.test(path))
    .toSorted((a, b) => a.path.split('/').length - b.path.split('/').length)
  const page = pages.length === 1 ? pages[0] : indexes[0]
  if (page) return page
  return {
    problem:
      pages.length === 0
        ? 'There is no HTML file.'
        : 'There are several HTML files. Name the one to publish index.html.',
  }
}

/** The files of a page by their role, with paths relative to the page. */
interface SortedFiles {
  byPath: Map<string, PageFile>
  assets: PageFile[]
  /** Asset names by path. */
  names: Record<string, string>
  /** Data URLs of files that assets cannot hold, by path. */
  inlined: Record<string, string>
}

function sortFiles(files: PageFile[], page: PageFile): SortedFiles {
  const root = folderOf(page.path)
  const byPath = new Map<string, PageFile>()
  const sorted: SortedFiles = { byPath, assets: [], names: {}, inlined: {} }
  for (const file of files) {
    if (file === page || !file.path.startsWith(root)) continue
    const path = file.path.slice(root.length)
    byPath.set(path, file)
    const type = inlineTypes[extensionOf(path)]
    if (assetTypes.test(path)) {
      sorted.names[path] = assetNameOf(path)
      sorted.assets.push({ path: assetNameOf(path), bytes: file.bytes })
    } else if (type !== undefined) sorted.inlined[path] = dataUrl(type, file.bytes)
  }
  return sorted
}

/** Replaces `url()` of a style: custom properties stand for assets. */
const rewriteStyle = (css: string, folder: string, { names, inlined }: SortedFiles): string =>
  css.replaceAll(/url\(\s*(['"]?)([^'")]+)\1\s*\)/g, (whole, _, reference: string) => {
    const path = resolvePath(folder, reference)
    if (inlined[path] !== undefined) return `url("${inlined[path]}")`
    return names[path] === undefined ? whole : `var(--file-${names[path].replaceAll('.', '-')})`
  })

const importsFiles = /^\s*(import|export)\b[^'"\n]*['"]\.{1,2}\//m

/** Inlines the scripts and styles of a page, and marks the elements that show assets. */
function rewritePage(html: string, sorted: SortedFiles): { html: string } | { problem: string } {
  const { byPath, names, inlined } = sorted
  const textOf = (reference: string): string | undefined => {
    const file = byPath.get(resolvePath('', reference))
    return file && decoder.decode(file.bytes)
  }
  let problem: string | undefined
  const rewritten = html
    .replaceAll(/<link\b[^>]*>/gi, (tag) => {
      const href = /\bhref\s*=\s*["']?([^"'\s>]+)/i.exec(tag)?.[1] ?? ''
      if (/\brel\s*=\s*["']?(icon|manifest|apple-touch-icon|shortcut|preload)/i.test(tag)) return ''
      const css = /stylesheet/i.test(tag) ? textOf(href) : undefined
      return css === undefined
        ? tag
        : `<style>\n${rewriteStyle(css, folderOf(href), sorted)}\n</style>`
    })
    .replaceAll(scriptTag, (tag, start: string, reference: string, end: string) => {
      const code = textOf(reference)
      if (code === undefined) return tag
      if (importsFiles.test(code)) {
        problem = `${reference} imports other files. Bundle the scripts into one file first.`
      }
      const safe = code.replaceAll(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '<\\!--')
      return `${start}${end.replaceAll(/\s(async|defer)\b/gi, '')}>\n${safe}\n</script>`
    })
    .replaceAll(
      styleTag,
      (_, start: string, css: string) => `${start}${rewriteStyle(css, '', sorted)}`,
    )
    .replaceAll(referenceAttribute, (whole, name: string, _: string, reference: string) => {
      const path = resolvePath('', reference)
      if (inlined[path] !== undefined) return ` ${name}="${inlined[path]}"`
      return names[path] === undefined ? whole : ` data-file-${name}="${names[path]}"`
    })
  return problem === undefined ? { html: rewritten } : { problem }
}

const scriptTag = /(<script\b[^>]*?)\ssrc\s*=\s*["']?([^"'\s>]+)["']?([^>]*)>\s*<\/script>/gi
const styleTag = /(<style\b[^>]*>)(.*?)(?=<\/style>)/gis
const referenceAttribute = /\s(src|poster|href)\s*=\s*(["'])([^"']+)\2/gi

/**
 * Turns a folder with one page into a page and assets. Scripts and styles become part of the page;
 * references to images, audio and JSON lead to the assets, also those of scripts.
 */
export function packPage(all: PageFile[]): PackedPage {
  const files = all.filter(({ path }) => !isHidden(path))
  const page = findPage(files)
  if ('problem' in page) return page
  const sorted = sortFiles(files, page)
  const { assets, names, inlined } = sorted
  const seen = new Set<string>()
  const twice = assets.find(({ path }) => seen.size === seen.add(path).size)
  if (twice) return { problem: `Two files would have the name ${twice.path}.` }
  const rewritten = rewritePage(decoder.decode(page.bytes), sorted)
  if ('problem' in rewritten) return rewritten
  const needsLoader = assets.length > 0 || Object.keys(inlined).length > 0
  const loader = fileLoader(names, inlined)
  return { html: needsLoader ? insertLoader(rewritten.html, loader) : rewritten.html, assets }
}

/** Puts a script before the first script or style of a page. */
function insertLoader(html: string, loader: string): string {
  const head = /<head\b[^>]*>|<!doctype[^>]*>(\s*<html\b[^>]*>)?/i.exec(html)
  const at = head ? head.index + head[0].length : 0
  return `${html.slice(0, at)}\n${loader}\n${html.slice(at)}`
}
