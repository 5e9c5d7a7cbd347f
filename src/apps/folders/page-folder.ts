import { htmlBytesMax } from '../../kernel/limits.ts'
import { type DecodedText, decodePage, toUtf8 } from './charset.ts'
import { findPage, sourceProblem } from './find-page.ts'
import { locatedScriptMax, type Locations, openLocations } from './page-location.ts'
import { isCss, isHtml, isScript, pathFrom } from './page-names.ts'
import { inOtherForms, pathKey, unsafePathProblem } from './paths.ts'
import { openRootedNames, type RootedNames } from './rooted-names.ts'
import type { InputFile } from './unzip.ts'

/** A page with the files of its folder; or the problem of the folder. */
export type PageFolder =
  | {
      /** Name of the page in its folder. */
      page: string
      html: string
      /** The other files, with paths relative to the page. */
      files: InputFile[]
      /** Names that began with a slash and are relative now. */
      rooted: string[]
      /** Scripts and pages whose code reads the location that it has on a static host. */
      located: string[]
      /** Paths outside the folder of the page, which are left out. */
      outside: string[]
    }
  | { problem: string }

const isHidden = (path: string): boolean => /(^|\/)(\.|__MACOSX\/|Thumbs\.db$)/.test(path)

/** Returns what is wrong with the paths of a folder. No path leaves it, whatever reads the app. */
function pathProblem(files: InputFile[]): string | undefined {
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

const tooLarge =
  'The page has more than 4 MB. Move scripts, styles and data into files of their own.'

/**
 * Reads a folder with one page. Its other files stay files, as on a static host. This module runs
 * on the server and in the browser.
 */
export function readPageFolder(all: InputFile[]): PageFolder {
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
  const own = page.path.slice(0, page.path.lastIndexOf('/') + 1)
  const root = namesAbove(visible, own) ? '' : own
  const inside = visible
    .filter(({ path }) => path.startsWith(root))
    .map(({ path, bytes }) => ({ path: path.slice(root.length), bytes }))
  const outside = visible.map(({ path }) => path).filter((path) => !path.startsWith(root))
  const rooted = openRootedNames(new Set(inside.map(({ path }) => path)))
  const name = page.path.slice(root.length)
  const { text, charset } = decodePage(page.bytes)
  const source = sourceProblem(text, (path) => inside.some((file) => file.path === path))
  if (source !== undefined) return { problem: source }
  const others = inside
    .filter(({ path }) => path !== name)
    .map((file) => ({ file, page: isHtml(file.path) ? decodePage(file.bytes) : undefined }))
  const pages = others.map(({ file, page }) => ({ path: file.path, text: page?.text ?? '' }))
  const locations = openLocations([{ path: name, text }, ...pages], inside)
  const files = others.map((one) => ({
    path: one.file.path,
    bytes: rewriteFile(one.file, one.page, { rooted, locations, charset }),
  }))
  const html = locations.inHtml(rooted.inHtml(text, name), name)
  const located = [...locations.changed]
  return { page: name, html, files, rooted: [...rooted.changed], located, outside }
}

interface Rewrites {
  rooted: RootedNames
  locations: Locations
  charset: string
}

/**
 * Returns a file in UTF-8 with relative names; the same bytes where nothing changes. `page` is the
 * text of an HTML file.
 */
function rewriteFile(
  { path, bytes }: InputFile,
  page: DecodedText | undefined,
  { rooted, locations, charset }: Rewrites,
): Uint8Array {
  if (page) {
    const text = locations.inHtml(rooted.inHtml(page.text, path), path)
    const isSame = text === page.text && page.charset === 'utf-8'
    return isSame ? bytes : new TextEncoder().encode(text)
  }
  if (!(isCss(path) || isScript(path)) || locations.isPinned(path)) return bytes
  const same = toUtf8(bytes, charset)
  if (isScript(path) && same.length > locatedScriptMax) return same
  const before = new TextDecoder().decode(same)
  const text = isCss(path) ? rooted.inCss(before, path) : locations.inScript(before, path)
  return text === before ? same : new TextEncoder().encode(text)
}

const upward = /(?:\.\.\/)+[^\s"'()<>\\#]+/g

/**
 * Returns whether code in the folder of the page names a file above it: a mirror of wget has a
 * folder for each host, and its pages name those of others.
 */
function namesAbove(files: InputFile[], folder: string): boolean {
  const above = new Set(files.map(({ path }) => path).filter((path) => !path.startsWith(folder)))
  if (above.size === 0) return false
  return files.some(({ path, bytes }) => {
    if (!path.startsWith(folder) || !(isHtml(path) || isCss(path) || isScript(path))) return false
    const names = new TextDecoder().decode(bytes).match(upward) ?? []
    return names.some((name) => above.has(pathFrom(path, name)))
  })
}
