import { htmlBytesMax } from '../../kernel/limits.ts'
import { fileLoader } from './file-loader.ts'
import { rewriteTags } from './page-tags.ts'
import { inOtherForms, pathKey, unsafePathProblem } from './paths.ts'
import { folderOf, type PageFile, rewriteTag, type SortedFiles } from './rewrite-page.ts'

/**
 * One page with the files that become its assets, and the paths that nothing names; or the problem
 * of the folder.
 */
export type PackedPage =
  { html: string; assets: PageFile[]; unused: string[] } | { problem: string }

const assetTypes = /\.(png|jpe?g|webp|gif|mp3|ogg|wav|m4a|json)$/i
const inlineTypes = new Map<string, string>(
  Object.entries({
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
  }),
)

const extensionOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''

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

/** Returns what is wrong with the paths of a folder. No path leaves it, whatever reads the app. */
function pathProblem(files: PageFile[]): string | undefined {
  const seen = new Set<string>()
  for (const { path } of files) {
    const shown = JSON.stringify(path.slice(0, 200))
    const unsafe = unsafePathProblem(path)
    if (unsafe !== undefined) return `The path ${shown} is invalid: ${unsafe}.`
    if (seen.size === seen.add(pathKey(path)).size) {
      return `The path ${shown} is there twice, ${inOtherForms}. Rename one file.`
    }
  }
  return undefined
}

/** Finds the page of a folder: its only HTML file, or the topmost index.html. */
function findPage(files: PageFile[]): PageFile | { problem: string } {
  const pages = files.filter(({ path }) => /\.html?$/i.test(path))
  const depthOf = ({ path }: PageFile): number => path.split('/').length
  const indexes = pages
    .filter(({ path }) => /(^|\/)index\.html?$/i.test(path))
    .toSorted((a, b) => depthOf(a) - depthOf(b))
  const [first, second] = pages.length === 1 ? pages : indexes
  if (first && !(second && depthOf(first) === depthOf(second))) return first
  return {
    problem:
      pages.length === 0
        ? 'There is no HTML file. Add index.html.'
        : 'There are several HTML files. Name the one to publish index.html, at the top.',
  }
}

function sortFiles(files: PageFile[], page: PageFile) {
  const root = folderOf(page.path)
  let free = htmlBytesMax - page.bytes.length
  const assets: PageFile[] = []
  const sorted: SortedFiles = {
    byPath: new Map(),
    names: new Map(),
    inlined: new Map(),
    used: new Set([page]),
    deferred: [],
    problems: [],
    add: (text) => ((free -= text.length) < 0 ? '' : text),
    isFull: () => free < 0,
  }
  for (const file of files) {
    if (file === page || !file.path.startsWith(root)) continue
    const path = file.path.slice(root.length)
    sorted.byPath.set(path, file)
    const type = inlineTypes.get(extensionOf(path))
    if (assetTypes.test(path)) {
      sorted.names.set(path, assetNameOf(path))
      assets.push({ path: assetNameOf(path), bytes: file.bytes })
      sorted.used.add(file)
    } else if (type !== undefined && file.bytes.length < htmlBytesMax) {
      sorted.inlined.set(path, sorted.isFull() ? '' : sorted.add(dataUrl(type, file.bytes)))
      sorted.used.add(file)
    }
  }
  return { assets, sorted }
}

/**
 * Turns a folder with one page into a page and assets. Scripts and styles become part of the page;
 * references to images, audio and JSON lead to the assets, also those of scripts. The page may grow
 * to the most that an app may have, however often it names a file.
 */
export function packPage(all: PageFile[]): PackedPage {
  const found = all.map(({ path, bytes }) => ({
    path: path.replace(/^(?:\.\/)+/, '').normalize('NFC'),
    bytes,
  }))
  const invalid = pathProblem(found)
  if (invalid !== undefined) return { problem: invalid }
  const files = found.filter(({ path }) => !isHidden(path))
  const page = findPage(files)
  if ('problem' in page) return page
  if (page.bytes.length > htmlBytesMax) return { problem: tooLarge }
  const { assets, sorted } = sortFiles(files, page)
  const seen = new Set<string>()
  const twice = assets.find(({ path }) => seen.size === seen.add(path).size)
  if (twice) return { problem: `Two files would have the name ${twice.path}. Rename one.` }
  const html = new TextDecoder().decode(page.bytes)
  const rewritten = rewriteTags(html, (tag) => rewriteTag(tag, sorted))
  const { names, inlined, deferred, problems } = sorted
  const [problem = sorted.isFull() ? tooLarge : undefined] = problems
  if (problem !== undefined) return { problem }
  const complete = [rewritten, ...deferred].join('\n')
  const needsLoader = names.size + inlined.size > 0
  return {
    html: needsLoader
      ? insertLoader(complete, fileLoader(Object.fromEntries(names), Object.fromEntries(inlined)))
      : complete,
    assets,
    unused: files.filter((file) => !sorted.used.has(file)).map(({ path }) => path),
  }
}

const tooLarge =
  'The page with its scripts, styles, fonts and SVG has more than 4 MB. Make it smaller, or use ' +
  'images, audio and JSON, which stay files.'

/** Puts a script before the first script or style of a page. */
function insertLoader(html: string, loader: string): string {
  const head = /<head\b[^<>]*>|<!doctype[^<>]*>(\s*<html\b[^<>]*>)?/i.exec(html)
  const at = head ? head.index + head[0].length : 0
  return `${html.slice(0, at)}\n${loader}\n${html.slice(at)}`
}
