import { type Build, css, index, png, send, styled } from './build.ts'

/** The folder of texts of Docusaurus and MkDocs. */
const docs = 'docs'
const fill = 'style="position:fixed;inset:0;display:block"'
/** Code for what a page of a site finds of its address. */
const found = (page: string): string =>
  `'${page}', document.title, location.pathname, new URL(location.href).pathname`

const vitepress = (base: string): Build => ({
  packages: ['vitepress@1.6.4'],
  files: {
    'index.md': `---\ntitle: Reef\n---\n<script setup>\nimport { onMounted, ref } from 'vue'\nconst count = ref(0)\nonMounted(async () => { count.value += 1; const i = document.querySelector('main img'); await i.decode(); ${send(`${found('home')}, i.naturalWidth, document.querySelector('main a').localName`)} })\n</script>\n\n# Reef\n\n<a href="./about#team" ${fill}>about</a>\n\n![dot](./dot.png)\n\n{{ count }}\n`,
    'about.md': `---\ntitle: About\n---\n<script setup>\nimport { onMounted } from 'vue'\nonMounted(() => { ${send(`${found('about')}, location.hash, document.querySelector('h1').textContent.trim().slice(0, 5)`)} })\n</script>\n\n# About\n\n## Team\n\n[home](./index.md)\n`,
    'dot.png': png,
    '.vitepress/config.js': `export default { base: '${base}', title: 'Site', vite: { build: { assetsInlineLimit: 0 } } }`,
    '.vitepress/theme/index.js':
      "import theme from 'vitepress/theme-without-fonts'\nexport default theme",
  },
  command: 'vitepress build .',
  out: '.vitepress/dist',
})

/** Sites with a router of the history, and builds for a path of a host. */
export const sites: Record<string, Build> = {
  vitepress: vitepress('/'),
  'vitepress-path': vitepress('/repo/'),
  'vue-router-path': {
    packages: ['vite@8.4.0', 'vue@3', 'vue-router@4', '@vitejs/plugin-vue@latest'],
    files: {
      'src/style.css': css,
      'src/dot.png': png,
      'src/Home.vue': `<script setup>import { onMounted } from 'vue'; import dot from './dot.png'
onMounted(async () => { ${styled}; const i = document.querySelector('img'); await i.decode(); const { n } = await (await fetch(import.meta.env.BASE_URL + 'data.json')).json(); ${send(`await styled, ${found('home')}, i.naturalWidth, n`)} })</script>
<template><RouterLink to="/about?x=1#team" ${fill}>about</RouterLink><img :src="dot"></template>`,
      'src/About.vue': `<script setup>import { onMounted } from 'vue'; import { useRoute } from 'vue-router'
const route = useRoute(); onMounted(() => { ${send(`${found('about')}, route.fullPath, location.search, location.hash`)} })</script><template><h1>About</h1></template>`,
      'src/main.js': `import './style.css'\nimport { createApp, h } from 'vue'\nimport { createRouter, createWebHistory, RouterView } from 'vue-router'\nimport Home from './Home.vue'
const router = createRouter({ history: createWebHistory(import.meta.env.BASE_URL), routes: [{ path: '/', component: Home }, { path: '/about', component: () => import('./About.vue') }] })
createApp({ render: () => h(RouterView) }).use(router).mount('#app')`,
      'public/data.json': '{"n":9}',
      'index.html': index('<script type="module" src="/src/main.js"></script>'),
      'vite.config.js': `import vue from '@vitejs/plugin-vue'\nexport default { base: '/repo/', plugins: [vue()], build: { assetsInlineLimit: 0, target: 'esnext' } }`,
    },
    command: 'vite build',
    out: 'dist',
  },
  tanstack: {
    packages: [
      'vite@8.4.0',
      'react@19.2.0',
      'react-dom@19.2.0',
      '@tanstack/react-router@1',
      '@vitejs/plugin-react@latest',
    ],
    files: {
      'src/main.jsx': `import { useEffect } from 'react'\nimport { createRoot } from 'react-dom/client'
import { createRootRoute, createRoute, createRouter, Link, Outlet, RouterProvider, useLocation } from '@tanstack/react-router'
const root = createRootRoute({ component: Outlet })
const home = createRoute({ getParentRoute: () => root, path: '/', component: () => { useEffect(() => { ${send(found('home'))} }, []); return <Link to="/about" search={{ x: 1 }} style={{ position: 'fixed', inset: 0 }}>about</Link> } })
const about = createRoute({ getParentRoute: () => root, path: '/about', component: () => { const { href } = useLocation(); useEffect(() => { ${send(`${found('about')}, href`)} }, []); return 'About' } })
createRoot(document.getElementById('app')).render(<RouterProvider router={createRouter({ routeTree: root.addChildren([home, about]), basepath: '/repo' })} />)`,
      'index.html': index('<script type="module" src="/src/main.jsx"></script>'),
      'vite.config.js': `import react from '@vitejs/plugin-react'\nexport default { base: '/repo/', plugins: [react()] }`,
    },
    command: 'vite build',
    out: 'dist',
  },
  docsify: {
    packages: ['docsify@4.13.1'],
    files: {
      'dist/README.md': `# Reef\n\n<a href="#/more/about?id=team" ${fill}>about</a>\n\n![dot](dot.png)\n`,
      'dist/more/about.md': '# About\n\n## Team\n\n![dot](../dot.png)\n',
      'dist/dot.png': png,
      'dist/index.html': index(
        `<script>window.$docsify = { name: 'Site', relativePath: true, plugins: [(hook) => hook.doneEach(async () => { const i = document.querySelector('article img'); await i.decode(); ${send(`document.querySelector('h1').textContent, document.title, location.pathname, location.hash, i.naturalWidth`)} })] }</script><script src="lib/docsify.min.js"></script>`,
      ),
    },
    command: 'mkdir dist/lib && cp node_modules/docsify/lib/docsify.min.js dist/lib',
    out: 'dist',
  },
  docusaurus: {
    packages: ['@docusaurus/core@3', '@docusaurus/preset-classic@3', 'react@19', 'react-dom@19'],
    files: {
      [`${docs}/intro.md`]: `---\ntitle: Reef\nslug: /\n---\nimport PageReport from '@site/src/page-report'\n\n<PageReport page="home" />\n\n<a href="/repo/more/about" id="plain">x</a>\n\n[about](more/about.md#team)\n`,
      [`${docs}/more/about.md`]: `---\ntitle: About\n---\nimport PageReport from '@site/src/page-report'\n\n<PageReport page="about" />\n\n## Team\n\n![dot](../dot.png)\n`,
      'docs/dot.png': png,
      'src/page-report.js': `import { useEffect } from 'react'\nimport { useLocation } from '@docusaurus/router'
export default function PageReport({ page }) { const { pathname } = useLocation(); useEffect(() => { setTimeout(() => { ${send('page, document.title, location.pathname, pathname, location.hash')} }, 300); if (page === 'home') for (const one of document.querySelectorAll('a[href*="#team"]')) one.style = 'position:fixed;inset:0;z-index:999' }, []); return null }`,
      'docusaurus.config.js': `export default { title: 'Site', url: 'https://reef.example', baseUrl: '/repo/', presets: [['classic', { docs: { routeBasePath: '/' }, blog: false, pages: false }]] }`,
      'babel.config.js':
        "module.exports = { presets: [require.resolve('@docusaurus/core/lib/babel/preset')] }",
      'package.json': '{"name":"x","private":true,"version":"1.0.0"}',
    },
    command: 'docusaurus build',
    out: 'build',
  },
  mkdocs: {
    packages: [],
    files: {
      'mkdocs.yml':
        'site_name: Reef\nsite_url: https://reef.example/docs/\ntheme: {name: material, font: false, features: [navigation.instant]}\nextra_javascript: [js/site.js]\nplugins: []\n',
      [`${docs}/index.md`]: `# Reef\n\n<a href="about/" ${fill}>about</a>\n`,
      [`${docs}/about.md`]: '# About\n\nText\n',
      'docs/js/site.js': `document$.subscribe(() => { ${send(`document.querySelector('h1').textContent.trim().slice(0, 5), document.title, location.pathname`)} })`,
      'requirements.txt': 'mkdocs-material==9.6.21\n',
    },
    // Search in other languages, and maps.
    command:
      "python3 -m venv v && v/bin/pip -q install -r requirements.txt && v/bin/mkdocs -q build && rm -r site/assets/javascripts/lunr && find site -name '*.map' -delete",
    out: 'site',
  },
  'astro-transitions': {
    packages: ['astro@5'],
    files: {
      'src/layouts/Page.astro': `---\nimport { ClientRouter } from 'astro:transitions'\nconst { title } = Astro.props\n---\n<html><head><meta charset="utf-8"><title>{title}</title><ClientRouter fallback="none" /></head><body><slot /><style is:global>body{color:red}</style><script>import '../said.js'</script></body></html>`,
      'src/said.js': `let count = 0\ndocument.addEventListener('astro:page-load', () => { count += 1; ${send(`document.title, location.pathname, count`)} })`,
      'src/pages/index.astro': `---\nimport Page from '../layouts/Page.astro'\n---\n<Page title="Home"><a href="/docs/about/" ${fill}>about</a></Page>`,
      'src/pages/docs/about.astro': `---\nimport Page from '../../layouts/Page.astro'\nimport dot from '../../dot.png'\n---\n<Page title="About"><img src={dot.src} alt=""></Page>`,
      'src/dot.png': png,
      'astro.config.mjs':
        "export default { build: { inlineStylesheets: 'never' }, vite: { build: { assetsInlineLimit: 0 } }, devToolbar: { enabled: false } }",
    },
    command: 'astro build',
    out: 'dist',
  },
}
