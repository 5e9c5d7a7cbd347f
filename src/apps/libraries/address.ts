import { decodePath } from '../../kernel/http/path.ts'
import { lookUp } from '../../kernel/schema.ts'
import { firebaseName } from './host-modules.ts'

/**
 * Names of cdnjs and its mirrors that differ from npm. cdnjs has 5,000 libraries: one that is not
 * here is the npm package of its name, with or without ".js".
 */
const names: Readonly<Record<string, string>> = {
  'three.js': 'three',
  'p5.js': 'p5',
  'lodash.js': 'lodash',
  'moment.js': 'moment',
  'babel-standalone': '@babel/standalone',
  'font-awesome': '@fortawesome/fontawesome-free',
  'twitter-bootstrap': 'bootstrap',
  'highlight.js': '@highlightjs/cdn-assets',
  prism: 'prismjs',
  'cannon.js': 'cannon',
  'tween.js': '@tweenjs/tween.js',
  'dat-gui': 'dat.gui',
  sortable: 'sortablejs',
  jsdiff: 'diff',
  'popper.js': '@popperjs/core',
  bodymovin: 'lottie-web',
  'filesaver.js': 'file-saver',
  forge: 'node-forge',
  'interact.js': 'interactjs',
  ace: 'ace-builds',
  'angular.js': 'angular',
  'backbone.js': 'backbone',
  'clipboard.js': 'clipboard',
  datatables: 'datatables.net',
  dygraph: 'dygraphs',
  'fabric.js': 'fabric',
  fetch: 'whatwg-fetch',
  foundation: 'foundation-sites',
  fullpage: 'fullpage.js',
  'hammer.js': 'hammerjs',
  'handlebars.js': 'handlebars',
  htmx: 'htmx.org',
  'jquery.isotope': 'isotope-layout',
  jqueryui: 'jquery-ui',
  'jquery.mask': 'jquery-mask-plugin',
  'limonte-sweetalert2': 'sweetalert2',
  mapbox: 'mapbox-gl',
  masonry: 'masonry-layout',
  materialize: 'materialize-css',
  'mustache.js': 'mustache',
  normalize: 'normalize.css',
  openlayers: 'ol',
  'p2.js': 'p2',
  'paper.js': 'paper',
  'pdf.js': 'pdfjs-dist',
  'plotly.js': 'plotly.js-dist-min',
  pure: 'purecss',
  'require.js': 'requirejs',
  'rough.js': 'roughjs',
  'scrollreveal.js': 'scrollreveal',
  'semantic-ui': 'semantic-ui-css',
  'snap.svg': 'snapsvg',
  'socket.io': 'socket.io-client',
  splidejs: '@splidejs/splide',
  'svg.js': '@svgdotjs/svg.js',
  tensorflow: '@tensorflow/tfjs',
  tinycolor: 'tinycolor2',
  'toastr.js': 'toastr',
  'underscore.js': 'underscore',
  'wordcloud2.js': 'wordcloud',
  wow: 'wowjs',
}

/** Libraries whose name ends in ".js" on npm too. */
const sameNames = new Set(
  (
    'big.js bignumber.js brain.js chart.js decimal.js fullpage.js highlight.js hls.js html2pdf.js ' +
    'intro.js particles.js pixi.js reveal.js screenfull.js sql.js stats.js tesseract.js tippy.js ' +
    'two.js typed.js video.js viz.js wavesurfer.js'
  ).split(' '),
)

/** Packages whose old versions have another npm name, with the last major number of that name. */
const renamed: Readonly<Record<string, readonly [name: string, major: number]>> = {
  '@fortawesome/fontawesome-free': ['font-awesome', 4],
  '@popperjs/core': ['popper.js', 1],
  '@svgdotjs/svg.js': ['svg.js', 2],
}

/**
 * Returns the npm packages that a library of cdnjs may be, the likeliest first, for a version with
 * this major number.
 */
function packagesOfCdnjs(library: string, major: number): string[] {
  const known = lookUp(names, library)
  if (known === undefined) {
    const short = library.replace(/\.js$/, '')
    return sameNames.has(library) || short === library ? [library] : [library, short]
  }
  const older = lookUp(renamed, known)
  return older && major <= older[1] ? [older[0], known] : [known]
}

/** A URL of a content delivery network, read as an npm package. */
export interface LibraryAddress {
  /** npm name, such as "three" or "@babel/standalone". */
  name: string
  /** Requested version or range; '' for the newest. */
  range: string
  /** Path in the package; '' for its default file. */
  path: string
  /** `module`: an ES module that the host makes of any package; `folder`: a prefix of paths. */
  kind: 'file' | 'module' | 'folder' | 'tailwind'
  /** Another package that a library of cdnjs may be. */
  otherName?: string | undefined
  /** The URL leaves out the folders of the package, as cdnjs does. */
  isFlat?: true
  /** The URL names a repository: the package of its name may be another one. */
  isGuess?: true
}

const urlCharsMax = 1_000
const namePattern = /^(?:@[a-z0-9~-][\w.~-]{0,100}\/)?[a-z0-9~-][\w.~-]{0,100}$/i
const spec = /^((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(?:\/(.*))?$/
const tailwindHost = 'cdn.tailwindcss.com'
const fontsHost = 'fonts.googleapis.com'

const cdnjsHosts =
  /^(?:cdnjs\.cloudflare\.com|cdn\.bootcdn\.net|cdn\.bootcss\.com|lib\.baomitu\.com|cdn\.staticfile\.(?:org|net)|ajax\.googleapis\.com)$/
const jsdelivrHosts = /^(?:cdn|fastly|gcore|testingcf|cdn\.jsdelivr)\.jsdelivr\.net$/
const moduleHosts =
  /^(?:esm\.sh|cdn\.esm\.sh|esm\.run|cdn\.skypack\.dev|ga\.jspm\.io|jspm\.dev|esm\.websim\.com|aistudiocdn\.com)$/

/** Hosts whose paths are a package, a version and a file. */
const fileHosts = /^(?:www\.)?unpkg\.com$/

/** Returns whether a URL is a style sheet of Google Fonts. */
export const isFontSheet = (text: string): boolean => parseUrl(text)?.hostname === fontsHost

/** Returns the URL that a page's text names, with https where it has no scheme. */
export function parseUrl(text: string): URL | undefined {
  const trimmed = text.trim()
  if (trimmed.length > urlCharsMax) return undefined
  const url = URL.parse(trimmed.startsWith('//') ? `https:${trimmed}` : trimmed)
  return url && /^https?:$/.test(url.protocol) && url.port === '' ? url : undefined
}

/** Returns whether a URL is on a host of libraries or fonts, also when it names no package. */
export function isLibraryHost(text: string): boolean {
  const host = parseUrl(text)?.hostname ?? ''
  return (
    host === fontsHost ||
    host === tailwindHost ||
    [cdnjsHosts, jsdelivrHosts, moduleHosts, fileHosts].some((hosts) => hosts.test(host)) ||
    parseAddress(text) !== undefined
  )
}

/** Reads the package, version and path of a URL. Undefined where it names no npm package. */
export function parseAddress(text: string): LibraryAddress | undefined {
  const url = parseUrl(text)
  if (!url) return undefined
  const address = fromHost(url)
  if (!address || !namePattern.test(address.name)) return undefined
  const path = address.path.split('/')
  return path.some((part) => part === '..' || part === '.') ? undefined : address
}

function fromHost(url: URL): LibraryAddress | undefined {
  const { hostname: host } = url
  const path = (decodePath(url.pathname) ?? '').replace(/^\/+/, '')
  if (host === tailwindHost) return tailwindAddress(url, path)
  if (cdnjsHosts.test(host)) return fromCdnjs(path)
  if (jsdelivrHosts.test(host)) return fromJsdelivr(path)
  if (fileHosts.test(host)) {
    const address = fromSpec(path)
    return address && url.searchParams.has('module') ? { ...address, kind: 'module' } : address
  }
  if (moduleHosts.test(host)) return fromModuleHost(path)
  return fromOwnSite(`${host}/${path}`)
}

function fromSpec(text: string): LibraryAddress | undefined {
  const found = spec.exec(text)
  if (!found) return undefined
  const [, name = '', range = '', path = ''] = found
  return { name, range, path, kind: path.endsWith('/') ? 'folder' : 'file' }
}

/** https://www.jsdelivr.com/documentation: /npm/name@version/path, /npm/name@version/+esm. */
function fromJsdelivr(path: string): LibraryAddress | undefined {
  if (!path.startsWith('npm/')) return undefined
  const address = fromSpec(path.slice('npm/'.length))
  if (!address) return undefined
  const { path: inside } = address
  const isModule = inside === '+esm' || inside.endsWith('/+esm')
  if (!isModule) return address
  return { ...address, path: inside.replace(/\/?\+esm$/, ''), kind: 'module' }
}

/** esm.sh, esm.run, Skypack, JSPM, websim and AI Studio make a module of every package. */
function fromModuleHost(path: string): LibraryAddress | undefined {
  const named = path
    .replace(/^(?:stable|v\d+|pin|new)\//, '')
    .replace(/^(?:-|npm:|gh:)\/?/, '')
    .replace(/^\*/, '')
  const address = fromSpec(named)
  if (!address) return undefined
  // Built files of Skypack and esm.sh: name@v1.2.3-hash/dist=es2020,mode=imports/optimized/name.js
  const version = /^v?(\d+\.\d+\.\d+)/.exec(address.range)?.[1]
  const isBuilt = /(?:^|\/)(?:dist=|es20\d\d\/|optimized)/.test(address.path)
  const range = version ?? address.range
  const inside = isBuilt ? '' : address.path.replace(/^X-[^/]+\/?/, '')
  if (inside.endsWith('/')) return { ...address, range, path: inside, kind: 'folder' }
  const kind = inside.endsWith('.css') ? 'file' : 'module'
  return { ...address, range, path: inside, kind, ...(/^\*?gh:/.test(path) && { isGuess: true }) }
}

/** /ajax/libs/name/version/path, and the same without /ajax/libs on the mirrors. */
function fromCdnjs(path: string): LibraryAddress | undefined {
  const [known = '', version = '', ...rest] = path.replace(/^(?:ajax\/libs|cdnjs)\//, '').split('/')
  if (version === '') return undefined
  const [name = '', otherName] = packagesOfCdnjs(
    known.toLowerCase(),
    Number(/^\d+/.exec(version)?.[0]),
  )
  // three.js r128 is 0.128.0 on npm, and stats.js r17 is 0.17.0.
  const range = /^(?:three|stats\.js)$/.test(name) ? version.replace(/^r(\d+)$/, '0.$1.0') : version
  const inside = rest.join('/')
  const kind = inside === '' || inside.endsWith('/') ? 'folder' : 'file'
  return { name, range, path: inside, kind, isFlat: true, ...(otherName && { otherName }) }
}

function fromOwnSite(text: string): LibraryAddress | undefined {
  for (const { pattern, name, path } of ownSites) {
    const found = pattern.exec(text)
    if (found) return { name, range: found[1] ?? '', path: path ?? found[2] ?? '', kind: 'file' }
  }
  return undefined
}

/** Tailwind's play CDN: version 3, with the plugins of its query. */
function tailwindAddress(url: URL, path: string): LibraryAddress {
  const plugins = url.searchParams.has('plugins')
  const file = plugins ? 'tailwindcss-with-all-plugins.js' : 'tailwindcss.js'
  const range = /^4(?:\.|$)/.test(path) ? '4' : ''
  return range === ''
    ? { name: 'tailwindcss-cdn', range: '', path: file, kind: 'tailwind' }
    : { name: '@tailwindcss/browser', range, path: '', kind: 'file' }
}

/** A library with a site of its own: a pattern of URLs without scheme, and what they name. */
interface OwnSite {
  pattern: RegExp
  name: string
  path?: string
}

/** Sites of single libraries. Group 1 is the version where a URL has one, group 2 the path. */
const ownSites: readonly OwnSite[] = [
  {
    pattern: /^www\.gstatic\.com\/firebasejs\/([\w.-]+)\/(firebase(?:-[\w-]+)?\.js)$/,
    name: firebaseName,
  },
  {
    pattern: /^code\.jquery\.com\/jquery-([\d.]+)(?:\.min)?\.js$/,
    name: 'jquery',
    path: 'dist/jquery.min.js',
  },
  {
    pattern: /^code\.jquery\.com\/jquery-([\d.]+)\.slim(?:\.min)?\.js$/,
    name: 'jquery',
    path: 'dist/jquery.slim.min.js',
  },
  {
    pattern: /^code\.jquery\.com\/ui\/([\d.]+)\/jquery-ui(?:\.min)?\.js$/,
    name: 'jquery-ui',
    path: 'dist/jquery-ui.min.js',
  },
  {
    pattern: /^code\.jquery\.com\/ui\/([\d.]+)\/themes\/base\/jquery-ui(?:\.min)?\.css$/,
    name: 'jquery-ui',
    path: 'dist/themes/base/jquery-ui.css',
  },
  {
    pattern: /^aframe\.io\/releases\/([\d.]+)\/aframe(?:\.min)?\.js$/,
    name: 'aframe',
    path: 'dist/aframe.min.js',
  },
  { pattern: /^d3js\.org\/d3\.v(\d+)(?:\.min)?\.js$/, name: 'd3', path: 'dist/d3.min.js' },
  {
    pattern: /^(?:www\.)?threejs\.org\/build\/three\.module(?:\.min)?()\.js$/,
    name: 'three',
    path: 'build/three.module.js',
  },
  {
    pattern: /^(?:www\.)?threejs\.org\/build\/three(?:\.min)?()\.js$/,
    name: 'three',
    path: 'build/three.min.js',
  },
  {
    pattern:
      /^(?:stackpath|maxcdn|netdna)\.bootstrapcdn\.com\/bootstrap\/([\d.]+)\/css\/bootstrap(?:\.min)?\.css$/,
    name: 'bootstrap',
    path: 'dist/css/bootstrap.min.css',
  },
  {
    pattern:
      /^(?:stackpath|maxcdn|netdna)\.bootstrapcdn\.com\/bootstrap\/([\d.]+)\/js\/bootstrap(?:\.min)?\.js$/,
    name: 'bootstrap',
    path: 'dist/js/bootstrap.min.js',
  },
  {
    pattern:
      /^(?:stackpath|maxcdn|netdna)\.bootstrapcdn\.com\/bootstrap\/([\d.]+)\/js\/bootstrap\.bundle(?:\.min)?\.js$/,
    name: 'bootstrap',
    path: 'dist/js/bootstrap.bundle.min.js',
  },
  {
    pattern:
      /^(?:stackpath|maxcdn|netdna)\.bootstrapcdn\.com\/font-awesome\/([\d.]+)\/css\/font-awesome(?:\.min)?\.css$/,
    name: 'font-awesome',
    path: 'css/font-awesome.min.css',
  },
  {
    pattern: /^use\.fontawesome\.com\/releases\/v([\d.]+)\/css\/all(?:\.min)?\.css$/,
    name: '@fortawesome/fontawesome-free',
    path: 'css/all.min.css',
  },
  {
    pattern: /^pixijs\.download\/(?:v([\d.]+)|release)\/pixi(?:\.min)?\.js$/,
    name: 'pixi.js',
    path: 'dist/pixi.min.js',
  },
  { pattern: /^sql\.js\.org\/dist\/sql-wasm()\.js$/, name: 'sql.js', path: 'dist/sql-wasm.js' },
  { pattern: /^sql\.js\.org\/dist\/sql-wasm()\.wasm$/, name: 'sql.js', path: 'dist/sql-wasm.wasm' },
]
