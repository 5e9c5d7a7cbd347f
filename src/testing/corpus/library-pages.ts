/** One table, so that the share of pages that run has one place. */

/** A page that uses libraries of CDNs. Its code returns true where they work. */
export interface LibraryPage {
  name: string
  /** Tags of the libraries. */
  tags: string
  /** Body of an async function. */
  code: string
  /** Imports before the code, which is a module then. */
  imports?: string
  /** Why it cannot run: a part of the note or the finding of its publish. */
  cannot?: string
}

const npm = 'https://cdn.jsdelivr.net/npm/'
const cdnjs = 'https://cdnjs.cloudflare.com/ajax/libs/'
const unpkg = 'https://unpkg.com/'
const esm = 'https://esm.sh/'
const script = (...urls: string[]): string =>
  urls.map((url) => `<script src="${url}"></script>`).join('\n')
const sheet = (url: string): string => `<link rel="stylesheet" href="${url}">`
const importMap = (imports: Record<string, string>): string =>
  `<script type="importmap">${JSON.stringify({ imports })}</script>`

const pdf = `new TextEncoder().encode('%PDF-1.4\\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>')`
const three = { three: `${npm}three@0.160.0/build/three.module.js` }
const threeAddons = { ...three, 'three/addons/': `${npm}three@0.160.0/examples/jsm/` }

/** Pages as models write them, by habit. */
export const writtenPages: LibraryPage[] = [
  {
    name: 'three with orbit controls by an import map',
    tags: importMap(threeAddons),
    imports: `import * as THREE from 'three'
import { OrbitControls } from 'three/addons/controls/OrbitControls.js'`,
    code: `return new OrbitControls(new THREE.PerspectiveCamera(), document.body).enabled`,
  },
  {
    name: 'three r128 with controls beside it',
    tags: script(
      `${cdnjs}three.js/r128/three.min.js`,
      `${npm}three@0.128.0/examples/js/controls/OrbitControls.js`,
    ),
    code: `return new THREE.OrbitControls(new THREE.PerspectiveCamera(), document.body).enabled`,
  },
  {
    name: 'React 18 with Babel and Tailwind',
    tags: script(
      'https://cdn.tailwindcss.com',
      `${unpkg}react@18/umd/react.development.js`,
      `${unpkg}react-dom@18/umd/react-dom.development.js`,
      `${unpkg}@babel/standalone/babel.min.js`,
    ),
    code: `const out = Babel.transform('const App = () => <b className="flex">hi</b>; self.App = App', { presets: ['react'] }).code
new Function(out)()
const root = document.createElement('div')
ReactDOM.createRoot(root).render(React.createElement(self.App))
await new Promise((done) => setTimeout(done, 100))
return root.textContent === 'hi'`,
  },
  {
    name: 'React by esm.sh with an import map',
    tags: importMap({
      react: `${esm}react@18.3.1`,
      'react-dom/client': `${esm}react-dom@18.3.1/client`,
    }),
    imports: `import React from 'react'
import { createRoot } from 'react-dom/client'`,
    code: `const root = document.createElement('div')
createRoot(root).render(React.createElement('i', null, 'x'))
await new Promise((done) => setTimeout(done, 100))
return root.textContent === 'x'`,
  },
  {
    name: 'Vue by its global build',
    tags: script(`${unpkg}vue@3/dist/vue.global.js`),
    code: `const at = document.createElement('div')
Vue.createApp({ data: () => ({ n: 2 }), template: '<p>{{ n + 1 }}</p>' }).mount(at)
return at.textContent === '3'`,
  },
  {
    name: 'Vue by its module',
    tags: '',
    imports: `import { createApp } from '${unpkg}vue@3/dist/vue.esm-browser.js'`,
    code: `const at = document.createElement('div')
createApp({ template: '<p>ok</p>' }).mount(at)
return at.textContent === 'ok'`,
  },
  {
    name: 'Chart.js without a version',
    tags: `${script(`${npm}chart.js`)}<canvas id="c"></canvas>`,
    code: `return new Chart(document.getElementById('c'), { type: 'bar', data: { labels: ['a'], datasets: [{ data: [1] }] } }).data.labels.length === 1`,
  },
  {
    name: 'Chart.js of cdnjs',
    tags: `${script(`${cdnjs}Chart.js/3.9.1/chart.min.js`)}<canvas id="c"></canvas>`,
    code: `return new Chart(document.getElementById('c'), { type: 'line', data: { labels: ['a'], datasets: [{ data: [1] }] } }).data.labels.length === 1`,
  },
  {
    name: 'D3 of its own site',
    tags: script('https://d3js.org/d3.v7.min.js'),
    code: `return d3.scaleLinear([0, 1], [0, 10])(0.5) === 5`,
  },
  {
    name: 'p5 of cdnjs',
    tags: script(`${cdnjs}p5.js/1.9.0/p5.min.js`),
    code: `return new Promise((done) => new p5((p) => { p.setup = () => done(p.createCanvas(9, 9).width === 9) }))`,
  },
  {
    name: 'Phaser',
    tags: script(`${npm}phaser@3.80.1/dist/phaser.min.js`),
    code: `return new Promise((done) => new Phaser.Game({ type: Phaser.CANVAS, width: 9, height: 9, scene: { create() { done(true) } } }))`,
  },
  {
    name: 'PixiJS of cdnjs',
    tags: script(`${cdnjs}pixi.js/7.4.2/pixi.min.js`),
    code: `return new PIXI.Container().children.length === 0`,
  },
  {
    name: 'Matter of cdnjs',
    tags: script(`${cdnjs}matter-js/0.19.0/matter.min.js`),
    code: `const engine = Matter.Engine.create()
const ball = Matter.Bodies.circle(0, 0, 5)
Matter.Composite.add(engine.world, ball)
Matter.Engine.update(engine, 16)
Matter.Engine.update(engine, 16)
return ball.position.y > 0`,
  },
  {
    name: 'Tone of cdnjs',
    tags: script(`${cdnjs}tone/14.8.49/Tone.js`),
    code: `return Tone.Frequency('A4').toFrequency() === 440`,
  },
  {
    name: 'Howler of cdnjs',
    tags: script(`${cdnjs}howler/2.2.4/howler.min.js`),
    code: `return typeof Howl === 'function' && Howler.volume() === 1`,
  },
  {
    name: 'GSAP with ScrollTrigger',
    tags: script(`${cdnjs}gsap/3.12.5/gsap.min.js`, `${cdnjs}gsap/3.12.5/ScrollTrigger.min.js`),
    code: `gsap.registerPlugin(ScrollTrigger)
const o = { x: 0 }
gsap.to(o, { x: 1, duration: 0 })
return o.x === 1`,
  },
  {
    name: 'anime of cdnjs',
    tags: script(`${cdnjs}animejs/3.2.1/anime.min.js`),
    code: `return anime({ targets: { x: 0 }, x: 1, autoplay: false }).duration > 0`,
  },
  {
    name: 'confetti',
    tags: script(`${npm}canvas-confetti@1.6.0/dist/confetti.browser.min.js`),
    code: `confetti({ particleCount: 3 }); return true`,
  },
  {
    name: 'marked with DOMPurify and highlight.js',
    tags: `${sheet(`${cdnjs}highlight.js/11.9.0/styles/github-dark.min.css`)}${script(
      `${cdnjs}marked/12.0.1/marked.min.js`,
      `${cdnjs}dompurify/3.0.9/purify.min.js`,
      `${cdnjs}highlight.js/11.9.0/highlight.min.js`,
    )}`,
    code: `const html = DOMPurify.sanitize(marked.parse('# a <img onerror=x>'))
return html.includes('<h1') && !html.includes('onerror') && hljs.highlight('let a', { language: 'javascript' }).value.includes('hljs-')`,
  },
  {
    name: 'JSZip with FileSaver',
    tags: script(
      `${cdnjs}jszip/3.10.1/jszip.min.js`,
      `${cdnjs}FileSaver.js/2.0.5/FileSaver.min.js`,
    ),
    code: `const blob = await new JSZip().file('a', 'b').generateAsync({ type: 'blob' })
return blob.size > 50 && typeof saveAs === 'function'`,
  },
  {
    name: 'jsPDF of cdnjs',
    tags: script(`${cdnjs}jspdf/2.5.1/jspdf.umd.min.js`),
    code: `return new jspdf.jsPDF().text('a', 1, 1).output('arraybuffer').byteLength > 500`,
  },
  {
    name: 'QR code of cdnjs',
    tags: `${script(`${cdnjs}qrcodejs/1.0.0/qrcode.min.js`)}<div id="q"></div>`,
    code: `new QRCode(document.getElementById('q'), 'a'); return document.querySelector('#q canvas') !== null`,
  },
  {
    name: 'Leaflet with a marker',
    tags: `${sheet(`${unpkg}leaflet@1.9.4/dist/leaflet.css`)}${script(`${unpkg}leaflet@1.9.4/dist/leaflet.js`)}<div id="m" style="height:99px"></div>`,
    code: `const map = L.map('m').setView([1, 1], 5)
L.marker([1, 1]).addTo(map)
const image = document.querySelector('.leaflet-marker-icon')
if (!image.complete) await new Promise((done) => (image.onload = image.onerror = done))
return image.naturalWidth > 20`,
  },
  {
    name: 'Bootstrap',
    tags: `${sheet(`${npm}bootstrap@5.3.2/dist/css/bootstrap.min.css`)}${script(`${npm}bootstrap@5.3.2/dist/js/bootstrap.bundle.min.js`)}<b class="d-none" id="b"></b>`,
    code: `return getComputedStyle(document.getElementById('b')).display === 'none' && typeof bootstrap.Modal === 'function'`,
  },
  {
    name: 'Font Awesome of cdnjs',
    tags: `${sheet(`${cdnjs}font-awesome/6.5.1/css/all.min.css`)}<i class="fas fa-star" id="i"></i>`,
    code: `await document.fonts.load('900 16px "Font Awesome 6 Free"', '\\uf005')
return document.fonts.check('900 16px "Font Awesome 6 Free"', '\\uf005')`,
  },
  {
    name: 'Google Fonts',
    tags: sheet('https://fonts.googleapis.com/css2?family=Inter:wght@400;700&display=swap'),
    code: `return (await document.fonts.load('700 16px Inter')).length > 0`,
  },
  {
    name: 'Lucide icons',
    tags: `${script(`${unpkg}lucide@0.344.0/dist/umd/lucide.min.js`)}<i data-lucide="star"></i>`,
    code: `lucide.createIcons(); return document.querySelector('svg.lucide-star') !== null`,
  },
  {
    name: 'Feather icons',
    tags: `${script(`${unpkg}feather-icons@4.29.1`)}<i data-feather="star"></i>`,
    code: `feather.replace(); return document.querySelector('svg.feather-star') !== null`,
  },
  {
    name: 'animate.css of cdnjs',
    tags: `${sheet(`${cdnjs}animate.css/4.1.1/animate.min.css`)}<b class="animate__animated" id="b"></b>`,
    code: `return getComputedStyle(document.getElementById('b')).animationDuration === '1s'`,
  },
  {
    name: 'Papa Parse',
    tags: script(`${cdnjs}PapaParse/5.4.1/papaparse.min.js`),
    code: `return Papa.parse('a,b').data[0].length === 2`,
  },
  {
    name: 'Lodash, Moment and Axios',
    tags: script(
      `${cdnjs}lodash.js/4.17.21/lodash.min.js`,
      `${cdnjs}moment.js/2.29.4/moment.min.js`,
      `${npm}axios/dist/axios.min.js`,
    ),
    code: `return _.chunk([1, 2], 1).length === 2 && moment(0).isValid() && typeof axios.get === 'function'`,
  },
  {
    name: 'uuid and date-fns by esm.sh',
    tags: '',
    imports: `import { v4 } from '${esm}uuid@9'\nimport { format } from '${esm}date-fns@3'`,
    code: `return v4().length === 36 && format(new Date(0), 'yyyy').length === 4`,
  },
  {
    name: 'cannon-es with three',
    tags: importMap({ ...three, 'cannon-es': `${npm}cannon-es@0.20.0/dist/cannon-es.js` }),
    imports: `import * as THREE from 'three'\nimport * as CANNON from 'cannon-es'`,
    code: `return new THREE.Vector3().copy(new CANNON.Vec3(1, 2, 3)).y === 2`,
  },
  {
    name: 'simplex-noise by Skypack',
    tags: '',
    imports: `import { createNoise2D } from 'https://cdn.skypack.dev/simplex-noise@4.0.0'`,
    code: `return Math.abs(createNoise2D()(1, 2)) <= 1`,
  },
  {
    name: 'particles.js',
    tags: `${script(`${npm}particles.js@2.0.0/particles.min.js`)}<div id="p"></div>`,
    code: `particlesJS('p', {}); return document.querySelector('#p canvas') !== null`,
  },
  {
    name: 'AOS',
    tags: `${sheet(`${unpkg}aos@2.3.1/dist/aos.css`)}${script(`${unpkg}aos@2.3.1/dist/aos.js`)}<b data-aos="fade-up" id="b"></b>`,
    code: `AOS.init(); return getComputedStyle(document.getElementById('b')).transitionProperty.includes('opacity')`,
  },
  {
    name: 'htmx',
    tags: script(`${unpkg}htmx.org@1.9.10`),
    code: `return htmx.version.startsWith('1.9')`,
  },
  {
    name: 'Zdog',
    tags: script(`${unpkg}zdog@1/dist/zdog.dist.min.js`),
    code: `return new Zdog.Vector({ x: 3, y: 4 }).magnitude() === 5`,
  },
  {
    name: 'nipplejs with Hammer',
    tags: script(
      `${cdnjs}nipplejs/0.10.1/nipplejs.min.js`,
      `${cdnjs}hammer.js/2.0.8/hammer.min.js`,
    ),
    code: `return typeof nipplejs.create === 'function' && new Hammer(document.body).get('tap') !== null`,
  },
  {
    name: 'SortableJS',
    tags: `${script(`${npm}sortablejs@latest/Sortable.min.js`)}<ul id="u"><li>a</li></ul>`,
    code: `return Sortable.create(document.getElementById('u')).toArray().length === 1`,
  },
]

/** Uses of libraries as their own documentation has them. */
export const realPages: LibraryPage[] = [
  {
    name: 'DOMPurify of cdnjs',
    tags: script(`${cdnjs}dompurify/3.0.6/purify.min.js`),
    code: `return DOMPurify.sanitize('<b onclick=1>x</b>') === '<b>x</b>'`,
  },
  {
    name: 'pdf.js 3 with its worker',
    tags: script(`${cdnjs}pdf.js/3.11.174/pdf.min.js`),
    code: `pdfjsLib.GlobalWorkerOptions.workerSrc = '${cdnjs}pdf.js/3.11.174/pdf.worker.min.js'
return (await pdfjsLib.getDocument({ data: ${pdf} }).promise).numPages === 1`,
  },
  {
    name: 'pdf.js 4 with its module worker',
    tags: '',
    imports: `import * as pdfjs from '${npm}pdfjs-dist@4.4.168/build/pdf.min.mjs'`,
    code: `pdfjs.GlobalWorkerOptions.workerSrc = '${npm}pdfjs-dist@4.4.168/build/pdf.worker.min.mjs'
return (await pdfjs.getDocument({ data: ${pdf} }).promise).numPages === 1`,
  },
  {
    name: 'Turndown of cdnjs',
    tags: script(`${cdnjs}turndown/7.2.0/turndown.min.js`),
    code: `return new TurndownService().turndown('<b>x</b>') === '**x**'`,
  },
  {
    name: 'sql-formatter of cdnjs',
    tags: script(`${cdnjs}sql-formatter/15.3.0/sql-formatter.min.js`),
    code: `return sqlFormatter.format('select a from b').includes('\\n')`,
  },
  {
    name: 'jsmediatags of cdnjs',
    tags: script(`${cdnjs}jsmediatags/3.9.5/jsmediatags.min.js`),
    code: `return typeof jsmediatags.read === 'function'`,
    // The file is empty on npm.
    cannot: 'has no jsmediatags.min.js',
  },
  {
    name: 'markdown-it of cdnjs',
    tags: script(`${cdnjs}markdown-it/13.0.1/markdown-it.min.js`),
    code: `return markdownit().render('# a').includes('<h1>')`,
  },
  {
    name: 'unicode-emoji-json by fetch',
    tags: '',
    code: `const all = await (await fetch('${unpkg}unicode-emoji-json@0.6.0/data-by-emoji.json')).json()
return Object.keys(all).length > 1000`,
  },
  {
    name: 'a map of the world with D3 and TopoJSON',
    tags: script(`${npm}d3@7`, `${npm}topojson-client@3`),
    code: `const world = await d3.json('${npm}world-atlas@2/countries-110m.json')
return topojson.feature(world, world.objects.countries).features.length > 100`,
  },
  {
    name: 'MicroPython with WebAssembly beside it',
    tags: '',
    imports: `import { loadMicroPython } from '${npm}@micropython/micropython-webassembly-pyscript@1.24.0/micropython.mjs'`,
    code: `const python = await loadMicroPython()
python.runPython('x = 40 + 2')
return python.globals.get('x') === 42`,
  },
  {
    name: 'sql.js of cdnjs',
    tags: script(`${cdnjs}sql.js/1.10.3/sql-wasm.js`),
    code: `const SQL = await initSqlJs({ locateFile: (file) => '${cdnjs}sql.js/1.10.3/' + file })
return new SQL.Database().exec('select 42')[0].values[0][0] === 42`,
  },
  {
    name: 'gifuct-js, a CommonJS package that requires another',
    tags: '',
    imports: `import { parseGIF, decompressFrames } from '${esm}gifuct-js@2.1.2'`,
    code: `const bytes = Uint8Array.from(atob('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'), (c) => c.charCodeAt(0))
return decompressFrames(parseGIF(bytes.buffer), true).length === 1`,
  },
  {
    name: 'Day.js with a plugin',
    tags: script(`${npm}dayjs@1.11.10/dayjs.min.js`, `${npm}dayjs@1.11.10/plugin/relativeTime.js`),
    code: `dayjs.extend(dayjs_plugin_relativeTime); return dayjs().to(dayjs().add(2, 'day')).includes('2 days')`,
  },
  {
    name: 'math.js of cdnjs',
    tags: script(`${cdnjs}mathjs/11.8.0/math.js`),
    code: `return math.evaluate('sqrt(16)') === 4`,
  },
  {
    name: 'KaTeX with auto-render',
    tags: `${sheet(`${npm}katex@0.16.9/dist/katex.min.css`)}${script(`${npm}katex@0.16.9/dist/katex.min.js`, `${npm}katex@0.16.9/dist/contrib/auto-render.min.js`)}<p>$x^2$</p>`,
    code: `renderMathInElement(document.body, { delimiters: [{ left: '$', right: '$', display: false }] })
return document.querySelector('.katex') !== null`,
  },
  {
    name: 'CodeMirror 5 with a mode',
    tags: `${sheet(`${cdnjs}codemirror/5.65.16/codemirror.min.css`)}${script(`${cdnjs}codemirror/5.65.16/codemirror.min.js`, `${cdnjs}codemirror/5.65.16/mode/javascript/javascript.min.js`)}`,
    code: `const editor = CodeMirror(document.body, { value: 'let a', mode: 'javascript' })
return editor.getTokenAt({ line: 0, ch: 2 }).type === 'keyword'`,
  },
  {
    name: 'Ace with a mode that it loads',
    tags: `${script(`${cdnjs}ace/1.32.0/ace.js`)}<div id="e" style="height:99px">let a</div>`,
    code: `ace.config.set('basePath', '${cdnjs}ace/1.32.0/')
const editor = ace.edit('e')
const changed = new Promise((done) => editor.session.on('changeMode', done))
editor.session.setMode('ace/mode/javascript')
await changed
return editor.session.getTokenAt(0, 1).type === 'storage.type'`,
  },
  {
    name: 'Ace with a mode beside its script',
    tags: `${script(`${npm}ace-builds@1.32.0/src-min-noconflict/ace.js`)}<div id="e" style="height:99px">let a</div>`,
    code: `const editor = ace.edit('e')
const changed = new Promise((done) => editor.session.on('changeMode', done))
editor.setTheme('ace/theme/monokai')
editor.session.setMode('ace/mode/javascript')
await changed
return editor.session.getTokenAt(0, 1).type === 'storage.type'`,
  },
  {
    name: 'Prism with a language that it loads',
    tags: `${script(`${cdnjs}prism/1.29.0/prism.min.js`, `${cdnjs}prism/1.29.0/plugins/autoloader/prism-autoloader.min.js`)}<pre><code class="language-rust" id="c">fn main() {}</code></pre>`,
    code: `Prism.highlightAll()
for (let at = 0; at < 50 && !document.querySelector('#c .keyword'); at += 1) await new Promise((done) => setTimeout(done, 100))
return document.querySelector('#c .keyword').textContent === 'fn'`,
  },
  {
    name: 'Plotly of cdnjs',
    tags: `${script(`${cdnjs}plotly.js/2.27.0/plotly.min.js`)}<div id="p"></div>`,
    code: `await Plotly.newPlot('p', [{ y: [1, 2] }]); return document.querySelector('#p .main-svg') !== null`,
  },
  {
    name: 'ECharts',
    tags: `${script(`${npm}echarts@5.4.3/dist/echarts.min.js`)}<div id="e" style="width:99px;height:99px"></div>`,
    code: `echarts.init(document.getElementById('e')).setOption({ series: [{ type: 'pie', data: [1] }] })
return document.querySelector('#e canvas') !== null`,
  },
  {
    name: 'Fabric of cdnjs',
    tags: `${script(`${cdnjs}fabric.js/5.3.1/fabric.min.js`)}<canvas id="c"></canvas>`,
    code: `const canvas = new fabric.Canvas('c')
canvas.add(new fabric.Rect({ width: 5, height: 5 }))
return canvas.getObjects().length === 1`,
  },
  {
    name: 'Konva',
    tags: `${script(`${unpkg}konva@9.3.3/konva.min.js`)}<div id="k"></div>`,
    code: `return new Konva.Stage({ container: 'k', width: 9, height: 9 }).width() === 9`,
  },
  {
    name: 'Paper.js of cdnjs',
    tags: script(`${cdnjs}paper.js/0.12.17/paper-full.min.js`),
    code: `paper.setup(document.createElement('canvas')); return new paper.Path.Circle([0, 0], 2).length > 12`,
  },
  {
    name: 'Rough.js',
    tags: `${script(`${unpkg}roughjs@4.6.6/bundled/rough.js`)}<svg id="s"></svg>`,
    code: `return rough.svg(document.getElementById('s')).rectangle(1, 1, 5, 5).tagName === 'g'`,
  },
  {
    name: 'SVG.js',
    tags: script(`${npm}@svgdotjs/svg.js@3.2.0/dist/svg.min.js`),
    code: `return SVG().addTo('body').rect(9, 9).width() === 9`,
  },
  {
    name: 'Typed.js of cdnjs',
    tags: `${script(`${cdnjs}typed.js/2.1.0/typed.umd.js`)}<b id="t"></b>`,
    code: `return new Promise((done) => new Typed('#t', { strings: ['a'], typeSpeed: 1, onComplete: () => done(document.getElementById('t').textContent === 'a') }))`,
  },
  {
    name: 'Swiper',
    tags: `${sheet(`${npm}swiper@11.0.5/swiper-bundle.min.css`)}${script(`${npm}swiper@11.0.5/swiper-bundle.min.js`)}<div class="swiper"><div class="swiper-wrapper"><div class="swiper-slide">a</div></div></div>`,
    code: `return new Swiper('.swiper').slides.length === 1`,
  },
  {
    name: 'SweetAlert2',
    tags: script(`${npm}sweetalert2@11.10.5`),
    code: `void Swal.fire('hello'); return Swal.isVisible()`,
  },
  {
    name: 'SheetJS of cdnjs',
    tags: script(`${cdnjs}xlsx/0.18.5/xlsx.full.min.js`),
    code: `return XLSX.utils.aoa_to_sheet([[1]]).A1.v === 1`,
  },
  {
    name: 'Handlebars and Mustache of cdnjs',
    tags: script(
      `${cdnjs}handlebars.js/4.7.8/handlebars.min.js`,
      `${cdnjs}mustache.js/4.2.0/mustache.min.js`,
    ),
    code: `return Handlebars.compile('{{a}}')({ a: 1 }) === '1' && Mustache.render('{{a}}', { a: 2 }) === '2'`,
  },
  {
    name: 'Underscore of cdnjs',
    tags: script(`${cdnjs}underscore.js/1.13.6/underscore-min.js`),
    code: `return _.range(3).length === 3`,
  },
  {
    name: 'seedrandom of cdnjs',
    tags: script(`${cdnjs}seedrandom/3.0.5/seedrandom.min.js`),
    code: `return new Math.seedrandom('a')() === new Math.seedrandom('a')()`,
  },
  {
    name: 'lz-string of cdnjs',
    tags: script(`${cdnjs}lz-string/1.5.0/lz-string.min.js`),
    code: `return LZString.decompress(LZString.compress('aaaa')) === 'aaaa'`,
  },
  {
    name: 'CryptoJS of cdnjs',
    tags: script(`${cdnjs}crypto-js/4.2.0/crypto-js.min.js`),
    code: `return CryptoJS.MD5('a').toString().startsWith('0cc175b9')`,
  },
  {
    name: 'Preact with hooks and htm',
    tags: '',
    imports: `import { h, render } from '${esm}preact@10.19.3'
import { useState } from '${esm}preact@10.19.3/hooks'
import htm from '${esm}htm@3.1.1'`,
    code: `const html = htm.bind(h)
const App = () => html\`<p>\${useState(7)[0]}</p>\`
const at = document.createElement('div')
render(html\`<\${App} />\`, at)
return at.textContent === '7'`,
  },
  {
    name: 'Lit by a module of jsDelivr',
    tags: '',
    imports: `import { LitElement, html } from '${npm}lit@3.1.2/+esm'`,
    code: `customElements.define('x-a', class extends LitElement { render() { return html\`<b>lit</b>\` } })
const element = document.createElement('x-a')
document.body.append(element)
await element.updateComplete
return element.shadowRoot.textContent.includes('lit')`,
  },
  {
    name: 'hls.js',
    tags: script(`${npm}hls.js@1.5.7`),
    code: `return typeof Hls.isSupported() === 'boolean'`,
  },
  {
    name: 'Cytoscape of cdnjs',
    tags: script(`${cdnjs}cytoscape/3.28.1/cytoscape.min.js`),
    code: `return cytoscape({ elements: [{ data: { id: 'a' } }] }).nodes().length === 1`,
  },
  {
    name: 'chess.js by esm.sh',
    tags: '',
    imports: `import { Chess } from '${esm}chess.js@1.0.0'`,
    code: `return new Chess().moves().length === 20`,
  },
  {
    name: 'JsBarcode',
    tags: `${script(`${npm}jsbarcode@3.11.6/dist/JsBarcode.all.min.js`)}<svg id="b"></svg>`,
    code: `JsBarcode('#b', '12'); return document.querySelectorAll('#b rect').length > 5`,
  },
  {
    name: 'Rapier with its WebAssembly inside',
    tags: '',
    imports: `import RAPIER from '${esm}@dimforge/rapier3d-compat@0.12.0'`,
    code: `await RAPIER.init(); return new RAPIER.World({ x: 0, y: -9.8, z: 0 }).gravity.y < 0`,
  },
  {
    name: 'Tesseract.js',
    tags: script(`${npm}tesseract.js@5.0.4/dist/tesseract.min.js`),
    code: `return typeof Tesseract.createWorker === 'function'`,
    cannot: 'by addresses that it computes',
  },
  {
    name: 'Mermaid by its module',
    tags: '',
    imports: `import mermaid from '${npm}mermaid@11/dist/mermaid.esm.min.mjs'`,
    code: `return (await mermaid.render('a', 'graph TD; A-->B')).svg.includes('<svg')`,
  },
  {
    name: 'Vega-Lite with its embed',
    tags: script(`${npm}vega@5`, `${npm}vega-lite@5`, `${npm}vega-embed@6`),
    code: `const chart = { mark: 'bar', data: { values: [{ a: 1 }] }, encoding: { x: { field: 'a', type: 'quantitative' } } }
return (await vegaEmbed(document.body, chart)).view !== undefined`,
  },
  {
    name: 'Alpine with a range as its version',
    tags: `<script defer src="${npm}alpinejs@3.x.x/dist/cdn.min.js"></script><b id="n" x-data="{ n: 41 }" x-text="n + 1"></b>`,
    code: `while (document.getElementById('n').textContent !== '42') await new Promise(requestAnimationFrame)
return true`,
  },
  {
    name: 'DataTables with jQuery',
    tags: script(
      `${npm}jquery@3.7.1/dist/jquery.min.js`,
      `${npm}datatables.net@2.1.8/js/dataTables.min.js`,
    ),
    code: `document.body.insertAdjacentHTML('beforeend', '<table id="t"><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>')
return new DataTable('#t').rows().count() === 1`,
  },
  {
    name: 'Tabulator',
    tags: `${sheet(`${unpkg}tabulator-tables@6.3.0/dist/css/tabulator.min.css`)}${script(`${unpkg}tabulator-tables@6.3.0/dist/js/tabulator.min.js`)}<div id="t"></div>`,
    code: `const table = new Tabulator('#t', { data: [{ a: 1 }], columns: [{ title: 'a', field: 'a' }] })
await new Promise((done) => table.on('tableBuilt', done))
return table.getDataCount() === 1`,
  },
  {
    name: 'FullCalendar',
    tags: `${script(`${npm}fullcalendar@6.1.15/index.global.min.js`)}<div id="c"></div>`,
    code: `const calendar = new FullCalendar.Calendar(document.getElementById('c'), { initialView: 'dayGridMonth' })
calendar.render()
return document.querySelector('.fc-daygrid') !== null`,
  },
  {
    name: 'flatpickr without a file',
    tags: `${sheet(`${npm}flatpickr/dist/flatpickr.min.css`)}${script(`${npm}flatpickr`)}<input id="d">`,
    code: `return flatpickr('#d').calendarContainer.classList.contains('flatpickr-calendar')`,
  },
  {
    name: 'Quill',
    tags: `${sheet(`${npm}quill@2.0.2/dist/quill.snow.css`)}${script(`${npm}quill@2.0.2/dist/quill.js`)}<div id="q"></div>`,
    code: `const quill = new Quill('#q', { theme: 'snow' })
quill.setText('hi')
return quill.getText() === 'hi\\n'`,
  },
  {
    name: 'OpenLayers',
    tags: script(`${npm}ol@v10.2.1/dist/ol.js`),
    code: `return new ol.Map({ target: document.body, layers: [] }).getLayers().getLength() === 0`,
  },
  {
    name: 'Lottie of cdnjs',
    tags: script(`${cdnjs}lottie-web/5.12.2/lottie.min.js`),
    code: `const animationData = { v: '5.5.7', fr: 30, ip: 0, op: 30, w: 9, h: 9, layers: [] }
return lottie.loadAnimation({ container: document.body, renderer: 'svg', animationData }).totalFrames === 30`,
  },
  {
    name: 'Two.js of cdnjs',
    tags: script(`${cdnjs}two.js/0.8.14/two.min.js`),
    code: `return new Two({ width: 9, height: 9 }).appendTo(document.body).makeCircle(1, 1, 1).radius === 1`,
  },
  {
    name: 'opentype.js',
    tags: script(`${npm}opentype.js@1.3.4/dist/opentype.min.js`),
    code: `return new opentype.Path().commands.length === 0`,
  },
  {
    name: 'jQuery UI of cdnjs',
    tags: script(`${cdnjs}jquery/3.7.1/jquery.min.js`, `${cdnjs}jqueryui/1.13.2/jquery-ui.min.js`),
    code: `return $('<div>').appendTo('body').slider({ value: 7 }).slider('value') === 7`,
  },
  {
    name: 'Bulma of cdnjs',
    tags: sheet(`${cdnjs}bulma/0.9.4/css/bulma.min.css`),
    code: `document.body.insertAdjacentHTML('beforeend', '<b id="h" class="is-hidden">x</b>')
return getComputedStyle(document.getElementById('h')).display === 'none'`,
  },
  {
    name: 'Vuetify',
    tags: script(
      `${npm}vue@3.4.38/dist/vue.global.prod.js`,
      `${npm}vuetify@3.7.2/dist/vuetify.min.js`,
    ),
    code: `const root = document.createElement('div')
Vue.createApp({ template: '<v-btn>hi</v-btn>' }).use(Vuetify.createVuetify()).mount(root)
return root.querySelector('button').textContent === 'hi'`,
  },
  {
    name: 'Solid by esm.sh',
    tags: '',
    imports: `import { createSignal } from 'https://esm.sh/solid-js@1.9.3'`,
    code: `const [n, setN] = createSignal(1)
setN(42)
return n() === 42`,
  },
  {
    name: 'zod and zustand by esm.sh',
    tags: '',
    imports: `import { z } from 'https://esm.sh/zod@3.23.8'
import { createStore } from 'https://esm.sh/zustand@5.0.1/vanilla'`,
    code: `return z.number().parse(42) === 42 && createStore(() => ({ n: 42 })).getState().n === 42`,
  },
  {
    name: 'XState by esm.run',
    tags: '',
    imports: `import { createActor, createMachine } from 'https://esm.run/xstate@5.18.2'`,
    code: `return createActor(createMachine({ initial: 'on', states: { on: {} } })).start().getSnapshot().value === 'on'`,
  },
  {
    name: 'RxJS',
    tags: script(`${unpkg}rxjs@7.8.1/dist/bundles/rxjs.umd.min.js`),
    code: `return (await rxjs.firstValueFrom(rxjs.of(41).pipe(rxjs.operators.map((n) => n + 1)))) === 42`,
  },
  {
    name: 'Yjs by esm.sh',
    tags: '',
    imports: `import * as Y from 'https://esm.sh/yjs@13.6.20'`,
    code: `const map = new Y.Doc().getMap('m')
map.set('n', 42)
return map.get('n') === 42`,
  },
  {
    name: 'pdf-lib',
    tags: script(`${unpkg}pdf-lib@1.17.1/dist/pdf-lib.min.js`),
    code: `const file = await PDFLib.PDFDocument.create()
file.addPage()
return (await file.save()).length > 500`,
  },
  {
    name: 'ExcelJS of cdnjs',
    tags: script(`${cdnjs}exceljs/4.4.0/exceljs.min.js`),
    code: `const book = new ExcelJS.Workbook()
book.addWorksheet('a').addRow([42])
return (await book.xlsx.writeBuffer()).byteLength > 500`,
  },
  {
    name: 'mammoth of cdnjs',
    tags: script(`${cdnjs}mammoth/1.8.0/mammoth.browser.min.js`),
    code: `return (await mammoth.convertToHtml({ arrayBuffer: new ArrayBuffer(1) }).catch((error) => error.message)).includes('zip')`,
  },
  {
    name: 'jsQR',
    tags: script(`${npm}jsqr@1.4.0/dist/jsQR.js`),
    code: `return jsQR(new Uint8ClampedArray(40000), 100, 100) === null`,
  },
  {
    name: 'PhotoSwipe, whose lightbox loads its core',
    tags: sheet(`${unpkg}photoswipe@5.4.4/dist/photoswipe.css`),
    imports: `import PhotoSwipeLightbox from '${unpkg}photoswipe@5.4.4/dist/photoswipe-lightbox.esm.js'`,
    code: `const lightbox = new PhotoSwipeLightbox({ pswpModule: () => import('${unpkg}photoswipe@5.4.4/dist/photoswipe.esm.js'), dataSource: [{ html: '<b>hi</b>' }] })
lightbox.init()
lightbox.loadAndOpen(0)
await new Promise((done) => lightbox.on('afterInit', done))
return document.querySelector('.pswp') !== null`,
  },
  {
    name: 'Video.js',
    tags: `${sheet(`${unpkg}video.js@8.19.1/dist/video-js.min.css`)}${script(`${unpkg}video.js@8.19.1/dist/video.min.js`)}<video id="v" class="video-js"></video>`,
    code: `const player = videojs('v', { controls: true })
await new Promise((done) => player.ready(done))
return player.controls()`,
  },
  {
    name: 'Popper and Tippy without files',
    tags: script(`${unpkg}@popperjs/core@2`, `${unpkg}tippy.js@6`) + '<b id="b">x</b>',
    code: `return tippy('#b', { content: 'hi' })[0].props.content === 'hi'`,
  },
  {
    name: 'SQLite of its makers, with WebAssembly beside its module',
    tags: '',
    imports: `import sqlite3InitModule from '${npm}@sqlite.org/sqlite-wasm@3.46.1-build3/sqlite-wasm/jswasm/sqlite3.mjs'`,
    code: `const db = new (await sqlite3InitModule()).oo1.DB()
return db.selectValue('select 40 + 2') === 42`,
  },
  {
    name: 'Moment Timezone with its data, of cdnjs',
    tags: script(
      `${cdnjs}moment.js/2.29.4/moment.min.js`,
      `${cdnjs}moment-timezone/0.5.45/moment-timezone-with-data.min.js`,
    ),
    code: `return moment.tz('2024-01-01T00:00Z', 'Asia/Tokyo').hour() === 9`,
  },
  {
    name: 'Dexie in databases of the page',
    tags: script(`${unpkg}dexie@4.0.8/dist/dexie.min.js`),
    code: `const db = new Dexie('fish')
db.version(1).stores({ fish: '++id' })
await db.fish.add({ n: 42 })
return (await db.fish.toArray())[0].n === 42`,
  },
  {
    name: 'Fuse and i18next',
    tags: script(`${npm}fuse.js@7.0.0`, `${npm}i18next@23.16.4/i18next.min.js`),
    code: `await i18next.init({ lng: 'de', resources: { de: { translation: { fish: 'Fisch' } } } })
return i18next.t('fish') === 'Fisch' && new Fuse(['fish']).search('fis')[0].item === 'fish'`,
  },
  {
    name: 'TensorFlow.js',
    tags: script(`${npm}@tensorflow/tfjs@4.22.0/dist/tf.min.js`),
    code: `await tf.setBackend('cpu')
return tf.tensor([40, 2]).sum().dataSync()[0] === 42`,
  },
  {
    name: 'Monaco by its AMD loader',
    tags: script(`${cdnjs}monaco-editor/0.44.0/min/vs/loader.min.js`),
    code: `require.config({ paths: { vs: '${cdnjs}monaco-editor/0.44.0/min/vs' } })
await new Promise((done, fail) => require(['vs/editor/editor.main'], done, fail))
return monaco.editor.create(document.body, { value: 'hi', language: 'javascript' }).getValue() === 'hi'`,
  },
]
