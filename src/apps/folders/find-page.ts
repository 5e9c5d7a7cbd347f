import { isHtml } from './page-names.ts'
import type { InputFile } from './unzip.ts'

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
export function findPage(visible: InputFile[], all: InputFile[]): InputFile | { problem: string } {
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
export function sourceProblem(html: string, has: (path: string) => boolean): string | undefined {
  const [tag = '', script] = sources.exec(html) ?? []
  const isModule = /\stype\s*=\s*["']?module/i.test(tag)
  const named = isModule && script !== undefined && has(script) ? script : undefined
  const isTemplate = html.includes('%PUBLIC_URL%')
  if (named === undefined && !isTemplate) return undefined
  return sourceAdvice(named ?? '%PUBLIC_URL%')
}
