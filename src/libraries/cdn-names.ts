/** Names of cdnjs and its mirrors that differ from npm. */
export const cdnjsNames: Readonly<Record<string, string>> = {
  'three.js': 'three',
  'chart.js': 'chart.js',
  'p5.js': 'p5',
  'lodash.js': 'lodash',
  'moment.js': 'moment',
  'babel-standalone': '@babel/standalone',
  'font-awesome': '@fortawesome/fontawesome-free',
  'twitter-bootstrap': 'bootstrap',
  'bootstrap-icons': 'bootstrap-icons',
  'highlight.js': '@highlightjs/cdn-assets',
  prism: 'prismjs',
  'cannon.js': 'cannon',
  'tween.js': '@tweenjs/tween.js',
  'dat-gui': 'dat.gui',
  sortable: 'sortablejs',
  alpinejs: 'alpinejs',
  jsdiff: 'diff',
  'qrcode-generator': 'qrcode-generator',
  jquery: 'jquery',
  'popper.js': '@popperjs/core',
  bodymovin: 'lottie-web',
  'filesaver.js': 'file-saver',
  forge: 'node-forge',
  'interact.js': 'interactjs',
  'stats.js': 'stats.js',
}

/** Packages whose old versions have another npm name, with the last major number of that name. */
export const renamedPackages: Readonly<Record<string, readonly [name: string, major: number][]>> = {
  '@fortawesome/fontawesome-free': [['font-awesome', 4]],
}

/** A library with a site of its own: a pattern of URLs without scheme, and what they name. */
interface OwnSite {
  pattern: RegExp
  name: string
  path?: string
}

/** Sites of single libraries. Group 1 is the version where a URL has one. */
export const ownSites: readonly OwnSite[] = [
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
