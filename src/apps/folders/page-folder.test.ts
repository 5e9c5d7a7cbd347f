import { expect, test } from 'bun:test'

import { readPageFolder } from './page-folder.ts'
import { locatedScriptMax } from './page-location.ts'

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
    rooted: [],
    located: [],
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
    `${relative('./')}one</a><a href=/>home</a><a href=./sub/page.html#x>page</a>`,
  )
  expect(read.files).toEqual({
    ...files,
    'css/a.css': 'a{background:url(../img/c.png)} b{background:url("/img/none.png")}',
    'sub/page.html': `${relative('../')}two</a><a href=/>home</a><a href=../sub/page.html#x>page</a>`,
  })
  expect(read.rooted.toSorted()).toEqual([
    '/css/a.css',
    '/img/a%20b.png',
    '/img/c.png',
    '/js/x.js',
    '/sub/page.html',
  ])
})

test('reads an import map of many steps up without a quote at their end', () => {
  const html = `<script type="importmap">{"imports":{"x":"${'../'.repeat(200_000)}a\\</script>`
  expect(pack({ 'index.html': html, 'a.js': '1' })).toMatchObject({ html })
})

test('lets the code of a folder read the location of the page, and changes nothing else', () => {
  const own = (location: string): string =>
    `(globalThis.folderPageLocation?.(${location})??${location})`
  const kept = [
    'location.pathname="/x"',
    ...['+=', '||=', '??=', '**=', '<<=', '>>>='].map((sign) => `x(location.search ${sign} 1)`),
    'this.#location.pathname+é.location.search',
    'élocation.pathname',
    '[...location.pathname]',
    'location.href="/x"',
    'a.mylocation.pathname',
    'const location=useLocation()',
    'if(a==window.location)b()',
    'window.location.reload()',
    'x={pathname:1}',
  ]
  const code = [
    ['x=location.pathname', `x=${own('location')}.pathname`],
    [';e.view.location.search<=1', `;${own('e.view.location')}.search<=1`],
    ['location.pathname==1&&go()', `globalThis.Object${own('location')}.pathname==1&&go()`],
    ['go()/*\n*/ location.search', `go()/*\n*/ globalThis.Object${own('location')}.search`],
    ['let{pathname:a,search:b}=e.location;', `let{pathname:a,search:b}=${own('e.location')};`],
    ['this.l=window.location;', `this.l=${own('window.location')};`],
    ['const{host:a}=window.location;', `const{host:a}=${own('window.location')};`],
    ['const{host:a}=e.location;', 'const{host:a}=e.location;'],
    [
      'const{history:a,location:b}=window,c',
      `const{history:a,location:b}={history:window.history,location:${own('window.location')}},c`,
    ],
    ...kept.map((text) => [text, text]),
  ] as const
  const [before, after] = [0, 1].map((at) => code.map((pair) => pair[at]).join('\n'))
  const data = '<script type="application/json">{"a":"location.pathname"}</script>'
  const page = (script = ''): string => `${data}<script>${script}</script>`
  const files = { 'a.mjs': before ?? '', 'b.txt': before ?? '', 'c.html': page(before) }
  expect(pack({ 'index.html': page(before), ...files })).toEqual({
    page: 'index.html',
    html: page(after),
    files: { 'a.mjs': after, 'b.txt': before, 'c.html': page(after) },
    rooted: [],
    located: ['a.mjs', 'c.html', 'index.html'],
    outside: [],
  })
  // The second time nothing changes: a browser packs what the server reads again.
  expect(pack({ 'index.html': page(after), 'a.mjs': after ?? '' })).toMatchObject({ located: [] })
  const long = 'x=location.pathname;'.padEnd(locatedScriptMax + 1)
  expect(pack({ 'index.html': page(long), 'a.js': long })).toMatchObject({ located: [] })
  const hashed = `<meta content="script-src 'sha256-x'"><script>location.pathname</script>`
  expect(pack({ 'index.html': hashed })).toMatchObject({ html: hashed, located: [] })
})

test('keeps the bytes of the files that hashes pin', () => {
  const [before, after] = [
    'x=location.pathname',
    'x=(globalThis.folderPageLocation?.(location)??location).pathname',
  ]
  const pinned =
    '<script src="a.mjs" integrity="sha384-x"></script><script>location.pathname</script>'
  expect(pack({ 'index.html': pinned, 'a.mjs': before })).toMatchObject({
    located: ['index.html'],
  })
  const others = { 'index.html': '<h1>A', 'sub/b.html': pinned, 'sub/a.mjs': before }
  expect(pack({ ...others, 'a.mjs': before, 'b.mjs': before })).toMatchObject({
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
    expect(pack(all)).toMatchObject({ files: { 'b.mjs': before } })
  }
})

test('takes time in proportion to a page that is broken on purpose', () => {
  const parts = ['<link ', '<style>', '<script>', '<!--', '<a b="', '<a b= ', '<head', 'url( ']
  for (const part of parts) expect(pack({ 'a.html': part.repeat(100_000) })).toHaveProperty('html')
  const page = '<script src=a.js></script>'
  for (const part of ['\n', 'url(/', '@import "', '<!--']) {
    expect(pack({ 'a.html': page, 'a.css': part.repeat(300_000) })).toHaveProperty('html')
  }
  const reads = [
    'location.',
    'location.pathname ',
    '{pathname}=location,',
    '=location',
    '{history ',
  ]
  for (const part of [...reads, '{pathname ', '{pathname}=', '= ', 'a.', 'a', '\n']) {
    const code = `location{${part.repeat(locatedScriptMax / part.length)}`.slice(
      0,
      locatedScriptMax,
    )
    expect(pack({ 'a.html': page, 'a.js': code })).toHaveProperty('html')
  }
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
