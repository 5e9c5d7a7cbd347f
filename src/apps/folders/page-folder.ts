import { htmlBytesMax } from '../../kernel/limits.ts'
import { findPage, isHtml, sourceProblem } from './find-page.ts'
import { inOtherForms, pathKey, unsafePathProblem } from './paths.ts'
import { openRootedNames } from './rooted-names.ts'

/** A file of a folder or zip. This module runs on the server and in the browser. */
export interface PageFile {
  path: string
  bytes: Uint8Array
}

/** A page with the files of its folder; or the problem of the folder. */
export type PageFolder =
  | {
      /** Name of the page in its folder. */
      page: string
      html: string
      /** The other files, with paths relative to the page. */
      files: PageFile[]
      /** Names that began with a slash and are relative now. */
      rooted: string[]
      /** Paths outside the folder of the page, which are left out. */
      outside: string[]
    }
  | { problem: string }

const isHidden = (path: string): boolean => /(^|\/)(\.|__MACOSX\/|Thumbs\.db$)/.test(path)

/** Returns what is wrong with the paths of a folder. No path leaves it, whatever reads the app. */
function pathProblem(files: PageFile[]): string | undefined {
  const seen = new Set<string>()
  for (const { path } of files) {
    const shown = JSON.stringify(path.slice(0, 200))
    const unsafe = unsafePathProblem(path)
    if (unsafe !== undefined) return `The path ${shown} is invalid: ${unsafe}.`
    if (path.length > pathCharsMax) {
      return `The path ${shown} has more than ${pathCharsMax} characters. Shorten it.`
    }
    if (seen.size === seen.add(pathKey(path)).size) {
      return `The path ${shown} is there twice, ${inOtherForms}. Rename one file.`
    }
  }
  return undefined
}

const pathCharsMax = 240

const isCss = (path: string): boolean => /\.css$/i.test(path)

/** Reads a folder with one page. Its other files stay files, as on a static host. */
export function readPageFolder(all: PageFile[]): PageFolder {
  const found = all.map(({ path, bytes }) => ({
    path: path.replace(/^(?:\.\/)+/, '').normalize('NFC'),
    bytes,
  }))
  const invalid = pathProblem(found)
  if (invalid !== undefined) return { problem: invalid }
  const visible = found.filter(({ path }) => !isHidden(path))
  const page = findPage(visible, found)
  if ('problem' in page) return page
  if (page.bytes.length > htmlBytesMax) return { problem: tooLarge }
  const root = page.path.slice(0, page.path.lastIndexOf('/') + 1)
  const inside = visible
    .filter(({ path }) => path.startsWith(root))
    .map(({ path, bytes }) => ({ path: path.slice(root.length), bytes }))
  const outside = visible.map(({ path }) => path).filter((path) => !path.startsWith(root))
  const rooted = openRootedNames(new Set(inside.map(({ path }) => path)))
  const name = page.path.slice(root.length)
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
  const text = decode(page.bytes)
  const source = sourceProblem(text, (path) => inside.some((file) => file.path === path))
  if (source !== undefined) return { problem: source }
  const files = inside
    .filter(({ path }) => path !== name)
    .map(({ path, bytes }) => {
      const before = isHtml(path) || isCss(path) ? decode(bytes) : ''
      const text = isHtml(path) ? rooted.inHtml(before, path) : rooted.inCss(before, path)
      return { path, bytes: text === before ? bytes : new TextEncoder().encode(text) }
    })
  const html = rooted.inHtml(text, name)
  return { page: name, html, files, rooted: [...rooted.changed], outside }
}

const tooLarge =
  'The page has more than 4 MB. Move scripts, styles and data into files of their own.'
