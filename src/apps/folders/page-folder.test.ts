import { expect, test } from 'bun:test'

import { readFolder } from './locate.ts'
import { readPageFolder } from './page-folder.ts'
import { locatedScriptMax, withoutPageLocation, withPageLocation } from './script-location.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const pack = (files: Record<string, string>) => {
  const read = readPageFolder(
    Object.entries(files).map(([path, text]) => ({ path, bytes: bytesOf(text) })),
  )
  if ('problem' in read) return read
  const texts = read.files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)])
  return { ...read, files: Object.fromEntries(texts) }
}

test('keeps all files of the folder of the page, by their paths', () => {
  const index =
    '<head><script defer src=js/a.js></script><!-- <img src=/a.png> --></head><img src="img/Ship 1.png">'
  expect(
    pack({
      'game/index.html': index,
      'game/js/a.js': "import('./b.js')",
      'game/img/Ship 1.png': 'one',
      'game/Theme.m4a': 'two',
      'README.md': 'x',
      '__MACOSX/game/._index.html': 'x',
      'game/.git/HEAD': 'x',
    }),
  ).toEqual({
    page: 'index.html',
    html: index,
    files: { 'js/a.js': "import('./b.js')", 'img/Ship 1.png': 'one', 'Theme.m4a': 'two' },
    mount: '',
    rooted: [],
    outside: ['README.md'],
  })
})

test('makes exact names relative that begin with a slash, in pages, styles and import maps', () => {
  const text = (name: string): string =>
    `<link href="/css/a.css?v=1"><img srcset="/img/a%20b.png 1x, /none.png 2x" style="background:url('/img/c.png')">` +
    `<script type="importmap">{"imports":{"x":"/js/x.js","y":"/js/none.js"}}</script>` +
    `<script>fetch("/js/x.js")</script><!-- <img src="/img/c.png"> --><style>@import "/css/a.css";</style>` +
    `<a href="//host/css/a.css">${name}</a><a href=/>home</a><a href=/sub/page.html#x>page</a>`
  const files = {
    'css/a.css': 'a{background:url(/img/c.png)} b{background:url("/img/none.png")}',
    'img/a b.png': '1',
    'img/c.png': '2',
    'js/x.js': 'import "/img/c.png"',
  }
  const read = pack({ 'index.html': text('one'), 'sub/page.html': text('two'), ...files })
  if ('problem' in read) throw new Error(read.problem)
  const relative = (up: string): string =>
    `<link href="${up}css/a.css?v=1"><img srcset="${up}img/a%20b.png 1x, /none.png 2x" style="background:url('${up}img/c.png')">` +
    `<script type="importmap">{"imports":{"x":"${up}js/x.js","y":"/js/none.js"}}</script>` +
    `<script>fetch("/js/x.js")</script><!-- <img src="/img/c.png"> --><style>@import "${up}css/a.css";</style>` +
    `<a href="//host/css/a.css">`
  expect(read.html).toBe(
    `${relative('./')}one</a><a href=/>home</a><a href=/sub/page.html#x>page</a>`,
  )
  expect(read.files).toEqual({
    ...files,
    'css/a.css': 'a{background:url(../img/c.png)} b{background:url("/img/none.png")}',
    'sub/page.html': `${relative('../')}two</a><a href=/>home</a><a href=/sub/page.html#x>page</a>`,
  })
  expect(read.rooted.toSorted()).toEqual(['/css/a.css', '/img/a%20b.png', '/img/c.png', '/js/x.js'])
})

test('reads an import map of many steps up without a quote at their end', () => {
  const html = `<script type="importmap">{"imports":{"x":"${'../'.repeat(200_000)}a\\</script>`
  expect(pack({ 'index.html': html, 'a.js': '1' })).toMatchObject({ html })
})

const own = (location: string): string => `locationOfFolder(/*folder*/${location}/*folder*/)`
const helper =
  ';function locationOfFolder(given){return globalThis.folderPageLocation?.(given)??given}/*folder*/'
/** Packs a folder, with the code that the server changes. */
const locate = async (files: Record<string, string>) => {
  const all = Object.entries(files).map(([path, text]) => ({ path, bytes: bytesOf(text) }))
  const located = await readFolder(all)
  if ('problem' in located) throw new Error(located.problem)
  const texts = located.files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)])
  return { ...located, files: Object.fromEntries(texts) }
}

test('reads a folder with much text beside other work', async () => {
  const large = '<img src="/a.png">'.repeat(250_000)
  let hasTurned = false
  setImmediate(() => (hasTurned = true))
  const { html, files, located } = await locate({
    'index.html': '<img src="/a.png">',
    'large.html': large,
    'b.html': '<script>open(location.href)</script>',
    'a.png': '',
  })
  expect(hasTurned).toBe(true)
  expect(html).toBe('<img src="./a.png">')
  expect(located).toEqual(['b.html'])
  const text = files['large.html'] ?? ''
  expect(text.match(/src=".\/a.png"/g)).toHaveLength(250_000)
  const twins = ['a.html', 'b.html'].map((path) => ({ path, bytes: bytesOf(large) }))
  const problem = await readFolder(twins)
  expect(problem).toMatchObject({ problem: expect.stringContaining('Which page is the first?') })
})

test('lets code read the location of its folder, and changes nothing else', () => {
  for (const kept of [
    '"location.href" // location.href',
    '/location.href/.test(x)',
    'x={location:1}',
    'class A{location=1;location(){}}',
    'typeof location',
    'delete window.location',
    'location++',
    '[location]=[1]',
    'attribute.location',
    'gl.use(a.location)',
    'let{location:a,size:b}=c',
    'e?.location.href',
    'location:for(;;)break location',
    'import {location} from "x";location.href',
    'const location=useLocation();location.pathname',
    'function f(location){return location.href}',
    'let f=({a:location=2})=>location.href',
    'try{}catch(location){location.href}',
    'for(const location of list)location.href',
    '(function location(){return location})',
    'this is no code location.href',
  ]) {
    expect(withPageLocation(kept)).toBe(kept)
  }
  for (const [code, changed] of [
    ['x=location.pathname', `x=${own('location')}.pathname`],
    ['go()\nlocation.reload()', `go()\n${own('location')}.reload()`],
    ["location='/a'", `${own('location')}.href/*folder*/='/a'`],
    ["window.location='/a'", `${own('window')}.location='/a'`],
    ["location+='?a'", `${own('location')}.href/*folder*/+='?a'`],
    ['let{pathname:a,search:b}=e.location', `let{pathname:a,search:b}=${own('e.location')}`],
    ['const{history:a,location:b}=window', `const{history:a,location:b}=${own('window')}`],
    ['var{document:a,location:b}=w', `var{document:a,location:b}=${own('w')}`],
    ['new URL(x,location)', `new URL(x,${own('location')})`],
    ['x={location}', `x={location:/*folder*/${own('location')}}`],
    ['let l=self["location"]', `let l=${own('self["location"]')}`],
    ['window?.location?.hash', `${own('window?.location')}?.hash`],
    ['`${location}${"location"}`', `\`\${${own('location')}}\${"location"}\``],
    ['{let location=1}location.href', `{let location=1}${own('location')}.href`],
    ['with(a)location.href', `with(a)${own('location')}.href`],
    ['export default location', `export default ${own('location')}`],
    ['return location.href;', `return ${own('location')}.href;`],
    ['x=(0,e.g).location.href', `x=${own('(0,e.g).location')}.href`],
  ] as const) {
    const text = withPageLocation(code)
    expect(text).toBe(changed + helper)
    expect(withPageLocation(`${code}\n//end`)).toBe(`${text}\n//end`)
    expect(withoutPageLocation(text)).toBe(code)
    // An export that is published again.
    expect(withPageLocation(text)).toBe(text)
    // A part of it, as a patch has it.
    expect(withoutPageLocation(changed)).toBe(code)
  }
  const long = 'x=location.pathname;'.padEnd(locatedScriptMax + 1)
  expect(withPageLocation(long)).toBe(long)
})

test('leaves code alone that has the name or the comments of what is inserted', () => {
  for (const kept of [
    'function locationOfFolder(){return location.href}',
    'import {locationOfFolder} from "x";locationOfFolder(location)',
    'go(/*folder*/);location.href',
  ])
    expect(withPageLocation(kept)).toBe(kept)
})

test('leaves objects alone that have a location and the name of a window', () => {
  for (const code of [
    'var self={};self.location={x:7};return self.location.x',
    'const view={};view.location={x:7};return view.location.x',
    'return((parent)=>{parent.location={x:7};return parent.location.x})({})',
  ]) {
    const changed = withPageLocation(code)
    expect(changed).not.toBe(code)
    expect(new Function(changed)()).toBe(7)
  }
})

test('changes the code of scripts, pages and handlers, and no data', async () => {
  const code = 'x=location.pathname'
  const page = (script: string, click: string): string =>
    `<script type="application/json">{"a":"location.href"}</script><script>${script}</script><a onclick="${click}" onfocus="a(&quot;location&quot;)">`
  const before = page(code, "location='/x'")
  const after = page(
    `x=${own('location')}.pathname${helper}`,
    `${own('location')}.href/*folder*/='/x'${helper}`,
  )
  const files = { 'a.mjs': code, 'b.txt': code, 'c.html': before }
  expect(await locate({ 'index.html': before, ...files })).toMatchObject({
    html: after,
    files: { 'a.mjs': `x=${own('location')}.pathname${helper}`, 'b.txt': code, 'c.html': after },
    located: ['a.mjs', 'c.html', 'index.html'],
  })
  const hashed = `<meta content="script-src 'sha256-x'"><script>location.pathname</script>`
  expect(await locate({ 'index.html': hashed })).toMatchObject({ html: hashed, located: [] })
  // In a process of its own.
  const many = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [`${at}.js`, code.padEnd(5_000)]),
  )
  const { located } = await locate({ 'index.html': '<h1>A', ...many })
  expect(located).toEqual(Object.keys(many))
})

test('keeps the bytes of the files that hashes pin', async () => {
  const before = 'x=location.pathname'
  const after = withPageLocation(before)
  const pinned =
    '<script src="a.mjs" integrity="sha384-x"></script><script>location.pathname</script>'
  expect(await locate({ 'index.html': pinned, 'a.mjs': before })).toMatchObject({
    located: ['index.html'],
  })
  const others = { 'index.html': '<h1>A', 'sub/b.html': pinned, 'sub/a.mjs': before }
  expect(await locate({ ...others, 'a.mjs': before, 'b.mjs': before })).toMatchObject({
    files: { 'sub/a.mjs': before, 'a.mjs': before, 'b.mjs': after },
  })
  const sheet = '<link rel=stylesheet href="sub/a.css" integrity="sha384-x">'
  const styles = { 'sub/a.css': 'a{background:url(/b.png)}', 'b.png': '' }
  expect(pack({ 'index.html': sheet, ...styles })).toMatchObject({ files: styles })
  // The table of a loader, or an import map, pins files by names that only the code knows.
  const hash = `"sha384-${'a'.repeat(64)}"`
  const map = `<script type="importmap">{"integrity":{"/b.mjs":${hash}}}</script>`
  for (const pinning of [{ 'load.js': `h={7:${hash}}` }, { 'c.html': map }]) {
    const all = { 'index.html': pinned, 'b.mjs': before, ...pinning }
    expect(await locate(all)).toMatchObject({ files: { 'b.mjs': before } })
  }
})

test('puts a build for a path of a host into a folder of that name', () => {
  const build = (html: string, more: Record<string, string> = {}) =>
    pack({ 'index.html': html, 'assets/a.js': '1', 'assets/a.css': '', ...more })
  const html = '<base href="/my/repo/"><script src="/my/repo/assets/a.js?v=1"></script>'
  expect(build(html, { 'about/index.html': '<link href="/my/repo/assets/a.css">' })).toMatchObject({
    page: 'my/repo/index.html',
    html: '<base href="/my/repo/"><script src="../../my/repo/assets/a.js?v=1"></script>',
    files: {
      'my/repo/assets/a.js': '1',
      'my/repo/about/index.html': '<link href="../../../my/repo/assets/a.css">',
    },
    mount: 'my/repo/',
  })
  for (const root of [
    '<script src="/assets/a.js"></script>',
    '<script src="/repo/assets/none.js"></script>',
    '<script src="//repo/assets/a.js"></script><base href="/">',
    '<script src="/repo/assets/a.js"></script><link href="/assets/a.css">',
    '<script src="/../assets/a.js"></script>',
    '<script src="/assets/assets/a.js"></script>',
    '<a href="/repo/assets/a.js">',
  ]) {
    expect(build(root)).toMatchObject({ page: 'index.html', mount: '' })
  }
})

test('takes time in proportion to a page that is broken on purpose', () => {
  const parts = ['<link ', '<style>', '<script>', '<!--', '<a b="', '<a b= ', '<head', 'url( ']
  for (const part of parts) expect(pack({ 'a.html': part.repeat(100_000) })).toHaveProperty('html')
  const page = '<script src=a.js></script>'
  for (const part of ['\n', 'url(/', '@import "', '<!--']) {
    expect(pack({ 'a.html': page, 'a.css': part.repeat(300_000) })).toHaveProperty('html')
  }
  for (const part of ['location.', 'a(location)+', '{location;', '[location,', 'a.b', '/*', '`${'])
    expect(withPageLocation(`location${part.repeat(20_000)}`)).toStartWith('location')
  for (const part of ['.location', '?.location', '.location.href', '+a(location)', ';{location}'])
    expect(withPageLocation(`location${part.repeat(20_000)}`)).toEndWith(helper)
  const nested = `${'{location;'.repeat(8_000)}${'}'.repeat(8_000)}`
  expect(withPageLocation(nested)).toEndWith(helper)
})

test('says what a build with a server part, and the source of an app, need', () => {
  const html = '<div id=root></div><script type="module" src="/src/main.tsx"></script>'
  for (const [files, problem] of [
    [{ '.next/BUILD_ID': '', '.next/server/app/index.html': '' }, "Set output: 'export'"],
    [{ 'nitro.json': '{}', 'server/index.mjs': '' }, 'Run nuxt generate'],
    [{ 'client/_app/version.json': '{}', 'handler.js': '' }, '@sveltejs/adapter-static'],
    [{ 'client/_astro/a.css': '', 'server/entry.mjs': '' }, 'build of Astro that needs its server'],
    [{ 'client/assets/entry.client-C1.js': '', 'server/index.js': '' }, 'Set ssr: false'],
    [{ 'server/main.js': '', 'public/a.css': '' }, 'needs its server (server/main.js)'],
    [{ 'index.html': html, 'src/main.tsx': '' }, 'source of an app'],
    [{ 'public/index.html': '<link href="%PUBLIC_URL%/a.ico">', 'src/a.js': '' }, 'npm run build'],
    [
      { 'reef-explorer.jsx': 'export default () => null' },
      'a browser cannot run (reef-explorer.jsx)',
    ],
  ] as const) {
    expect(pack(files)).toEqual({ problem: expect.stringContaining(problem) })
  }
  // Babel in the page runs such a script, and another host may have it.
  const babel = { 'index.html': '<script type="text/babel" src="a.jsx"></script>', 'a.jsx': '' }
  for (const files of [babel, { 'index.html': html }]) {
    expect(pack(files)).toHaveProperty('html')
  }
})

test('says why a folder cannot be published', () => {
  for (const [files, problem] of [
    [{ 'a.txt': '' }, 'There is no HTML file.'],
    [{ 'a.html': '', 'b.html': '' }, 'no index.html: a.html, b.html. Rename the first page'],
    [{ 'a/index.html': '', 'b/index.html': '' }, 'several: a/index.html, b/index.html. Publish'],
    [{ 'a.html': '', '../b.js': '' }, 'The path "../b.js" is invalid: use a path relative'],
    [{ 'a.html': '', '/etc/b.js': '' }, 'The path "/etc/b.js" is invalid: use a path relative'],
    [{ 'a.html': '', 'Game.js': '', 'game.js': '' }, 'The path "game.js" is there twice'],
    [{ 'a.html': '', [`${'a/'.repeat(120)}b`]: '' }, 'has more than 240 characters.'],
    [{ 'a.html': 'x'.repeat(4 * 1_048_576 + 1) }, 'has more than 4 MB.'],
  ] as const) {
    expect(pack(files)).toEqual({ problem: expect.stringContaining(problem) })
  }
})

test('reads pages, scripts and styles in the encoding that they declare', () => {
  const hex = (code: string): Uint8Array => Uint8Array.fromHex(code)
  const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0))
  const [sound, japanese] = ['音', hex('89b9')]
  const titled = (charset: string, title: Uint8Array): Uint8Array =>
    Buffer.concat([bytesOf(`<meta charset="${charset}"><title>`), title])
  for (const [bytes, html] of [
    [titled('Shift_JIS', japanese), '<meta charset="utf-8"><title>音'],
    [hex('fffe3c0070003e00f397'), '<p>音'],
    [hex('efbbbf3c703ee99fb3'), '<p>音'],
    [latin1('<p>Köln'), '<p>Köln'],
    [latin1('<meta content="text/html; charset=iso-8859-1"><p>ü'), 'charset=utf-8"><p>ü'],
    [titled('utf-16', bytesOf(sound)), sound],
    [titled('nonsense', bytesOf(sound)), sound],
  ] as const) {
    const read = readPageFolder([{ path: 'index.html', bytes }])
    expect('html' in read && read.html).toEndWith(html)
  }
  const page = Buffer.concat([bytesOf('<meta charset=shift_jis>'), japanese])
  const read = readPageFolder([
    { path: 'index.html', bytes: page },
    { path: 'two.html', bytes: page },
    { path: 'a.js', bytes: japanese },
    { path: 'b.js', bytes: bytesOf(sound) },
    { path: 'a.css', bytes: japanese },
  ])
  const texts = 'files' in read && read.files.map(({ bytes }) => new TextDecoder().decode(bytes))
  expect(texts).toEqual(['<meta charset=utf-8>音', sound, sound, sound])
})

test('keeps the hosts of a mirror, whose page names files above its folder', () => {
  const css = 'p{color:red}'
  const link = '<link rel=stylesheet href="../cdn.example/a.css%3Fver=1.2">'
  const mirror = { 'reef.example/index.html': link, 'cdn.example/a.css?ver=1.2': css }
  expect(pack(mirror)).toMatchObject({
    page: 'reef.example/index.html',
    files: { 'cdn.example/a.css?ver=1.2': css },
    outside: [],
  })
  const other = { 'reef/index.html': 'See ../other.txt', 'notes.txt': '' }
  expect(pack(other)).toMatchObject({ page: 'index.html', outside: ['notes.txt'] })
})
