import { lookUp } from '../../kernel/schema.ts'

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
  'toastr.js': 'toastr',
  'underscore.js': 'underscore',
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
export function packagesOfCdnjs(library: string, major: number): string[] {
  const known = lookUp(names, library)
  if (known === undefined) {
    const short = library.replace(/\.js$/, '')
    return sameNames.has(library) || short === library ? [library] : [library, short]
  }
  const older = lookUp(renamed, known)
  return older && major <= older[1] ? [older[0], known] : [known]
}
