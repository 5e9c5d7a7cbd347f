import { describe, expect, test } from 'bun:test'

import { resolveStored } from '../../apps/resolve-libraries.ts'
import { inspectNow } from '../../apps/scan/inspection.ts'
import { allBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findBrowser } from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { openRegistry, packed } from '../fixtures/registry.ts'
import { startTestServer } from '../fixtures/test-server.ts'
import { isThorough } from '../thorough.ts'
import { runPages } from './corpus.ts'
import { type LibraryPage, realPages, writtenPages } from './library-pages.ts'

const ms = 1_200_000
/** Share of the pages of documentation that run. All pages of models run. */
const realMin = 0.95

/** Returns the registry that npm on this machine uses. */
const npmRegistry = (): string =>
  Bun.spawnSync(['npm', 'config', 'get', 'registry']).stdout.toString().trim()

/** Returns a page that runs the code of a row and posts true, or what is wrong. */
const pageOf = ({ name, tags, imports, code }: LibraryPage): string => `<!doctype html>
<html><head><meta charset="utf-8"><title>${name}</title>
<script>
function report(ok, why) { top.postMessage({ said: ok === true || String(why || ok) }, '*') }
addEventListener('error', (event) => report(false, event.message || event.target?.src))
addEventListener('unhandledrejection', (event) => report(false, event.reason))
</script></head><body>
${tags}
<script${imports === undefined ? '' : ' type="module"'}>
${imports ?? ''}
;(async () => {
${code}
})().then((ok) => report(ok, ok), (error) => report(false, error.stack))
</script></body></html>`

interface Result {
  name: string
  /** True, or what the page or its publish said. */
  message: unknown
  /** It cannot run, and its publish says why. */
  isExplained: boolean
}

/** Resolves pages as a publish does, with packages of a registry, and runs them in a browser. */
async function runWith(
  url: string,
  openBrowser: () => Promise<Browser>,
  pages: LibraryPage[],
): Promise<Result[]> {
  const { ctx, close } = await startTestServer({ LIBRARIES: 'fetch', LIBRARY_REGISTRY: url })
  const hosted = new MemoryAppSource()
  const ids = new Map<string, LibraryPage>()
  const notes = new Map<string, string[]>()
  const chosen = pages.filter(({ name }) => new RegExp(Bun.env['CORPUS'] ?? '').test(name))
  for (const [at, page] of chosen.entries()) {
    const id = `page${String(at).padStart(8, '0')}`
    const html = pageOf(page)
    hosted.put(id, html)
    const { references } = inspectNow(new Uint8Array(new TextEncoder().encode(html)))
    const resolution = await resolveStored(ctx, references)
    hosted.putResolution(id, resolution)
    notes.set(id, [...resolution.notes, ...resolution.problems.values()])
    ids.set(id, page)
  }
  await close()
  const messages = await runPages(hosted, openBrowser, [...ids.keys()])
  return [...ids].map(([id, { name, cannot }]) => {
    const known = notes.get(id) ?? []
    const isExplained = cannot !== undefined && known.some((note) => note.includes(cannot))
    const why = messages.get(id)
    const isAsExpected = cannot === undefined ? why === true : isExplained
    return { name, message: isAsExpected || [why, ...known], isExplained }
  })
}

const failuresOf = (results: Result[]): Result[] =>
  results.filter(({ message }) => message !== true)

/** Packages as they are built, with what their scripts load by themselves. */
const packages = {
  counter: packed('counter', {
    'dist/counter.js':
      "const own = document.currentScript.src; self.counter = () => new Promise((done) => { const w = new Worker(own.replace('counter.js', 'counter.worker.js')); w.onmessage = (e) => done(e.data) })",
    'dist/counter.worker.js': "importScripts('part.js'); postMessage(part + 1)",
    'dist/part.js': 'self.part = 41',
  }),
  adder: packed('adder', {
    'adder.mjs':
      "export const add = async () => (await WebAssembly.instantiateStreaming(fetch(new URL('adder.wasm', import.meta.url)))).instance.exports.add(40, 2)",
    'adder.wasm': Buffer.from(
      'AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABagsAPg==',
      'base64',
    ).subarray(0, 41),
  }),
  gif: packed(
    'gif',
    { 'index.js': "exports.read = () => require('schema/lib/b').default.size" },
    {
      main: 'index.js',
      dependencies: { schema: '^1.0.0' },
    },
  ),
  schema: packed('schema', {
    'lib/b.js': 'exports.__esModule = true; exports.default = { size: 42 }; exports.c = 2',
  }),
  'ace-builds': packed('ace-builds', {
    'src/ace.js':
      "const own = document.currentScript.src; self.load = (mode) => new Promise((done) => { const s = document.createElement('script'); s.src = own.replace('ace.js', 'mode-' + mode + '.js'); s.onload = () => done(self.loaded); document.head.append(s) })",
    'src/mode-fish.js': 'self.loaded = 42',
  }),
  // The program has another major version, and a part of the files of lodash.
  d3: packed('d3', { 'dist/d3.min.js': 'self.older = 42' }),
  lodash: packed('lodash', { 'debounce.js': 'module.exports = () => 42' }, { version: '4.17.21' }),
  '@fontsource/material-icons': packed('@fontsource/material-icons', {
    'files/material-icons-base-400-normal.woff2': 'font',
  }),
  tree: packed(
    'tree',
    {
      'index.mjs':
        "import part from './part.js'; import { own } from '#own'; export const total = () => (process.env.NODE_ENV === 'production' ? part() + own : 0)",
      'part.js':
        "require('fs'); function part() { return part.base } part.base = 40; module.exports = part;",
      'own.browser.js': 'export const own = 2',
      'sub/package.json': '{"main":"../lib/sub.js"}',
      'lib/sub.js': 'function sub() {} sub.size = 42; module.exports = sub;',
    },
    { module: 'index.mjs', imports: { '#own': { node: './own.js', default: './own.browser.js' } } },
  ),
  names: packed('names', { 'data/names.json': '{"wave":42}', 'modes/a.js': 'self.mode = 42' }),
}
const unpkg = 'https://unpkg.com/'
const kinds: LibraryPage[] = [
  {
    name: 'a worker beside a script',
    tags: `<script src="${unpkg}counter@1.2.3/dist/counter.js"></script>`,
    code: 'return (await counter()) === 42',
  },
  {
    name: 'WebAssembly beside a module',
    tags: '',
    imports: `import { add } from '${unpkg}adder@1.2.3/adder.mjs'`,
    code: 'return (await add()) === 42',
  },
  {
    name: 'a CommonJS package that requires another',
    tags: '',
    imports: `import { read } from 'https://esm.sh/gif@1.2.3'`,
    code: 'return read() === 42',
  },
  {
    name: 'data by fetch and by XMLHttpRequest',
    tags: '',
    code: `const url = '${unpkg}names@1.2.3/data/names.json'
const request = new XMLHttpRequest()
request.open('GET', url)
request.responseType = 'json'
const loaded = new Promise((done) => (request.onload = done))
request.send()
await loaded
return (await (await fetch(url)).json()).wave === 42 && request.response.wave === 42`,
  },
  {
    name: 'a script beside another one, which computes its name',
    tags: `<script src="${unpkg}ace-builds@1.2.3/src/ace.js"></script>`,
    code: "return (await load('fish')) === 42",
  },
  {
    name: 'a version of which the program has another one, and a file that it leaves out',
    tags: `<script src="${unpkg}d3@1/dist/d3.min.js"></script>`,
    imports: `import debounce from 'https://esm.sh/lodash@4.17.21/debounce'`,
    code: 'return older === 42 && debounce() === 42',
  },
  {
    name: 'icons of Google, by the class that their style sheet has',
    tags: `<link rel="stylesheet" href="https://fonts.googleapis.com/icon?family=Material+Icons"><i class="material-icons" id="icon">home</i>`,
    code: `return getComputedStyle(document.getElementById('icon')).fontFamily.includes('Material Icons')`,
  },
  {
    name: 'what packages for bundlers expect: names of their own, folders, and Node.js',
    tags: '',
    imports: `import { total } from 'https://esm.sh/tree@1.2.3'
import { size } from 'https://esm.sh/tree@1.2.3/sub'`,
    code: 'return total() === 42 && size === 42',
  },
  {
    name: 'a script of a folder that the page names',
    tags: '',
    code: `const base = '${unpkg}names@1.2.3/modes/'
const script = document.createElement('script')
script.src = base + 'a' + '.js'
document.head.append(script)
await new Promise((done) => (script.onload = done))
return mode === 42`,
  },
]

describe.each(allBrowsers)('what libraries load by themselves, in %s', (name, open) => {
  const path = findBrowser(name)
  const openBrowser = () => open(path ?? '')
  const isRun = path !== undefined && (isThorough || name === 'chromium')
  test.skipIf(!isRun)(
    'workers, WebAssembly, data, folders and required packages are there',
    async () => {
      const fake = openRegistry(packages, { versions: { lodash: '4.17.21' } })
      const results = await runWith(fake.url, openBrowser, kinds)
      fake.close()
      expect(failuresOf(results)).toEqual([])
    },
    ms,
  )

  test.skipIf(!isRun || !isThorough)(
    'pages with packages of npm run',
    async () => {
      const url = npmRegistry()
      const written = await runWith(url, openBrowser, writtenPages)
      const real = await runWith(url, openBrowser, realPages)
      const failed = failuresOf(real)
      const runs = real.filter(
        ({ message, isExplained }) => message === true && !isExplained,
      ).length
      const share = runs / real.length
      console.log(
        `${name}: ${written.length - failuresOf(written).length} of ${written.length} pages of models and ${runs} of ${real.length} of documentation run.`,
        failed,
      )
      expect(failed).toEqual([])
      expect(failuresOf(written)).toEqual([])
      expect(share).toBeGreaterThanOrEqual(realMin)
    },
    ms,
  )
})
