import { htmlBytesMax } from '../../kernel/limits.ts'
import { type DecodedText, decodePage, toUtf8 } from './charset.ts'
import { locatedScriptMax, type Locations, openLocations } from './page-location.ts'
import { fileNameOf, isCss, isHtml, isScript, pathFrom } from './page-names.ts'
import { rewriteTags, type Tag } from './page-tags.ts'
import { inOtherForms, pathKey, unsafePathProblem } from './paths.ts'
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

const depthOf = ({ path }: InputFile): number => path.split('/').length
const namedMax = 5
const listOf = (files: InputFile[]): string =>
  files
    .slice(0, namedMax)
    .map(({ path }) => path)
    .join(', ') + (files.length > namedMax ? ' and others' : '')

/**
 * Finds the page of a folder: its only HTML file, or the topmost index.html. `all` has the hidden
 * files, too. Returns what to do about a folder without one, or of a framework's server.
 */
function findPage(visible: InputFile[], all: InputFile[]): InputFile | { problem: string } {
  const next = all.find(({ path }) =>
    /(?:^|\/)(?:BUILD_ID|required-server-files\.json)$/.test(path),
  )
  // Such a build has HTML files, too, without the scripts that they name.
  if (next) return { problem: serverPart('Next.js', next.path, nextAdvice) }
  const pages = visible.filter(({ path }) => isHtml(path))
  const indexes = pages
    .filter(({ path }) => /(^|\/)index\.html?$/i.test(path))
    .toSorted((a, b) => depthOf(a) - depthOf(b))
  const [first, second] = pages.length === 1 ? pages : indexes
  if (!first) return { problem: pages.length === 0 ? missingPage(all) : noIndex(pages) }
  if (second && depthOf(first) === depthOf(second)) {
    return { problem: severalPages(indexes.filter((one) => depthOf(one) === depthOf(first))) }
  }
  return first
}

const severalPages = (pages: InputFile[]): string =>
  `Which page is the first? There are several: ${listOf(pages)}. Publish the folder of one, or put an index.html at the top.`
const noIndex = (pages: InputFile[]): string =>
  `Which page is the first? There are several HTML files and no index.html: ${listOf(pages)}. Rename the first page to index.html.`

const nextAdvice = `Set output: 'export' in next.config, build again, and publish the folder "out"`

/** Builds of frameworks whose pages a server renders, by a file that only they have. */
const serverBuilds: [framework: string, file: RegExp, advice: string][] = [
  ['Nuxt', /(?:^|\/)nitro\.json$/, 'Run nuxt generate, and publish the folder ".output/public"'],
  [
    'SvelteKit',
    /(?:^|\/)_app\/(?:version\.json$|immutable\/)/,
    'Use @sveltejs/adapter-static, build again, and publish the folder "build"',
  ],
  [
    'Astro',
    /(?:^|\/)_astro\//,
    `Set output: 'static' in astro.config, build again, and publish the folder "dist"`,
  ],
  [
    'React Router',
    /(?:^|\/)client\/assets\/(?:entry\.client|manifest)-/,
    'Set ssr: false in react-router.config, build again, and publish the folder "build/client"',
  ],
  [
    'a framework',
    /(?:^|\/)server\/.*\.[cm]?js$/,
    'Export the app as static files, and publish those',
  ],
]

const serverPart = (framework: string, path: string, advice: string): string =>
  `This is a build of ${framework} that needs its server (${path}), which does not run here. ${advice}.`

function missingPage(all: InputFile[]): string {
  for (const [framework, file, advice] of serverBuilds) {
    const found = all.find(({ path }) => file.test(path))
    if (found) return serverPart(framework, found.path, advice)
  }
  const source = all.find(({ path }) => /\.(?:tsx|jsx|vue|svelte)$/i.test(path))
  return source ? sourceAdvice(source.path) : 'There is no HTML file. Add index.html.'
}

const sourceAdvice = (why: string): string =>
  `This is the source of an app, which a browser cannot run (${why}). Run its build, such as npm run build, and publish the folder "dist" or "build".`

const sources =
  /<script\b[^>]*\ssrc\s*=\s*["']?\.?\/?([^"'\s>?]+\.(?:tsx?|jsx|vue|svelte))["'\s>?]/i

/**
 * Returns why a page is the source of an app and not its build, which a browser shows blank;
 * undefined for any other page.
 */
function sourceProblem(html: string, has: (path: string) => boolean): string | undefined {
  const [tag = '', script] = sources.exec(html) ?? []
  const isModule = /\stype\s*=\s*["']?module/i.test(tag)
  const named = isModule && script !== undefined && has(script) ? script : undefined
  const isTemplate = html.includes('%PUBLIC_URL%')
  if (named === undefined && !isTemplate) return undefined
  return sourceAdvice(named ?? '%PUBLIC_URL%')
}

/** Rewrites texts of a folder, and notes the names that it changed. */
interface RootedNames {
  inHtml(html: string, name: string): string
  inCss(css: string, name: string): string
  /** The names as the folder wrote them, such as "/assets/index.js". */
  changed: Set<string>
}

const attribute =
  /(\s(src|href|poster|(?:image)?srcset|data|xlink:href|style)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi
/** One URL, which may have spaces, and those of a set. All begin at the root, or go up to it. */
const one = /^(["']?\s*)(\/(?!\/)|(?:\.\.\/)+)([^"'<>\\]+)/
const several = /(^["']?|[\s,])(\/(?!\/)|(?:\.\.\/)+)([^\s,"'<>\\]+)/g
const quotedInCss = /((?:url\(\s*|@import\s+)["'])(\/(?!\/)|(?:\.\.\/)+)([^"'\n<>\\]+)/gi
const bareInCss = /(url\(\s*)(\/(?!\/)|(?:\.\.\/)+)([^\s"'()<>\\]+)/gi
/** A quote must follow, so the steps up never give one back: a long row of them takes no longer. */
const mapped = /(:\s*")(\/(?!\/)|(?:\.\.\/)+(?!\.\.\/))([^"\\]+)(?=")/g

/**
 * Makes the names of files relative that builds for the root of a host begin with a slash, such as
 * those of Vite with `base: "/"`. Only exact names of the folder change: a text that is like one
 * stays. Scripts stay as they are; the sandbox resolves their names.
 */
function openRootedNames(names: ReadonlySet<string>): RootedNames {
  const changed = new Set<string>()
  /** Returns a replacer for a file at a depth of folders. */
  const relative = (name: string) => {
    const up = '../'.repeat(name.split('/').length - 1)
    return (whole: string, before: string, start: string, reference: string): string => {
      const [path = ''] = reference.trim().split(/[?#]/)
      // A host has no folder above its root.
      const isInside = start !== '/' && start.length <= up.length
      if (isInside || !names.has(fileNameOf(path))) return whole
      changed.add(`${start}${path}`)
      return `${before}${up || './'}${reference}`
    }
  }
  const inCss = (css: string, name: string): string =>
    css.replace(quotedInCss, relative(name)).replace(bareInCss, relative(name))
  const inTag = ({ name: tag, text, body }: Tag, name: string): string => {
    const opening = text.replace(attribute, (_, start: string, key: string, value: string) => {
      if (/^style$/i.test(key)) return start + inCss(value, name)
      return start + value.replace(/srcset$/i.test(key) ? several : one, relative(name))
    })
    if (tag === 'style') return opening + inCss(body, name)
    const isMap = tag === 'script' && /\stype\s*=\s*["']?importmap/i.test(text)
    return opening + (isMap ? body.replace(mapped, relative(name)) : body)
  }
  const inHtml = (html: string, name: string): string =>
    rewriteTags(html, (tag) => inTag(tag, name))
  return { inHtml, inCss, changed }
}
