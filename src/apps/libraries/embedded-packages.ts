import { lookUp } from '../../kernel/schema.ts'

/** A package that the binary embeds, and its files, with package.json and licenses. */
export interface EmbeddedPackage {
  name: string
  /** Its folder in node_modules, where several versions are installed. */
  folder: string
  files: readonly string[]
  /** A module of many files, which is one here with all that it imports. */
  bundle?: Bundle
}

interface Bundle {
  entry: string
  /** Other packages of which it has a part. */
  includes: readonly string[]
}

const addons = (folder: string, ending: string): string[] =>
  `animation controls curves effects environments exporters geometries helpers interactive lights
  lines loaders materials math misc modifiers objects postprocessing renderers shaders textures tsl
  utils`
    .split(/\s+/)
    .map((part) => `examples/${folder}/${part}/**/*.${ending}`)

const small =
  'examples/jsm/{capabilities/*,webxr/*Button,libs/{fflate,stats,lil-gui,tween,meshopt_decoder}.module,libs/*.min}.js'

/** The set of docs/libraries.md: package, folder in node_modules if it differs, files. */
const rows: readonly (readonly [name: string, folder: string, ...files: string[]])[] = [
  ['three', 'three', 'build/three.{module,core,tsl,webgpu}.min.js', small, ...addons('jsm', 'js')],
  [
    'three',
    'three-160',
    'build/three.min.js',
    'build/three.module.min.js',
    small,
    ...addons('jsm', 'js'),
  ],
  [
    'three',
    'three-128',
    'build/three{.min,.module}.js',
    'examples/js/{controls,curves,effects,exporters,geometries,lines,math,misc,modifiers,objects,postprocessing,shaders,utils}/*.js',
    'examples/js/loaders/*.js',
    'examples/js/libs/{fflate,stats,inflate}.min.js',
    'examples/jsm/{controls,postprocessing,shaders}/*.js',
    'examples/jsm/loaders/{GLTF,OBJ,MTL,FBX,RGBE,Font}Loader.js',
    'examples/jsm/libs/{fflate,stats}.module.js',
  ],
  ['react', 'react', '{index,jsx-runtime}.js', 'cjs/react{,-jsx-runtime}.production.js'],
  [
    'react',
    'react-18',
    '{index,jsx-runtime}.js',
    'cjs/react{,-jsx-runtime}.production.min.js',
    'umd/react.production.min.js',
  ],
  ['react', 'react-17', 'index.js', 'cjs/react.production.min.js', 'umd/react.production.min.js'],
  ['react-dom', 'react-dom', '{index,client}.js', 'cjs/react-dom{,-client}.production.js'],
  [
    'react-dom',
    'react-dom-18',
    '{index,client}.js',
    'cjs/react-dom.production.min.js',
    'umd/react-dom.production.min.js',
  ],
  [
    'react-dom',
    'react-dom-17',
    'index.js',
    'cjs/react-dom.production.min.js',
    'umd/react-dom.production.min.js',
  ],
  ['scheduler', 'scheduler', 'index.js', 'cjs/scheduler.production.js'],
  ['scheduler', 'scheduler-18', 'index.js', 'cjs/scheduler.production.min.js'],
  ['object-assign', 'object-assign', 'index.js'],
  ['lucide-react', '', 'dist/cjs/lucide-react.js'],
  ['htm', '', 'dist/htm.{umd,module}.js', 'preact/standalone.{umd,module}.js'],
  ['@babel/standalone', '', 'babel.min.js'],
  ['vue', 'vue', 'dist/vue.{global,esm-browser}.prod.js'],
  ['vue', 'vue-2', 'dist/vue.min.js'],
  ['@tailwindcss/browser', '', 'dist/index.global.js'],
  ['tailwindcss-cdn', '', 'tailwindcss{,-with-all-plugins}.js'],
  ['alpinejs', '', 'dist/{cdn.min,module.esm}.js'],
  ['p5', '', 'lib/p5.min.js', 'lib/addons/p5.sound.min.js'],
  ['phaser', '', 'dist/phaser.min.js'],
  ['pixi.js', 'pixi.js-7', 'dist/pixi.min.{js,mjs}'],
  ['pixi.js', '', 'dist/pixi.min.{js,mjs}'],
  ['matter-js', '', 'build/matter.min.js'],
  ['cannon-es', '', 'dist/cannon-es.js'],
  ['cannon', '', 'build/cannon.min.js'],
  ['d3', '', 'dist/d3.min.js'],
  ['d3-color', '', 'dist/d3-color.min.{js,mjs}'],
  ['topojson-client', '', 'dist/topojson-client.min.js'],
  [
    'chart.js',
    '',
    'dist/chart{,.umd.min}.js',
    '{dist,helpers}/helpers.js',
    'dist/chunks/*.js',
    'auto/*.js',
  ],
  ['chart.js', 'chart.js-3', 'dist/chart.min.js'],
  ['@kurkle/color', '', 'dist/color.esm.js'],
  ['chartjs-plugin-datalabels', '', 'dist/chartjs-plugin-datalabels{.min,.esm}.js'],
  ['tone', '', 'build/Tone.js'],
  ['tone', 'tone-15', 'build/Tone.js'],
  ['@tonejs/midi', '', 'build/Midi.js'],
  [
    'gsap',
    '',
    'dist/{gsap,ScrollTrigger,Draggable,MotionPathPlugin,TextPlugin,Observer,ScrollToPlugin,Flip}.min.js',
    '{index,gsap-core,CSSPlugin,ScrollTrigger,Draggable,Observer,TextPlugin,MotionPathPlugin}.js',
    'utils/*.js',
  ],
  ['animejs', '', 'lib/anime{.min,.es}.js'],
  ['@tweenjs/tween.js', '', 'dist/tween.{umd,esm}.js'],
  ['@tweenjs/tween.js', 'tween-18', 'dist/tween.{umd,esm}.js'],
  ['lottie-web', '', 'build/player/lottie.min.js'],
  ['howler', '', 'dist/howler.min.js'],
  ['lodash', '', 'lodash.min.js'],
  ['jquery', '', 'dist/jquery{.min,.slim.min}.js'],
  ['axios', '', 'dist/axios.min.js', 'dist/esm/axios.min.js'],
  [
    '@fortawesome/fontawesome-free',
    '',
    'css/{all,fontawesome,solid,regular,brands}.min.css',
    'webfonts/*.woff2',
  ],
  ['@fortawesome/fontawesome-free', 'fontawesome-free-5', 'css/all.min.css', 'webfonts/*.woff2'],
  ['font-awesome', '', 'css/font-awesome.min.css', 'fonts/*.woff2'],
  ['bootstrap', '', 'dist/css/bootstrap.min.css', 'dist/js/bootstrap{,.bundle}.min.js'],
  ['bootstrap', 'bootstrap-4', 'dist/css/bootstrap.min.css', 'dist/js/bootstrap{,.bundle}.min.js'],
  ['@popperjs/core', '', 'dist/umd/popper.min.js'],
  ['bootstrap-icons', '', 'font/bootstrap-icons.min.css', 'font/fonts/*.woff2'],
  ['marked', 'marked-15', 'marked.min.js', 'lib/marked.esm.js'],
  ['marked', 'marked-11', 'marked.min.js', 'lib/marked.esm.js'],
  ['dompurify', '', 'dist/purify{.min,.es}.*js'],
  ['jszip', '', 'dist/jszip.min.js'],
  ['pako', '', 'dist/pako.min.js', 'dist/pako.esm.mjs'],
  ['file-saver', '', 'dist/FileSaver.min.js'],
  ['mediabunny', '', 'dist/bundles/mediabunny.min.mjs'],
  ['idb', '', 'build/{index,umd}.js'],
  ['idb-keyval', '', 'dist/{index,umd}.js'],
  ['uuid', '', 'dist/esm-browser/*.js'],
  ['node-forge', '', 'dist/forge.min.js'],
  ['peerjs', '', 'dist/peerjs.min.js'],
  ['jspdf', '', 'dist/jspdf.umd.min.js'],
  ['html2canvas', '', 'dist/html2canvas.min.js'],
  ['js-yaml', '', 'dist/js-yaml.min.js', 'dist/js-yaml.mjs'],
  ['papaparse', '', 'papaparse.min.js'],
  ['diff', 'diff-5', 'dist/diff.min.js', 'lib/index.mjs'],
  ['qrcodejs', '', 'qrcode.min.js'],
  ['qrcode-generator', '', 'qrcode.js'],
  ['jsqr', '', 'dist/jsQR.js'],
  ['exif-js', '', 'exif.js'],
  ['qrcode', '', 'build/qrcode{,.tosjis}.min.js'],
  ['dayjs', '', 'dayjs.min.js', 'plugin/*.js'],
  ['date-fns', '', 'cdn.min.js'],
  ['moment', '', 'min/moment.min.js'],
  ['moment-timezone', '', 'builds/moment-timezone-with-data.min.js'],
  [
    'vis-timeline',
    '',
    'standalone/umd/vis-timeline-graph2d.min.js',
    'styles/vis-timeline-graph2d.min.css',
  ],
  [
    '@highlightjs/cdn-assets',
    '',
    'highlight.min.js',
    'es/{highlight,core}.min.js',
    'languages/*.min.js',
    'styles/{default,github*,atom-one*,monokai*,vs*,tokyo-night*,stackoverflow*,nord}.min.css',
  ],
  [
    'prismjs',
    '',
    'prism.js',
    'themes/*.css',
    'components/prism-*.min.js',
    'plugins/{line-numbers,autoloader,toolbar,copy-to-clipboard}/*.{min.js,css}',
  ],
  [
    'katex',
    '',
    'dist/katex.min.{js,css}',
    'dist/katex.mjs',
    'dist/contrib/auto-render{.min.js,.mjs}',
    'dist/fonts/*.woff2',
  ],
  ['leaflet', '', 'dist/leaflet{,-src.esm}.js', 'dist/leaflet.css', 'dist/images/*.png'],
  ['cropperjs', '', 'dist/cropper.min.{js,css}'],
  ['sql.js', '', 'dist/sql-wasm{.js,.wasm}'],
  ['es-module-shims', '', 'dist/es-module-shims.js'],
  ['lil-gui', '', 'dist/lil-gui.{umd,esm}.min.js'],
  ['dat.gui', '', 'build/dat.gui.min.js', 'build/dat.gui.module.js'],
  ['stats.js', '', 'build/stats.min.js', 'src/Stats.js'],
  ['simplex-noise', '', 'dist/{esm,cjs}/simplex-noise.js'],
  ['simplex-noise', 'simplex-noise-2', 'simplex-noise.js'],
  ['nipplejs', '', 'dist/nipplejs.js'],
  ['interactjs', '', 'dist/interact.min.js'],
  ['canvas-confetti', '', 'dist/confetti.{browser,module.mjs}*'],
  ['sortablejs', '', 'Sortable.min.js', 'modular/sortable.esm.js'],
  ['openai', 'openai-5'],
  ['@anthropic-ai/sdk', 'anthropic-sdk-0'],
  ['@google/genai', 'genai-1'],
  ['@google/generative-ai', ''],
  ...`roboto open-sans noto-sans montserrat inter oswald raleway nunito playfair-display merriweather
  rubik work-sans lora roboto-mono orbitron space-grotesk jetbrains-mono fira-code dm-sans outfit
  assistant cinzel cormorant-garamond fredoka plus-jakarta-sans syne`
    .split(/\s+/)
    .map(
      (font) =>
        [`@fontsource-variable/${font}`, '', `files/${font}-latin-wght-normal.woff2`] as const,
    ),
  ...`poppins lato be-vietnam-pro ubuntu`
    .split(' ')
    .map(
      (font) =>
        [
          `@fontsource/${font}`,
          '',
          `files/${font}-latin-{300,400,500,600,700}-normal.woff2`,
        ] as const,
    ),
  ...`press-start-2p vt323 space-mono bangers creepster amatic-sc`
    .split(' ')
    .map(
      (font) => [`@fontsource/${font}`, '', `files/${font}-latin-{400,700}-normal.woff2`] as const,
    ),
]

/**
 * The clients of model APIs, whose modules have hundreds of files. Later versions have up to five
 * times the code, for work that no page does.
 */
const bundles: Readonly<Record<string, Bundle>> = {
  openai: { entry: 'index.mjs', includes: [] },
  '@anthropic-ai/sdk': { entry: 'index.mjs', includes: [] },
  '@google/genai': { entry: 'dist/web/index.mjs', includes: ['p-retry', 'retry'] },
  '@google/generative-ai': { entry: 'dist/index.mjs', includes: [] },
}

export const embeddedPackages: readonly EmbeddedPackage[] = rows.map(([name, folder, ...files]) => {
  const bundle = lookUp(bundles, name)
  return {
    name,
    folder: folder || name,
    files: ['package.json', '{LICEN[CS]E,License,license,COPYING,OFL}*', ...files],
    ...(bundle !== undefined && { bundle }),
  }
})
