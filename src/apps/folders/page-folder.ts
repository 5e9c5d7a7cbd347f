import { htmlBytesMax } from '../../kernel/limits.ts'
import { type DecodedText, decodePage, toUtf8 } from './charset.ts'
import { fileNameOf, isCss, isHtml, isScript, pathFrom } from './page-names.ts'
import { attributeOf, rewriteTags, type Tag } from './page-tags.ts'
import { inOtherForms, pathKey, unsafePathProblem } from './paths.ts'
import { openPins } from './pins.ts'
import type { InputFile } from './unzip.ts'

/** A page with the files of its folder; or the problem of the folder. */
export type PageFolder =
  | {
      /** Name of the page in its folder. */
      page: string
      html: string
      /** The other files, with paths relative to the page. */
      files: InputFile[]
      /** The folder that a build for a path of a host was put in, such as "repo/", or ''. */
      mount: string
      /** Names that began with a slash and are relative now. */
      rooted: string[]
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
  const outside = visible.map(({ path }) => path).filter((path) => !path.startsWith(root))
  const given = visible
    .filter(({ path }) => path.startsWith(root))
    .map(({ path, bytes }) => ({ path: path.slice(root.length), bytes }))
  const { text, charset } = decodePage(page.bytes)
  const mount = findMount(
    text,
    given.map(({ path }) => path),
  )
  const inside = given.map(({ path, bytes }) => ({ path: mount + path, bytes }))
  const rooted = openRootedNames(new Set(inside.map(({ path }) => path)))
  const name = mount + page.path.slice(root.length)
  const source = sourceProblem(text, (path) => inside.some((file) => file.path === mount + path))
  if (source !== undefined) return { problem: source }
  const others = inside
    .filter(({ path }) => path !== name)
    .map((file) => ({ file, page: isHtml(file.path) ? decodePage(file.bytes) : undefined }))
  const pages = others.map(({ file, page }) => ({ path: file.path, text: page?.text ?? '' }))
  const isPinned = openPins([{ path: name, text }, ...pages], inside)
  const files = others.map((one) => ({
    path: one.file.path,
    bytes: rewriteFile(one.file, one.page, { rooted, isPinned, charset }),
  }))
  const html = rooted.inHtml(text, name)
  return { page: name, html, files, mount, rooted: [...rooted.changed], outside }
}

interface Rewrites {
  rooted: RootedNames
  isPinned(path: string): boolean
  charset: string
}

/**
 * Returns a file in UTF-8 with relative names; the same bytes where nothing changes. `page` is the
 * text of an HTML file.
 */
function rewriteFile(
  { path, bytes }: InputFile,
  page: DecodedText | undefined,
  { rooted, isPinned, charset }: Rewrites,
): Uint8Array {
  if (page) {
    const text = rooted.inHtml(page.text, path)
    const isSame = text === page.text && page.charset === 'utf-8'
    return isSame ? bytes : new TextEncoder().encode(text)
  }
  if (!(isCss(path) || isScript(path)) || isPinned(path)) return bytes
  const same = toUtf8(bytes, charset)
  if (isScript(path)) return same
  const before = new TextDecoder().decode(same)
  const text = rooted.inCss(before, path)
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

const mountCharsMax = 80

/**
 * Returns the folder of a host that a build was made for, with its slash, such as "repo/" where the
 * page names "/repo/assets/a.js" and the build has assets/a.js. Returns '' for the root of a host,
 * for relative names, and where the names do not agree.
 */
function findMount(html: string, paths: string[]): string {
  const names = new Set(paths)
  const mounts = new Set<string>()
  rewriteTags(html, ({ name, text }) => {
    if (!/^(?:script|link|img|source|base)$/.test(name)) return ''
    const url = attributeOf(text, 'src') ?? attributeOf(text, 'href') ?? ''
    if (!/^\/(?!\/)/.test(url)) return ''
    const path = fileNameOf(url.slice(1).replace(/[?#].*/, ''))
    const mount = name === 'base' ? path.replace(/[^/]*$/, '') : mountOf(path, names)
    if (mount !== undefined) mounts.add(mount)
    return ''
  })
  const [mount = '', another] = mounts
  const isValid = /^(?:[\w~-][\w.~-]*\/)+$/.test(mount) && mount.length <= mountCharsMax
  const isThere = paths.some((path) => path.startsWith(mount))
  return another === undefined && isValid && !isThere ? mount : ''
}

/** Returns what a path has before the name of a file; undefined where it names none. */
function mountOf(path: string, names: ReadonlySet<string>): string | undefined {
  for (let at = 0; at >= 0; at = path.indexOf('/', at) + 1 || -1)
    if (names.has(path.slice(at))) return path.slice(0, at)
  return undefined
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
    // The viewer leads links itself. A router may put this one into a page of another folder.
    if (tag === 'a' || tag === 'area') return text
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
