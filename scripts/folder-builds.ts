/**
 * `bun scripts/folder-builds.ts [name ...]`: builds the folders of `src/testing/folders/builds`
 * with the tools that people use, each in a temporary folder with pinned packages from npm, and
 * packs them as zips. The pages post what they found, which `src/testing/folders/builds.ts` has.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { zipSync } from 'fflate'

const target = join(import.meta.dir, '../src/testing/folders/builds')

interface Build {
  packages: string[]
  files: Record<string, string | Uint8Array>
  command: string
  /** The folder that the tool writes. */
  out: string
}

const png = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR42mP4z8AARAwQCgAf7gP9Y167WwAAAABJRU5ErkJggg==',
    'base64',
  ),
)
/** A module that exports add(a, b). */
const wasm = Uint8Array.from(
  Buffer.from('AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABagsAPg==', 'base64'),
).subarray(0, 41)

/** A triangle as binary glTF 2.0. */
function triangle(): Uint8Array {
  const points = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0])
  const gltf = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0, name: 'triangle' }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: 3,
        type: 'VEC3',
        min: [0, 0, 0],
        max: [1, 1, 0],
      },
    ],
    bufferViews: [{ buffer: 0, byteLength: points.byteLength }],
    buffers: [{ byteLength: points.byteLength }],
  }
  const text = JSON.stringify(gltf)
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4))
  const header = (type: string, bytes: Uint8Array): Buffer => {
    const start = Buffer.alloc(8)
    start.writeUInt32LE(bytes.byteLength)
    start.write(type, 4, 'latin1')
    return start
  }
  const bin = Buffer.from(points.buffer)
  const parts = [header('JSON', json), json, header('BIN\0', bin), bin]
  const start = Buffer.alloc(12)
  start.write('glTF', 'latin1')
  start.writeUInt32LE(2, 4)
  start.writeUInt32LE(12 + parts.reduce((sum, { byteLength }) => sum + byteLength, 0), 8)
  return Buffer.concat([start, ...parts])
}

/** Two pixels as Radiance HDR. */
const hdr = Buffer.concat([
  Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n'),
  Buffer.from([128, 64, 32, 129, 128, 64, 32, 129]),
])

const manifest = '{"name":"x","private":true,"type":"module","version":"1.0.0"}'
const send = (values: string): string => `top.postMessage({ said: [${values}] }, '*')`
/** Waits until a style applies, which a tool may load after the script. */
const styled = `const styled = new Promise((done) => {
  const look = () => getComputedStyle(document.body).color === 'rgb(255, 0, 0)' ? done('styled') : requestAnimationFrame(look)
  look()
})`
const pictured = (url: string): string =>
  `new Promise((done) => { const i = new Image(); i.onload = () => done(i.naturalWidth); i.onerror = () => done('no picture'); i.src = ${url} })`
const workerSays = (worker: string): string =>
  `new Promise((done) => { const w = ${worker}; w.onmessage = (e) => done(e.data); w.onerror = (e) => done('no worker ' + e.message); w.postMessage(1) })`

const css = `@font-face { font-family: none; src: local("none") } body { color: red; background: url("./dot.png") }`
const sources = {
  'src/style.css': css,
  'src/dot.png': png,
  'src/part.js': 'export const part = 2',
  'src/worker.js':
    "import { part } from './part.js'\nonmessage = (e) => postMessage(e.data + part)",
  'src/data.json': '{"n":7}',
}
const index = (script: string): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>Build</title></head><body><div id="app"></div>${script}</body></html>`

const viteMain = `import './style.css'
import url from './dot.png'
import data from './data.json'
import init from './add.wasm?init'
import raw from './part.js?raw'
${styled}
const { part } = await import('./part.js')
const instance = await init()
const worker = await ${workerSays("new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })")}
const image = await ${pictured('url')}
const bundled = await ${pictured("new URL('./dot.png', import.meta.url).href")}
const shared = await (await fetch(import.meta.env.BASE_URL + 'public.json')).json()
${send('await styled, part, data.n, instance.exports.add(2, 3), worker, image, bundled, raw.length > 5, shared.n')}`

const vite = (base: string): Build => ({
  packages: ['vite@8.4.0'],
  files: {
    ...sources,
    'src/add.wasm': wasm,
    'src/main.js': viteMain,
    'public/public.json': '{"n":9}',
    'index.html': index('<script type="module" src="/src/main.js"></script>'),
    'vite.config.js': `export default { base: '${base}', build: { assetsInlineLimit: 0, target: 'esnext' }, worker: { format: 'es' } }`,
  },
  command: 'vite build',
  out: 'dist',
})

const builds: Record<string, Build> = {
  'vite-root': vite('/'),
  'vite-relative': vite('./'),
  'vite-svelte': {
    packages: ['vite@8.4.0', 'svelte@5', '@sveltejs/vite-plugin-svelte@latest'],
    files: {
      'src/style.css': css,
      'src/dot.png': png,
      'src/App.svelte': `<script>import './style.css'; import dot from './dot.png'; let count = $state(0); const load = import('./part.js')
function up() { count += 1 }</script>
<button onclick={up}>{count}</button><img src={dot} alt="">{#await load then { part }}<p>{part}</p>{/await}<style>button{color:rgb(0, 128, 0)}</style>`,
      'src/part.js': 'export const part = 2',
      'src/main.js': `import { mount } from 'svelte'\nimport App from './App.svelte'\n${styled}\nmount(App, { target: document.getElementById('app') })
const button = document.querySelector('button')
button.click(); button.click()
await import('./part.js'); await new Promise((done) => setTimeout(done, 50))
await document.querySelector('img').decode()
${send("await styled, button.textContent, document.querySelector('p').textContent, getComputedStyle(button).color")}`,
      'index.html': index('<script type="module" src="/src/main.js"></script>'),
      'vite.config.js': `import { svelte } from '@sveltejs/vite-plugin-svelte'\nexport default { plugins: [svelte()], build: { assetsInlineLimit: 0, target: 'esnext' } }`,
    },
    command: 'vite build',
    out: 'dist',
  },
  'vite-vue': {
    packages: ['vite@8.4.0', 'vue@3', '@vitejs/plugin-vue@latest'],
    files: {
      'src/style.css': css,
      'src/dot.png': png,
      'src/App.vue': `<script setup>import { ref, defineAsyncComponent } from 'vue'; import dot from './dot.png'; const count = ref(0); const Part = defineAsyncComponent(() => import('./Part.vue'))</script>
<template><button @click="count++">{{ count }}</button><img :src="dot"><Part /></template><style scoped>button{color:rgb(0, 128, 0)}</style>`,
      'src/Part.vue': '<template><p>2</p></template><style>p{color:rgb(0, 0, 255)}</style>',
      'src/main.js': `import './style.css'\nimport { createApp, nextTick } from 'vue'\nimport App from './App.vue'\n${styled}\ncreateApp(App).mount('#app')
const button = document.querySelector('button')
button.click(); button.click(); await nextTick()
await new Promise((done) => { const look = () => document.querySelector('p') ? done() : requestAnimationFrame(look); look() })
${send("await styled, button.textContent, getComputedStyle(document.querySelector('p')).color, getComputedStyle(button).color")}`,
      'index.html': index('<script type="module" src="/src/main.js"></script>'),
      'vite.config.js': `import vue from '@vitejs/plugin-vue'\nexport default { plugins: [vue()], build: { assetsInlineLimit: 0, target: 'esnext' } }`,
    },
    command: 'vite build',
    out: 'dist',
  },
  webpack: {
    packages: [
      'webpack@5',
      'webpack-cli@6',
      'html-webpack-plugin@5',
      'mini-css-extract-plugin@2',
      'css-loader@7',
    ],
    files: {
      ...sources,
      'src/index.js': `import './style.css'
import url from './dot.png'
import data from './data.json'
${styled}
const run = async () => {
  const { part } = await import('./part.js')
  const worker = await ${workerSays("new Worker(new URL('./worker.js', import.meta.url))")}
  ${send(`await styled, part, data.n, worker, await ${pictured('url')}`)}
}
run()`,
      'webpack.config.js': `import Html from 'html-webpack-plugin'\nimport Css from 'mini-css-extract-plugin'
export default { mode: 'production', plugins: [new Html(), new Css()], output: { filename: 'js/[name].[contenthash].js', assetModuleFilename: 'img/[hash][ext]' },
module: { rules: [{ test: /\\.css$/, use: [Css.loader, 'css-loader'] }, { test: /\\.png$/, type: 'asset/resource' }] } }`,
    },
    command: 'webpack',
    out: 'dist',
  },
  esbuild: {
    packages: ['esbuild@0.25'],
    files: {
      ...sources,
      'src/main.js': `import './style.css'
import url from './dot.png'
import data from './data.json'
${styled}
const { part } = await import('./part.js')
${send(`await styled, part, data.n, await ${pictured('new URL(url, import.meta.url).href')}`)}`,
      'dist/index.html': index(
        '<link rel="stylesheet" href="main.css"><script type="module" src="main.js"></script>',
      ),
    },
    command:
      'esbuild src/main.js --bundle --minify --splitting --format=esm --loader:.png=file --outdir=dist',
    out: 'dist',
  },
  rollup: {
    packages: ['rollup@4'],
    files: {
      'src/part.js': 'export const part = 2',
      'src/main.js': `const run = async () => { const { part } = await import('./part.js'); ${send('part, new URL("x.png", import.meta.url).pathname.endsWith("/js/x.png")')} }\nrun()`,
      'dist/index.html': index('<script type="module" src="./js/main.js"></script>'),
    },
    command: 'rollup src/main.js --dir dist/js --format es',
    out: 'dist',
  },
  parcel: {
    packages: ['parcel@2'],
    files: {
      ...sources,
      'src/main.js': `import data from './data.json'
${styled}
const run = async () => {
  const { part } = await import('./part.js')
  const worker = await ${workerSays("new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })")}
  ${send(`await styled, part, data.n, worker, await ${pictured("new URL('./dot.png', import.meta.url).href")}`)}
}
run()`,
      'src/index.html': index(
        '<link rel="stylesheet" href="./style.css"><script type="module" src="./main.js"></script>',
      ),
    },
    command: 'parcel build src/index.html --no-source-maps --no-cache',
    out: 'dist',
  },
  astro: {
    packages: ['astro@5'],
    files: {
      'src/pages/index.astro': `---\nimport dot from '../dot.png'\n---\n<html><head><title>Astro</title></head><body><a href="/about/" style="position:fixed;inset:0;display:block">about</a><img src={dot.src}><style is:global>body{color:red}</style>
<script>${styled}
import('../part.js').then(async ({ part }) => { const i = document.querySelector('img'); await i.decode(); ${send('await styled, part, i.naturalWidth')} })</script></body></html>`,
      'src/pages/about.astro': `<html><head><title>About</title></head><body><script>import { part } from '../part.js'\n${send("'about', part, document.title")}</script></body></html>`,
      'src/part.js': 'export const part = 2',
      'src/dot.png': png,
      'astro.config.mjs':
        "export default { build: { inlineStylesheets: 'never' }, vite: { build: { assetsInlineLimit: 0 } }, devToolbar: { enabled: false } }",
    },
    command: 'astro build',
    out: 'dist',
  },
  eleventy: {
    packages: ['@11ty/eleventy@3'],
    files: {
      'index.njk': `---\ntitle: Home\n---\n<!doctype html><title>{{ title }}</title><link rel="stylesheet" href="/css/site.css"><a href="/about/" style="position:fixed;inset:0;display:block">about</a><script>${styled};styled.then((s) => { ${send('s, document.title')} })</script>`,
      'about.njk': `---\ntitle: About\n---\n<!doctype html><title>{{ title }}</title><link rel="stylesheet" href="/css/site.css"><p>About</p><script>${styled};styled.then((s) => { ${send('s, document.title')} })</script>`,
      'css/site.css': 'body{color:red}',
      'eleventy.config.js': "export default (config) => { config.addPassthroughCopy('css') }",
    },
    command: 'eleventy',
    out: '_site',
  },
  sveltekit: {
    packages: [
      'vite@7',
      'svelte@5',
      '@sveltejs/kit@2',
      '@sveltejs/adapter-static@3',
      '@sveltejs/vite-plugin-svelte@6',
    ],
    files: {
      'src/app.html':
        '<!doctype html><html><head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>',
      'src/routes/+layout.js': 'export const prerender = true',
      'src/routes/+page.svelte': `<script>import { onMount } from 'svelte'; import dot from '$lib/dot.png'; let count = $state(0); let image
onMount(async () => { ${styled}; count += 1; const { part } = await import('$lib/part.js'); await image.decode(); ${send('await styled, count, part, image.naturalWidth')} })</script>
<svelte:head><title>Kit</title></svelte:head><a href="/about" style="position:fixed;inset:0;display:block">about</a><img bind:this={image} src={dot} alt=""><p>{count}</p><style>:global(body){color:red}</style>`,
      'src/routes/about/+page.svelte': `<script>import { onMount } from 'svelte'; let { data } = $props(); onMount(() => { ${send("'about', document.title")} })</script><svelte:head><title>About</title></svelte:head>`,
      'src/lib/dot.png': png,
      'src/lib/part.js': 'export const part = 2',
      'svelte.config.js':
        "import adapter from '@sveltejs/adapter-static'\nexport default { kit: { adapter: adapter() } }",
      'vite.config.js':
        "import { sveltekit } from '@sveltejs/kit/vite'\nexport default { plugins: [sveltekit()], build: { assetsInlineLimit: 0 } }",
    },
    command: 'vite build',
    out: 'build',
  },
  next: {
    packages: ['next@15', 'react@19', 'react-dom@19'],
    files: {
      'app/layout.jsx': `import './style.css'\nexport const metadata = { title: 'Next' }
export default ({ children }) => <html><body>{children}</body></html>`,
      'app/style.css': 'body{color:red}',
      'app/dot.png': png,
      'app/part.js': 'export const part = 2',
      'app/page.jsx': `'use client'
import Image from 'next/image'\nimport Link from 'next/link'\nimport { useEffect, useState } from 'react'\nimport dot from './dot.png'
export default () => {
  const [count, setCount] = useState(0)
  useEffect(() => { (async () => { ${styled}; setCount(1); const { part } = await import('./part.js'); const i = document.querySelector('img'); await i.decode(); ${send('await styled, part, i.naturalWidth, document.querySelector("p").textContent')} })() }, [])
  return <><Link href="/about/" style={{ position: 'fixed', inset: 0 }}>about</Link><Image src={dot} alt="" /><p>{count}</p></>
}`,
      'app/about/page.jsx': `'use client'\nimport { useEffect } from 'react'
export default () => { useEffect(() => { ${send("'about', document.querySelector('h1').textContent")} }, []); return <h1>About</h1> }`,
      'next.config.mjs':
        "export default { output: 'export', trailingSlash: true, images: { unoptimized: true } }",
    },
    command: 'next build',
    out: 'out',
  },
  nuxt: {
    packages: ['nuxt@3'],
    files: {
      'app.vue': '<template><NuxtPage /></template><style>body{color:red}</style>',
      'assets/dot.png': png,
      'pages/index.vue': `<script setup>import dot from '~/assets/dot.png'\nconst count = ref(0)\nonMounted(async () => { ${styled}; count.value += 1; await nextTick(); const i = document.querySelector('img'); await i.decode(); ${send('await styled, i.naturalWidth, document.querySelector("p").textContent')} })</script>
<template><div><a href="/about" style="position:fixed;inset:0">about</a><img :src="dot"><p>{{ count }}</p></div></template>`,
      'pages/about.vue': `<script setup>onMounted(() => { ${send("'about', document.querySelector('h1').textContent")} })</script><template><h1>About</h1></template>`,
      'nuxt.config.ts':
        'export default { telemetry: false, compatibilityDate: "2025-01-01", vite: { build: { assetsInlineLimit: 0 } } }',
    },
    command: 'nuxt generate',
    out: '.output/public',
  },
  three: {
    packages: ['three@0.180.0', 'draco3dgltf@1', 'esbuild@0.25'],
    files: {
      'main.js': `import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js'
import { RGBELoader } from 'three/addons/loaders/RGBELoader.js'
import { DRACOLoader } from 'three/addons/loaders/DRACOLoader.js'
import { TextureLoader } from 'three'
const draco = new DRACOLoader().setDecoderPath('draco/')
const [gltf, hdr, picture, packed] = await Promise.all([
  new GLTFLoader().loadAsync('models/triangle.glb'), new RGBELoader().loadAsync('sky/two.hdr'),
  new TextureLoader().loadAsync('dot.png'), draco.loadAsync('models/triangle.drc')])
${send('gltf.scene.children[0].name, gltf.scene.children[0].geometry.attributes.position.count, hdr.image.width, picture.image.naturalWidth, packed.attributes.position.count')}`,
      'dist/models/triangle.glb': triangle(),
      'dist/sky/two.hdr': hdr,
      'dist/dot.png': png,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
      'build.mjs': `import { build } from 'esbuild'\nimport { cpSync, writeFileSync } from 'node:fs'\nimport draco from 'draco3dgltf'
await build({ entryPoints: ['main.js'], bundle: true, minify: true, format: 'esm', target: 'esnext', outdir: 'dist' })
for (const name of ['draco_decoder.wasm', 'draco_wasm_wrapper.js']) cpSync('node_modules/three/examples/jsm/libs/draco/' + name, 'dist/draco/' + name)
const lib = await draco.createEncoderModule()
const [encoder, builder, mesh] = [new lib.Encoder(), new lib.MeshBuilder(), new lib.Mesh()]
builder.AddFacesToMesh(mesh, 1, new Uint32Array([0, 1, 2]))
builder.AddFloatAttributeToMesh(mesh, lib.POSITION, 3, 3, new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]))
const out = new lib.DracoInt8Array()
const bytes = encoder.EncodeMeshToDracoBuffer(mesh, out)
writeFileSync('dist/models/triangle.drc', Uint8Array.from({ length: bytes }, (_, at) => out.GetValue(at)))`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  babylon: {
    packages: ['@babylonjs/core@8', '@babylonjs/loaders@8', 'esbuild@0.25'],
    files: {
      'main.js': `import { NullEngine } from '@babylonjs/core/Engines/nullEngine.js'\nimport { Scene } from '@babylonjs/core/scene.js'
import { ImportMeshAsync } from '@babylonjs/core/Loading/sceneLoader.js'\nimport '@babylonjs/loaders/glTF/2.0/glTFLoader.js'
const scene = new Scene(new NullEngine())
const { meshes } = await ImportMeshAsync('models/triangle.glb', scene)
${send('meshes.length, meshes[1].name, meshes[1].getTotalVertices()')}`,
      'dist/models/triangle.glb': triangle(),
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command:
      'esbuild main.js --bundle --minify --splitting --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  pixi: {
    packages: ['pixi.js@8', 'esbuild@0.25'],
    files: {
      'main.js': `import { Assets } from 'pixi.js'
await Assets.init({ manifest: 'manifest.json', basePath: 'art' })
const { dot, sheet } = await Assets.loadBundle('game')
${send('dot.width, sheet.textures.half.width')}`,
      'dist/art/dot.png': png,
      'dist/art/sheet.json': JSON.stringify({
        frames: { half: { frame: { x: 0, y: 0, w: 1, h: 2 } } },
        meta: { image: 'dot.png', size: { w: 2, h: 2 }, scale: '1' },
      }),
      'dist/art/manifest.json': JSON.stringify({
        bundles: [
          {
            name: 'game',
            assets: [
              { alias: 'dot', src: 'dot.png' },
              { alias: 'sheet', src: 'sheet.json' },
            ],
          },
        ],
      }),
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command: 'esbuild main.js --bundle --minify --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  phaser: {
    packages: ['phaser@3.90.0', 'esbuild@0.25'],
    files: {
      'game.js': `new Phaser.Game({ type: Phaser.CANVAS, audio: { noAudio: true }, scene: {
  preload() { this.load.setPath('art'); this.load.image('dot', 'dot.png'); this.load.json('level', 'level.json'); this.load.spritesheet('halves', 'dot.png', { frameWidth: 1, frameHeight: 2 }) },
  create() { this.add.image(9, 9, 'dot'); ${send("this.textures.get('dot').getSourceImage().width, this.cache.json.get('level').n, this.textures.get('halves').frameTotal, this.game.renderer.type === Phaser.CANVAS")} } } })`,
      'dist/art/dot.png': png,
      'dist/art/level.json': '{"n":7}',
      'dist/index.html': index('<script src="phaser.js"></script><script src="game.js"></script>'),
      'build.mjs': `import { cpSync } from 'node:fs'\ncpSync('node_modules/phaser/dist/phaser.min.js', 'dist/phaser.js')\ncpSync('game.js', 'dist/game.js')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  p5: {
    packages: ['p5@1.11.10'],
    files: {
      'sketch.js': `let dot, level, lines
function preload() { dot = loadImage('art/dot.png'); level = loadJSON('level.json'); lines = loadStrings('lines.txt') }
function setup() { createCanvas(40, 40); image(dot, 0, 0); ${send('dot.width, level.n, lines.length, get(0, 0)[3]')} }`,
      'dist/art/dot.png': png,
      'dist/level.json': '{"n":7}',
      'dist/lines.txt': 'one\ntwo',
      'dist/index.html': index(
        '<script src="p5.min.js"></script><script src="sketch.js"></script>',
      ),
      'build.mjs': `import { cpSync } from 'node:fs'\ncpSync('node_modules/p5/lib/p5.min.js', 'dist/p5.min.js')\ncpSync('sketch.js', 'dist/sketch.js')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  littlejs: {
    packages: ['littlejsengine@1', 'esbuild@0.25'],
    files: {
      'main.js': `import * as LJS from 'littlejsengine'
LJS.setShowSplashScreen?.(false)
LJS.setGLEnable?.(false)
LJS.engineInit(() => { ${send('LJS.textureInfos[0].size.x, LJS.textureInfos.length')} }, () => {}, () => {}, () => {}, () => {}, ['art/dot.png'])`,
      'dist/art/dot.png': png,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command: 'esbuild main.js --bundle --minify --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  excalibur: {
    packages: ['excalibur@0.30.3', 'esbuild@0.25'],
    files: {
      'main.js': `import { Engine, Flags, ImageSource, Loader } from 'excalibur'
Flags.useCanvasGraphicsContext()
const dot = new ImageSource('art/dot.png')
const game = new Engine({ width: 40, height: 40, suppressPlayButton: true, suppressConsoleBootMessage: true })
const loader = new Loader([dot]); loader.suppressPlayButton = true
await game.start(loader)
${send('dot.width, game.isRunning()')}`,
      'dist/art/dot.png': png,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command: 'esbuild main.js --bundle --minify --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  micropython: {
    packages: ['@micropython/micropython-webassembly-pyscript@1.25.0'],
    files: {
      'main.js': `import { loadMicroPython } from './micropython.mjs'
const python = await loadMicroPython()
python.runPython('import json\\ntotal = sum(json.loads("[1, 2, 4]"))')
${send("python.globals.get('total')")}`,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
      'build.mjs': `import { cpSync } from 'node:fs'
for (const name of ['micropython.mjs', 'micropython.wasm']) cpSync('node_modules/@micropython/micropython-webassembly-pyscript/' + name, 'dist/' + name)
cpSync('main.js', 'dist/main.js')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  reveal: {
    packages: ['reveal.js@5', 'esbuild@0.25'],
    files: {
      'deck.js': `import Reveal from 'reveal.js'\nimport Notes from 'reveal.js/plugin/notes/notes.esm.js'
import 'reveal.js/dist/reveal.css'\n${styled}
const deck = new Reveal({ plugins: [Notes], hash: true })
await deck.initialize()
deck.next()
await new Promise((done) => setTimeout(done, 50))
${send('await styled, deck.getTotalSlides(), deck.getIndices().h')}`,
      'index.html':
        '<!doctype html><html><head><meta charset="utf-8"><title>Deck</title><link rel="stylesheet" href="out/deck.css"><style>body{color:red}</style></head><body><div class="reveal"><div class="slides"><section>1</section><section>2</section></div></div><script type="module" src="out/deck.js"></script></body></html>',
      'build.mjs': `import { build } from 'esbuild'\nimport { cpSync } from 'node:fs'
await build({ entryPoints: ['deck.js'], bundle: true, minify: true, format: 'esm', outdir: 'dist/out' })
cpSync('index.html', 'dist/index.html')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
}

async function run(command: string[], cwd: string): Promise<void> {
  const env = {
    ...process.env,
    CI: '1',
    ASTRO_TELEMETRY_DISABLED: '1',
    PATH: `${join(cwd, 'node_modules/.bin')}:${process.env.PATH}`,
  }
  const child = Bun.spawn(command, { cwd, env, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${out}${err}`)
}

/** Packs a folder, the same for the same files. */
async function pack(folder: string): Promise<Uint8Array> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  )
  const files: Record<string, Uint8Array> = {}
  for (const { parentPath, name } of names) {
    const path = join(parentPath, name)
    files[path.slice(folder.length + 1)] = new Uint8Array(await readFile(path))
  }
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))
  return zipSync(sorted, { level: 9, mtime: new Date(1980, 0, 1) })
}

const selected = Bun.argv.slice(2)
for (const [name, { packages, files, command, out }] of Object.entries(builds)) {
  if (selected.length > 0 && !selected.includes(name)) continue
  const folder = await mkdtemp(join(tmpdir(), `folder-${name}-`))
  try {
    await Bun.write(join(folder, 'package.json'), manifest)
    for (const [path, content] of Object.entries(files))
      await Bun.write(join(folder, path), content)
    await run(
      ['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', ...packages],
      folder,
    )
    await run(command.split(' '), folder)
    const zip = await pack(join(folder, out))
    await Bun.write(join(target, `${name}.zip`), zip)
    console.log(name, zip.byteLength)
  } catch (error) {
    console.log(name, String(error).slice(0, 1500))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
