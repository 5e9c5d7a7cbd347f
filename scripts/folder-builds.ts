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
