import {
  type Build,
  css,
  index,
  pictured,
  png,
  send,
  sources,
  styled,
  wasm,
  workerSays,
} from './build.ts'

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

/** Builds of bundlers and of frameworks for sites. */
export const bundlers: Record<string, Build> = {
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
  useEffect(() => { (async () => { ${styled}; setCount(1); const { part } = await import('./part.js'); const i = document.querySelector('img'); await i.decode(); while (document.querySelector('p').textContent !== '1') await new Promise(requestAnimationFrame); ${send('await styled, part, i.naturalWidth, document.querySelector("p").textContent')} })() }, [])
  return <><Link href="/about/" style={{ position: 'fixed', inset: 0 }}>about</Link><Image src={dot} alt="" loading="eager" /><p>{count}</p></>
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
  'vite-react': {
    packages: [
      'vite@8.4.0',
      'react@19.2.0',
      'react-dom@19.2.0',
      'react-router-dom@7.9.4',
      '@vitejs/plugin-react@latest',
    ],
    files: {
      'src/style.css': css,
      'src/dot.png': png,
      'src/About.jsx': `import { useEffect } from 'react'
export default function About() { useEffect(() => { ${send("'about', document.querySelector('h1').textContent")} }, []); return <h1>About</h1> }`,
      'src/main.jsx': `import './style.css'
import { lazy, StrictMode, Suspense, useEffect, useState } from 'react'\nimport { createRoot } from 'react-dom/client'
import { BrowserRouter, Link, Route, Routes } from 'react-router-dom'\nimport dot from './dot.png'
const About = lazy(() => import('./About.jsx'))
${styled}
function Home() {
  const [count, setCount] = useState(0)
  useEffect(() => { if (count === 0) return setCount(1); styled.then(async (style) => { const i = document.querySelector('img'); await i.decode(); ${send("style, i.naturalWidth, document.querySelector('p').textContent")} }) }, [count])
  return <><Link to="/about" style={{ position: 'fixed', inset: 0 }}>about</Link><img src={dot} alt="" /><p>{count}</p></>
}
createRoot(document.getElementById('app')).render(
  <BrowserRouter><Suspense><Routes><Route path="/" element={<Home />} /><Route path="/about" element={<About />} /><Route path="*" element={<Lost />} /></Routes></Suspense></BrowserRouter>)
function Lost() { useEffect(() => { ${send("'lost', location.pathname")} }, []); return 'Not found' }`,
      'index.html': index('<script type="module" src="/src/main.jsx"></script>'),
      'vite.config.js': `import react from '@vitejs/plugin-react'\nexport default { plugins: [react()], build: { assetsInlineLimit: 0 } }`,
    },
    command: 'vite build',
    out: 'dist',
  },
  'vite-legacy': {
    packages: ['vite@7.1.12', '@vitejs/plugin-legacy@7.2.1', 'terser@5'],
    files: {
      'src/style.css': css,
      'src/dot.png': png,
      'src/part.js': 'export const part = 2',
      'src/main.js': `import './style.css'\nimport url from './dot.png'\n${styled}
const run = async () => { const { part } = await import('./part.js'); const i = new Image(); i.src = url; await i.decode(); ${send('await styled, part, i.naturalWidth')} }\nrun()`,
      'index.html': index('<script type="module" src="/src/main.js"></script>'),
      'vite.config.js': `import legacy from '@vitejs/plugin-legacy'\nexport default { plugins: [legacy({ targets: ['defaults'] })], build: { assetsInlineLimit: 0 } }`,
    },
    command: 'vite build',
    out: 'dist',
  },
  angular: {
    packages: [
      '@angular/build@20.3.6',
      '@angular/cli@20.3.6',
      '@angular/common@20.3.6',
      '@angular/compiler@20.3.6',
      '@angular/compiler-cli@20.3.6',
      '@angular/core@20.3.6',
      '@angular/platform-browser@20.3.6',
      '@angular/router@20.3.6',
      'rxjs@7',
      'tslib@2',
      'typescript@5.9',
    ],
    files: {
      'angular.json': JSON.stringify({
        version: 1,
        cli: { analytics: false },
        projects: {
          x: {
            projectType: 'application',
            root: '',
            sourceRoot: 'src',
            architect: {
              build: {
                builder: '@angular/build:application',
                options: {
                  browser: 'src/main.ts',
                  index: 'src/index.html',
                  tsConfig: 'tsconfig.json',
                  styles: ['src/styles.css'],
                  assets: [{ glob: '**/*', input: 'public' }],
                  outputHashing: 'all',
                },
              },
            },
          },
        },
      }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          target: 'ES2022',
          module: 'preserve',
          moduleResolution: 'bundler',
          experimentalDecorators: true,
          skipLibCheck: true,
          lib: ['ES2022', 'DOM'],
        },
        files: ['src/main.ts'],
      }),
      'public/dot.png': png,
      'public/data.json': '{"n":7}',
      'src/styles.css': 'body{color:red}button{color:rgb(0, 128, 0)}',
      'src/index.html':
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Angular</title><base href="/"></head><body><app-root></app-root></body></html>',
      'src/about.ts': `import { afterNextRender, Component } from '@angular/core'
@Component({ selector: 'app-about', template: '<h1>About</h1>' })
export class About { constructor() { afterNextRender(() => { ${send("'about', document.querySelector('h1')!.textContent")} }) } }`,
      'src/home.ts': `import { afterNextRender, Component, signal } from '@angular/core'\nimport { RouterLink } from '@angular/router'
@Component({ selector: 'app-home', imports: [RouterLink], template: '<a routerLink="/about" style="position:fixed;inset:0;display:block">about</a><button (click)="up()">{{ count() }}</button><img src="dot.png">' })
export class Home {
  count = signal(0)
  up() { this.count.update((n) => n + 1) }
  constructor() { afterNextRender(async () => {
    ${styled}
    const button = document.querySelector('button')!
    button.click(); await new Promise((done) => setTimeout(done, 50))
    const i = document.querySelector('img')!; await i.decode()
    ${send("await styled, button.textContent, getComputedStyle(button).color, i.naturalWidth, (await (await fetch('data.json')).json()).n")}
  }) }
}`,
      'src/main.ts': `import { Component, provideZonelessChangeDetection } from '@angular/core'\nimport { bootstrapApplication } from '@angular/platform-browser'\nimport { provideRouter, RouterOutlet } from '@angular/router'\nimport { Home } from './home'
@Component({ selector: 'app-root', imports: [RouterOutlet], template: '<router-outlet />' }) class App {}
const lazy = () => import('./about').then(({ About }) => About)
bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), provideRouter([{ path: '', component: Home }, { path: 'about', loadComponent: lazy }])] })`,
    },
    command: 'ng build',
    out: 'dist/x/browser',
  },
}
